#!/bin/sh
# Writes the secrets of deploy/compose.yaml to deploy/secrets; with --cluster, those of deploy/compose.cluster.yaml to
# deploy/secrets-cluster; or to the folder that is given. What is there is kept.
set -eu

here=$(dirname "$0")
hosts=database
folder=${1:-$here/secrets}
if [ "${1:-}" = --cluster ]; then
  hosts=db1,db2
  folder=${2:-$here/secrets-cluster}
fi
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
printf %s "postgres://florin_owner:$owner@$hosts/florin" >"$folder/migrate_database_url"
printf %s "postgres://florin_app:$service@$hosts/florin" >"$folder/database_url"
if [ "$hosts" = db1,db2 ]; then
  cache=$(random)
  random >"$folder/database_replication"
  printf %s "postgres://florin_app:$service@db2/florin" >"$folder/read_database_url"
  printf %s "$cache" >"$folder/redis_password"
  printf %s "redis://:$cache@cache" >"$folder/redis_url"
fi
random >"$folder/master_key"
echo "Wrote $folder. Keep a copy of $folder/master_key where this machine cannot lose it."
