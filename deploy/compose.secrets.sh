#!/bin/sh
# Writes the secrets of deploy/compose.yaml to deploy/secrets, or to the folder that is given. What is there is kept.
set -eu

folder=${1:-$(dirname "$0")/secrets}
if [ -e "$folder/master_key" ]; then
  echo "$folder has a master key already. Nothing was changed." >&2
  exit 1
fi
# Only who may enter the folder can read the files. In it they are readable for everybody, because the user in a container
# is another one than here.
mkdir -p "$folder"
chmod 700 "$folder"
umask 022
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
owner=$(random)
service=$(random)
random >"$folder/database_superuser"
printf %s "$owner" >"$folder/database_owner"
printf %s "$service" >"$folder/database_service"
printf %s "postgres://florin_owner:$owner@database/florin" >"$folder/migrate_database_url"
printf %s "postgres://florin_app:$service@database/florin" >"$folder/database_url"
random >"$folder/master_key"
echo "Wrote $folder. Keep a copy of $folder/master_key where this machine cannot lose it."
