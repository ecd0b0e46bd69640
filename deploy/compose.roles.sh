#!/bin/sh
# Run once by the image of PostgreSQL, before it serves: the owner of the schema, and the service, which cannot change it.
set -eu

psql --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
  --set owner_password="$(cat /run/secrets/database_owner)" \
  --set service_password="$(cat /run/secrets/database_service)" <<'SQL'
create role florin_owner login password :'owner_password';
create role florin_app login password :'service_password';
create database florin owner florin_owner;
revoke all on database florin from public;
grant connect on database florin to florin_app;
SQL
