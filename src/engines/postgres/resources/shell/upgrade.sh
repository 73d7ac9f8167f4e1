#!/bin/sh
# Another major version of PostgreSQL on one volume: upgrade.sh MODE, run by a Job while no member runs on the volume.
#   checkpoint  prints what pg_controldata says of the old data
#   rehearse    copies the data of a running member to an empty volume, and upgrades the copy
#   upgrade     upgrades the data of the volume
#   undo        puts the old data back, where the new version has never run on it
#   after       statistics, and SQL of the user, while the new version serves
# OLD and NEW are major versions. WAL_DIRECTORY: where pg_wal leads to, if the log has a volume of its own; the new log is
# beside it, as WAL_DIRECTORY.NEW. PARAMETERS: names of settings that the new version has to have if the old one does. The result is the termination message: lines KEY=VALUE, or the words of what failed.
# Safe to kill at any point and to run again. Exit code 3: it would fail again, and the old data is as it was.
set -eu
: "${OLD:?}" "${NEW:?}" "${MESSAGE:=/dev/termination-log}" "${VOLUME:=/var/lib/postgresql}"
: "${PARAMETERS:=}" "${PROGRAMS:=/usr/lib/postgresql}" "${SOCKET:=/var/run/postgresql}" "${SUPERUSER:=postgres}" "${OPERATOR_ROLE:=clusterwright}"
export LC_ALL=C.UTF-8
data=$VOLUME/data new=$VOLUME/data.new-$NEW kept=$VOLUME/data.old-$OLD linked=$VOLUME/linked-$OLD-$NEW
newwal=${WAL_DIRECTORY:+$WAL_DIRECTORY.$NEW}
# What is said of the result. It stays on the volume: the Job may run again after everything is done.
warnings=$VOLUME/warnings-$OLD-$NEW
log=/tmp/upgrade.log

say() { head -c 3000 > "$MESSAGE"; cat "$MESSAGE"; }
refuse() { say; exit 3; }
major() { cat "$1/PG_VERSION" 2>/dev/null || echo none; }
control() { "$PROGRAMS/$1/bin/pg_controldata" -D "$2" | sed -n "s/^$3: *//p"; }
# Options of a server that nobody but this script may reach, and that takes little memory.
private="-c listen_addresses='' -c unix_socket_directories=$SOCKET -c ssl=off -c synchronous_standby_names=''"
private="$private -c archive_mode=off -c jit=off -c huge_pages=off -c shared_buffers=64MB"
# A copy of a subscriber would take changes from the publisher that the subscriber then never gets.
private="$private -c max_logical_replication_workers=0"
# What the owner of a database has set for its sessions would decide what a statement means, and end it: on a volume that has no way back.
own='-c role=none -c search_path=pg_catalog -c client_encoding=UTF8 -c default_transaction_read_only=off'
own="$own -c maintenance_work_mem=64MB -c vacuum_cost_delay=0 -c max_parallel_maintenance_workers=0"
endless='-c statement_timeout=0 -c lock_timeout=0'
own="$own $endless -c client_min_messages=warning -c lc_messages=C"
if [ "$NEW" -ge 17 ]; then own="$own -c transaction_timeout=0"; fi
# Of a server on this data: what it does must not fill a volume with its log. Least is two files of the log.
bounds() {
  bytes=$(control "$(major "$1")" "$1" 'Bytes per WAL segment')
  echo "-c max_wal_size=$((bytes / 131072))MB -c min_wal_size=$((bytes / 524288))MB"
}
sql() { "$PROGRAMS/$NEW/bin/psql" -X -q -A -t -h "$SOCKET" -U "$SUPERUSER" "$@"; }

for version in "$OLD" "$NEW"; do
  [ -x "$PROGRAMS/$version/bin/postgres" ] || echo "the image has no PostgreSQL $version: pg_upgrade needs both" | refuse
done

checkpoint() {
  [ "$(major "$data")" = "$OLD" ] || echo "the volume holds no data of PostgreSQL $OLD, but: $(major "$data")" | refuse
  say <<EOF
system=$(control "$OLD" "$data" 'Database system identifier')
state=$(control "$OLD" "$data" 'Database cluster state')
checkpoint=$(control "$OLD" "$data" 'Latest checkpoint location')
timeline=$(control "$OLD" "$data" "Latest checkpoint's TimeLineID")
EOF
}

has() { "$PROGRAMS/$1/bin/postgres" -D /tmp/settings -C "$2" > /dev/null 2>&1; }

# The new members would run without what they do not know, and nobody has decided that.
parameters() {
  mkdir -p /tmp/settings
  : > /tmp/settings/postgresql.conf
  unknown=
  for name in $PARAMETERS; do
    if has "$OLD" "$name" && ! has "$NEW" "$name"; then unknown="$unknown${unknown:+, }$name"; fi
  done
  if [ -n "$unknown" ]; then echo "PostgreSQL $NEW does not have these settings of spec.parameters: $unknown. Remove them" | refuse; fi
}

# The copy is recovered by the old server, as after a crash.
copy() {
  [ ! -e "$data" ] || echo "the volume for the copy is not empty" | refuse
  "$PROGRAMS/$OLD/bin/pg_basebackup" -d "$SOURCE" -D "$data" --checkpoint=fast --wal-method=stream ${NO_SLOT:+--no-slot} 2> "$log" || { tail -c 2000 "$log" | say; exit 1; }
  rm -f "$data/standby.signal" "$data/recovery.signal"
  "$PROGRAMS/$OLD/bin/pg_ctl" -D "$data" -w -t 36000 -l "$log" -o "$private $(bounds "$data")" start > /dev/null || { tail -c 2000 "$log" | say; exit 1; }
  "$PROGRAMS/$OLD/bin/pg_ctl" -D "$data" -w -t 3600 -m fast stop > /dev/null
}

# What was begun is undone. The new server has never run on the data, and pg_upgrade has only set its control file aside.
undo() {
  if [ -e "$data/global/pg_control.old" ] && [ ! -e "$data/global/pg_control" ]; then
    mv "$data/global/pg_control.old" "$data/global/pg_control"
  fi
  rm -rf "$new"
  if [ -n "$newwal" ] && [ "$(readlink "$data/pg_wal")" != "$newwal" ]; then rm -rf "$newwal"; fi
  sync
}

make() {
  checksums=--data-checksums
  if [ "$(control "$OLD" "$data" 'Data page checksum version')" = 0 ]; then
    checksums=
    if [ "$NEW" -ge 18 ]; then checksums=--no-data-checksums; fi
  fi
  segment=$(($(control "$OLD" "$data" 'Bytes per WAL segment') / 1048576))
  # shellcheck disable=SC2086
  "$PROGRAMS/$NEW/bin/initdb" -D "$new" -U "$SUPERUSER" -E UTF8 --locale=C.UTF-8 --auth-local=peer --auth-host=reject \
    --wal-segsize="$segment" --no-sync $checksums ${newwal:+--waldir=$newwal} > "$log" 2>&1 || { tail -c 2000 "$log" | say; exit 1; }
}

# pg_upgrade's own words: what it printed, and the reports that it points to.
words() {
  grep -v '  ok *$' "$log" | grep -v '^ *$' | tail -c 1200
  find "$new/pg_upgrade_output.d" -name '*.txt' -size +0c 2>/dev/null | sort | head -n 5 | while read -r report; do
    echo "${report##*/}:"
    head -c 400 "$report"
  done
}

link() {
  undo
  make
  libraries=$("$PROGRAMS/$OLD/bin/postgres" -D "$data" -C shared_preload_libraries)
  # pg_upgrade gives it to a shell.
  case $libraries in
    *[!A-Za-z0-9_,\ ./-]*) echo "shared_preload_libraries has characters that pg_upgrade cannot be given: $libraries" | refuse ;;
  esac
  cd /tmp
  export PGOPTIONS="$endless"
  options="$private $(bounds "$data")"
  set -- --old-bindir="$PROGRAMS/$OLD/bin" --new-bindir="$PROGRAMS/$NEW/bin" --old-datadir="$data" --new-datadir="$new" \
    --username="$SUPERUSER" --socketdir="$SOCKET" --link --jobs="${JOBS:-2}" --old-options="$options" \
    --new-options="$options -c shared_preload_libraries='$libraries'"
  for check in --check --verbose; do
    if [ "$check" = --check ]; then "$PROGRAMS/$NEW/bin/pg_upgrade" "$@" --check > "$log" 2>&1; else "$PROGRAMS/$NEW/bin/pg_upgrade" "$@" > "$log" 2>&1; fi || {
      words > /tmp/words
      undo
      refuse < /tmp/words
    }
  done
  unset PGOPTIONS
  sync
  touch "$linked"
  sync
}

# The new server may sort texts in another way than the old one: it has another ICU, or the image another libc. An index that was built with the
# other order finds rows no more. pg_upgrade keeps the version of the order where a database or a user chose it; of those that each server
# brings with it, nobody knows.
# An index that cannot be rebuilt ends a rehearsal. An upgrade has no way back here: the index is marked as one that no query may use. What an
# attempt before has marked is tried again. Without room on the disk no index would be left: that ends both, and can be mended.
rebuild() {
  PGDATABASE=$1 PGOPTIONS="$own -c clusterwright.mode=$mode" sql -v ON_ERROR_STOP=1 > "$log" 2>&1 <<'SQL' || { tail -c 2000 "$log" | say; exit 1; }
create temporary view changed as
select c.oid, c.collnamespace::regnamespace as namespace, c.collname as name from pg_collation c
where c.oid >= 16384 and c.collversion <> pg_collation_actual_version(c.oid);
create temporary view stale as
select oid from changed
union all select oid from pg_collation where oid < 16384 and pg_collation_actual_version(oid) is not null
union all select 'pg_catalog."default"'::regcollation::oid from pg_database
where datname = current_database() and datcollversion <> pg_database_collation_actual_version(oid);
do $$
declare one regclass;
begin
  for one in select i.indexrelid::regclass from pg_index i join pg_class r on r.oid = i.indexrelid
    where r.relkind = 'i' and r.relpersistence <> 't' and (not i.indisvalid or exists (select from stale where oid = any (i.indcollation)))
  loop
    begin
      execute format('reindex index %s', one);
    exception when others then
      if sqlstate = '53100' or current_setting('clusterwright.mode') <> 'upgrade' then raise; end if;
      update pg_index set indisvalid = false where indexrelid = one;
      raise warning 'index % of database %: %', one, current_database(), sqlerrm;
    end;
    commit;
  end loop;
end $$;
select format('alter collation %s.%I refresh version', namespace, name) from changed \gexec
select format('alter database %I refresh collation version', current_database()) \gexec
SQL
  sed -n 's/^WARNING:  \(index .*\)/\1;/p' "$log" >> /tmp/warnings
}

# Indexes that no query may use, those that enforce something first. The operator is told by a setting of the database where to look for these from
# now on: it sees settings of all databases in each of them, and indexes of one.
invalid() {
  PGDATABASE=$1 PGOPTIONS=$own sql -v ON_ERROR_STOP=1 > "$log" 2>&1 <<'SQL' || { tail -c 2000 "$log" | say; exit 1; }
create temporary view invalid as
select i.indexrelid::regclass as one, i.indisprimary or i.indisunique or i.indisexclusion or i.indisreplident as enforces
from pg_index i join pg_class r on r.oid = i.indexrelid where r.relkind = 'i' and not i.indisvalid;
select format('alter database %I set clusterwright.invalid_indexes = on', current_database()) where exists (select from invalid where enforces) \gexec
select format('alter database %I reset clusterwright.invalid_indexes', current_database()) where not exists (select from invalid where enforces)
and exists (select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) one
  where d.datname = current_database() and s.setrole = 0 and starts_with(one, 'clusterwright.invalid_indexes=')) \gexec
select format('index %s of database %s is invalid and is not used;', one, current_database()) from invalid order by not enforces, one::text;
SQL
  cat "$log" >> /tmp/invalid
}

# The new server runs for the first time, and nobody can reach it. From here on there is no way back on this volume.
finish() {
  "$PROGRAMS/$NEW/bin/pg_ctl" -D "$new" -w -t 3600 -l "$log" -o "$private $(bounds "$new")" start > /dev/null || { tail -c 2000 "$log" | say; exit 1; }
  : > /tmp/warnings
  : > /tmp/invalid
  sql -d postgres -c "select datname from pg_database where datallowconn and datname <> 'template0'" > /tmp/databases
  while IFS= read -r database; do
    rebuild "$database"
    PGDATABASE=$database PGOPTIONS=$own sql 2>> /tmp/warnings <<'SQL' || true
select format('alter extension %I update', name) from pg_available_extensions where installed_version <> default_version \gexec
SQL
    # Only a superuser may collect all statistics before 17. From then on the rest is collected while the database serves.
    target=''
    if [ "$NEW" -ge 17 ]; then target='-c default_statistics_target=1'; fi
    PGDATABASE=$database PGOPTIONS="$own $target" sql -c analyze 2>> /tmp/warnings || true
    invalid "$database"
  done < /tmp/databases
  # Since 16, a role with CREATEROLE may change only the roles that it has been given with ADMIN OPTION. Roles with more rights stay a person's.
  if [ "$OLD" -lt 16 ] && [ "$NEW" -ge 16 ]; then
    sql -d postgres -v operator="$OPERATOR_ROLE" 2>> /tmp/warnings <<'SQL' || true
set role none;
set search_path = pg_catalog;
select format('grant %I to %I with admin true%s', r.rolname, :'operator', case when exists (
    select from pg_auth_members m join pg_roles o on o.oid = m.member where m.roleid = r.oid and o.rolname = :'operator'
  ) then '' else ', inherit false, set false' end)
from pg_roles r
where r.rolname <> :'operator' and r.rolname !~ '^(pg_|rewinder$)'
  and not exists (select from pg_roles p where (p.rolsuper or p.rolreplication or p.rolcreaterole or p.rolbypassrls or p.rolname in (
    'rewinder', 'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files', 'pg_read_all_data', 'pg_write_all_data'))
    and pg_has_role(r.oid, p.oid, 'member'))
\gexec
SQL
  fi
  # So that the operator's Job may collect the rest of the statistics while the database serves.
  if [ "$NEW" -ge 17 ]; then sql -d postgres -c "grant pg_maintain to \"$OPERATOR_ROLE\"" 2>> /tmp/warnings || true; fi
  cat /tmp/invalid /tmp/warnings > "$warnings"
  "$PROGRAMS/$NEW/bin/pg_ctl" -D "$new" -w -t 3600 -m fast stop > /dev/null
  sync
}

upgrade() {
  if [ "$(major "$data")" = "$OLD" ]; then
    [ -e "$linked" ] || link
    finish
    mv "$data" "$kept"
  fi
  if [ ! -e "$data" ] && [ -e "$linked" ]; then mv "$new" "$data"; fi
  [ "$(major "$data")" = "$NEW" ] || echo "the volume holds no data of PostgreSQL $OLD, but: $(major "$data")" | refuse
  sync
  # Its files are those of the new data: once that has run, it is of no use. Its log is where it leads to.
  if [ -L "$kept/pg_wal" ] && [ "$(readlink "$kept/pg_wal")" != "$(readlink "$data/pg_wal")" ]; then
    rm -rf "$(readlink "$kept/pg_wal")"
  fi
  rm -rf "$kept"
  rm -f "$linked"
  say <<EOF
system=$(control "$NEW" "$data" 'Database system identifier')
state=$(control "$NEW" "$data" 'Database cluster state')
checkpoint=$(control "$NEW" "$data" 'Latest checkpoint location')
warnings=$(tr -c ' -~' ' ' < "$warnings" 2>/dev/null | head -c 600)
EOF
}

back() {
  if [ "$(major "$data")" != "$OLD" ] || [ -e "$linked" ]; then
    echo "PostgreSQL $NEW has run on this volume: its data is of version $(major "$data")" | refuse
  fi
  undo
  checkpoint
}

after() {
  tls="sslmode=${SSL_MODE:-verify-full} sslrootcert=$TLS/ca.crt connect_timeout=10"
  if [ "$NEW" -ge 17 ]; then
    "$PROGRAMS/$NEW/bin/vacuumdb" --all --analyze-only \
      --maintenance-db="host=$PRIMARY user=$OPERATOR_ROLE dbname=postgres sslcert=$TLS/tls.crt sslkey=$TLS/tls.key $tls" \
      > "$log" 2>&1 || { tail -c 2000 "$log" | say; exit 1; }
  fi
  if [ -n "${AFTER_SQL:-}" ]; then
    "$PROGRAMS/$NEW/bin/psql" -X -q -v ON_ERROR_STOP=1 -c "$AFTER_SQL" \
      "host=$PRIMARY user=$OWNER dbname=$FIRST_DATABASE channel_binding=${CHANNEL_BINDING:-prefer} $tls" > "$log" 2>&1 || {
      { echo 'afterSql:' && tail -c 2000 "$log"; } > /tmp/words
      refuse < /tmp/words
    }
  fi
  echo 'state=done' | say
}

mode=${1:-}
case $mode in
  checkpoint) checkpoint ;;
  rehearse)
    parameters
    copy
    upgrade
    ;;
  upgrade) upgrade ;;
  undo) back ;;
  after) after ;;
  *) echo "no such mode: $mode" | refuse ;;
esac
