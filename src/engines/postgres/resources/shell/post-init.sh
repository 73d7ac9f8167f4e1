#!/bin/sh
# Patroni runs this once, on the first member of a new cluster, with the address of the new database as its argument.
# It makes the role of the operator, which is no superuser: all in one transaction, since that role says that the rest is there.
set -eu
psql="${PGBIN:?}/psql"
exec "$psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=operator="${OPERATOR_ROLE:?}" "$1" <<'SQL'
begin;
create role :"operator" login createrole createdb;
grant pg_monitor, pg_signal_backend, pg_checkpoint to :"operator";

-- Of the pooler: it may call one function, which tells the SCRAM verifier of a role that may log in and is nobody's but a user's.
create role clusterwright_pooler login;
create schema clusterwright;
revoke all on schema clusterwright from public;
grant usage on schema clusterwright to clusterwright_pooler;
create function clusterwright.login_verifier(text) returns table (name text, verifier text)
  language sql stable strict security definer set search_path = pg_catalog, pg_temp
  as $$
    select rolname::text, case when rolvaliduntil < now() then null else rolpassword end
    from pg_authid
    where rolname = $1 and rolcanlogin and not rolsuper and not rolreplication
      and rolname not like 'clusterwright%' and rolpassword like 'SCRAM-SHA-256$%'
  $$;
revoke all on function clusterwright.login_verifier(text) from public;
grant execute on function clusterwright.login_verifier(text) to clusterwright_pooler;

-- Of the exporters: it reads statistics.
create role clusterwright_monitor login;
grant pg_monitor to clusterwright_monitor;

-- It sets their passwords. Before PostgreSQL 16 it needs no grant for that.
select :SERVER_VERSION_NUM >= 160000 as grants \gset
\if :grants
grant clusterwright_pooler, clusterwright_monitor to :"operator" with admin true, inherit false, set false;
\endif
commit;
SQL
