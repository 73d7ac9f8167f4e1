#!/bin/sh
# Patroni runs this once, on the first member of a new cluster, with the address of the new database as its argument.
# It makes the role of the operator, which is no superuser.
set -eu
psql="${PGBIN:?}/psql"
exec "$psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=operator="${OPERATOR_ROLE:?}" "$1" <<'SQL'
create role :"operator" login createrole createdb;
grant pg_monitor, pg_signal_backend, pg_checkpoint to :"operator";
SQL
