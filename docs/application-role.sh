#!/bin/sh
# Run once by the Postgres container, on an empty volume: the application's role, which owns nothing.
set -eu
psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set password="$DATABASE_PASSWORD" <<'SQL'
CREATE ROLE handrail LOGIN PASSWORD :'password';
SQL
