#!/usr/bin/env bash
# Runs once in a new database: the account of pikerag, the account of the standby, the extension.
set -euo pipefail

psql --set ON_ERROR_STOP=1 --username postgres --set password="$PASSWORD" <<'SQL'
CREATE ROLE pikerag LOGIN PASSWORD :'password';
CREATE ROLE copier LOGIN REPLICATION PASSWORD :'password';
CREATE DATABASE pikerag OWNER pikerag ENCODING 'UTF8' TEMPLATE template0;
\connect pikerag
CREATE EXTENSION vector;
SQL
echo "host replication copier all scram-sha-256" >>"$PGDATA/pg_hba.conf"
