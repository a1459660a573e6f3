#!/usr/bin/env bash
# Copies the database into an empty folder, then starts it as a standby, which follows the database.
set -euo pipefail

if [ ! -s "$PGDATA/PG_VERSION" ]; then
    mkdir -p "$PGDATA"
    chmod 700 "$PGDATA"
    until pg_basebackup --pgdata="$PGDATA" --wal-method=stream --checkpoint=fast --write-recovery-conf \
        --dbname="host=database user=copier password=$PASSWORD application_name=standby"; do
        find "$PGDATA" -mindepth 1 -delete
        sleep 2
    done
    echo "restore_command = 'cp /archive/%f %p'" >>"$PGDATA/postgresql.auto.conf"
fi
exec "$@"
