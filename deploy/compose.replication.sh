#!/bin/sh
# Run once by the image of PostgreSQL, on the first primary of compose.cluster.yaml and after compose.roles.sh: the role of
# the standby, and commits that wait for it.
set -eu

# "all" in the image's own line does not cover replication.
echo 'host replication florin_replication all scram-sha-256' >>"$PGDATA/pg_hba.conf"

# The last setting takes effect when the server starts that clients can reach. In this one, which makes the roles, every
# commit would wait for a standby that cannot be there yet.
psql --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
  --set replication_password="$(cat /run/secrets/database_replication)" <<'SQL'
create role florin_replication login replication password :'replication_password';
grant pg_read_all_stats to florin_app;
alter system set synchronous_standby_names = 'db1, db2';
SQL
