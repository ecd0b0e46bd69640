#!/bin/sh
# The entry of both servers of compose.cluster.yaml, as the user postgres; the arguments are the command of the server. The one
# that PRIMARY names starts as its image does. The other one follows it, from a base backup that it takes when it has no data.
set -eu

# The name by which the primary knows its standby. What pg_basebackup receives has another one, and no commit waits for that.
set -- "$@" -c "cluster_name=$SERVER"

if [ "$SERVER" = "$PRIMARY" ]; then
  if [ ! -s "$PGDATA/PG_VERSION" ]; then
    # An empty server must not take the place of one that has everything.
    answer=0
    pg_isready --quiet --host="$OTHER" || answer=$?
    if [ "$answer" -lt 2 ]; then
      echo "$SERVER has no data, and $OTHER is running. Promote $OTHER, and set PRIMARY=$OTHER." >&2
      exit 1
    fi
  fi
  exec docker-entrypoint.sh "$@"
fi

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  until pg_isready --quiet --host="$OTHER"; do sleep 1; done
  # In a folder of its own until it is complete: one that was interrupted is taken again.
  rm -rf "$PGDATA.incomplete"
  mkdir -p "$(dirname "$PGDATA")"
  PGPASSWORD=$(cat "$REPLICATION_PASSWORD_FILE") pg_basebackup --host="$OTHER" --username=florin_replication \
    --pgdata="$PGDATA.incomplete" --write-recovery-conf --checkpoint=fast
  mv -T "$PGDATA.incomplete" "$PGDATA"
elif [ ! -e "$PGDATA/standby.signal" ]; then
  echo "$SERVER is no standby, and PRIMARY is $PRIMARY. To make it one, remove its volume." >&2
  exit 1
fi
exec "$@"
