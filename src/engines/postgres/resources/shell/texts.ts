/** Made of the scripts of this folder by `npm run build`. */
export const texts = {
  'exporter.sh': `#!/bin/sh
# Starts the exporter of one member. The owner of the database sets its search path: that does not count here.
set -eu
export DATA_SOURCE_URI="$HOST:$PORT/$DATABASE?sslmode=verify-full&sslrootcert=$CONFIG/ca.crt&connect_timeout=5&statement_timeout=5000&default_transaction_read_only=on&application_name=exporter&search_path=pg_catalog&role=none"
export DATA_SOURCE_PASS_FILE="$CONFIG/password"
exec /usr/bin/prometheus-postgres-exporter --web.listen-address=":$METRICS_PORT" --extend.query-path="$CONFIG/queries.yaml"
`,
  'locked.py': `"""Runs a command while it has the lock of a directory: locked.py DIRECTORY COMMAND...

A pod that somebody has deleted by force may still be at work on its volume while the next one starts. The servers that the
command starts inherit the lock, so it is free only when all of them have ended.
"""
import fcntl
import os
import sys

directory, command = sys.argv[1], sys.argv[2:]
lock = os.open(directory, os.O_RDONLY)
os.set_inheritable(lock, True)
fcntl.flock(lock, fcntl.LOCK_EX)
os.execv(command[0], command)
`,
  'pooler-guard.sh': `#!/bin/sh
# Runs beside PgBouncer. It ends a pause that has lasted too long: the operator pauses for a switchover, and may have died
# since. It also has PgBouncer read its files again when they change: settings, and renewed certificates.
# The kernel tells PgBouncer that this process runs as the same user, so no password is needed.
set -u
for psql in /usr/lib/postgresql/*/bin/psql; do :; done

console() {
  timeout 5 "$psql" --no-psqlrc --no-password --tuples-only --no-align --quiet \\
    --host="$SOCKET" --port="$CONSOLE_PORT" --username=pgbouncer --dbname=pgbouncer --command="$1" 2>&1
}

# Times are those of the kernel, which nobody sets.
seconds() { cut -d. -f1 /proc/uptime; }

trap 'exit 0' TERM INT
loaded=
since=
while :; do
  digest=$(cat "$CONFIG"/* | sha256sum)
  if [ "$digest" != "$loaded" ] && console RELOAD >/dev/null; then
    [ -n "$loaded" ] && echo 'guard: the files have changed, and PgBouncer has read them'
    loaded=$digest
  fi
  if console 'SHOW STATE' | grep -q '^paused|yes'; then
    since=\${since:-$(seconds)}
    if [ $(($(seconds) - since)) -ge "$PAUSE_LIMIT" ]; then
      echo "guard: paused for \${PAUSE_LIMIT} s: resume: $(console RESUME)"
      since=
    fi
  else
    since=
  fi
  sleep 2 & wait $!
done
`,
  'post-init.sh': `#!/bin/sh
# Patroni runs this once, on the first member of a new cluster, with the address of the new database as its argument.
# It makes the role of the operator, which is no superuser.
set -eu
psql="\${PGBIN:?}/psql"
exec "$psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=operator="\${OPERATOR_ROLE:?}" "$1" <<'SQL'
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
select :SERVER_VERSION_NUM >= 160000 as grants \\gset
\\if :grants
grant clusterwright_pooler, clusterwright_monitor to :"operator" with admin true, inherit false, set false;
\\endif
SQL
`,
  'pre-stop.py': `"""Stops PostgreSQL in order before its pod ends, where Patroni is paused: then Patroni leaves it running, and the kernel
would kill it. Otherwise Patroni stops it by itself, and hands over first. The kubelet runs this before it stops Patroni.
"""
import json
import os
import ssl
import subprocess
import sys
import urllib.error
import urllib.request


def paused():
    """Patroni of this pod; nobody else can listen here. Who does not answer cannot stop PostgreSQL either."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        answer = opener.open('https://127.0.0.1:%s/patroni' % os.environ['REST_PORT'], timeout=3)
    except urllib.error.HTTPError as error:
        answer = error
    except OSError:
        return True
    return json.load(answer).get('pause') is True


if paused():
    stop = [os.environ['PGBIN'] + '/pg_ctl', 'stop', '-D', os.environ['DATA_DIRECTORY'], '-m', 'fast', '-w', '-t', '100']
    sys.exit(subprocess.call(stop))
`,
  'relabel.py': `"""Takes the leader's label from every pod of the cluster but the leader's: a callback of Patroni (ACTION ROLE SCOPE).

A pod that is dead keeps its label, and the Service keeps sending clients to it until the pod is NotReady. Here the new
leader removes it. The lock in the store decides, never the role that Patroni passes: who does not hold the lock does
nothing. Pods are listed before the lock is read, and a pod is changed only while it is as it was listed. So a pod that
has become the leader since is left alone. Safe to repeat, and to kill at any point.
"""
import http.client
import json
import os
import ssl
import sys
import time
from urllib.parse import quote

ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount/'
LABEL, VALUE = os.environ['ROLE_LABEL'], 'primary'
CALL, ALL = 3.0, 60.0  # seconds


def read(name):
    with open(ACCOUNT + name) as file:
        return file.read().strip()


def trust():
    """The chain and the name are checked. Authorities of clusters need not have every extension that Python 3.13 asks for."""
    context = ssl.create_default_context(cafile=ACCOUNT + 'ca.crt')
    context.verify_flags &= ~getattr(ssl, 'VERIFY_X509_STRICT', 0)
    return context


def call(method, path, body=None):
    """Status and parsed answer of one request."""
    server = http.client.HTTPSConnection(
        os.environ['KUBERNETES_SERVICE_HOST'], int(os.environ['KUBERNETES_SERVICE_PORT']), timeout=CALL,
        context=trust())
    try:
        headers = {'Authorization': 'Bearer ' + read('token'), 'Accept': 'application/json'}
        if body is not None:
            headers['Content-Type'] = 'application/merge-patch+json'
        server.request(method, path, None if body is None else json.dumps(body), headers)
        answer = server.getresponse()
        return answer.status, json.loads(answer.read() or b'{}')
    finally:
        server.close()


def others(space, scope, me):
    """The pods with the label that are not the leader's; none when the lock is not ours."""
    selector = quote('%s,%s=%s' % (os.environ['MEMBER_SELECTOR'], LABEL, VALUE))
    status, pods = call('GET', '/api/v1/namespaces/%s/pods?labelSelector=%s' % (space, selector))
    if status != 200:
        raise OSError('list pods: %d' % status)
    status, lock = call('GET', '/api/v1/namespaces/%s/configmaps/%s-leader' % (space, scope))
    if status != 200:
        raise OSError('get lock: %d' % status)
    if (lock['metadata'].get('annotations') or {}).get('leader') != me:
        return None
    return [pod['metadata'] for pod in pods['items'] if pod['metadata']['name'] != me]


def main():
    role, scope = sys.argv[-2:]
    me, space = os.environ['POD_NAME'], read('namespace')
    if role not in ('primary', 'promoted', 'master', 'standby_leader'):
        return 0
    until = time.monotonic() + ALL
    while time.monotonic() < until:
        try:
            found = others(space, scope, me)
            if not found:
                print('relabel: %s' % ('the lock is not ours' if found is None else 'done'), flush=True)
                return 0
            for pod in found:
                change = {'metadata': {'resourceVersion': pod['resourceVersion'], 'labels': {LABEL: None}}}
                status, _ = call('PATCH', '/api/v1/namespaces/%s/pods/%s' % (space, pod['name']), change)
                print('relabel: %s: %d' % (pod['name'], status), flush=True)
        except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
            print('relabel: %r' % error, flush=True)
            time.sleep(0.5)
    return 1


sys.exit(main())
`,
  'start.sh': `#!/bin/sh
# Starts Patroni, but for a member that has had data and whose volume is blank. Commits may have been acknowledged because
# this member had them, and under its name nobody may come who does not. The operator replaces it by another one.
set -eu
start=$(cat "\${CONFIG_DIRECTORY:?}/start" 2>/dev/null || echo join)
if [ "$start" = resume ] && [ ! -s "\${DATA_DIRECTORY:?}/global/pg_control" ]; then
  echo "the volume is blank, and this member has had data" >&2
  exit 78
fi
exec patroni "$CONFIG_DIRECTORY"
`,
  'upgrade.sh': `#!/bin/sh
# Another major version of PostgreSQL on one volume: upgrade.sh MODE, run by a Job while no member runs on the volume.
#   checkpoint  prints what pg_controldata says of the old data
#   rehearse    copies the data of a running member to an empty volume, and upgrades the copy
#   upgrade     upgrades the data of the volume
#   undo        puts the old data back, where the new version has never run on it
#   after       statistics, and SQL of the user, while the new version serves
# OLD and NEW are major versions. The result is the termination message: lines KEY=VALUE, or the words of what failed.
# Safe to kill at any point and to run again. Exit code 3: it would fail again, and the old data is as it was.
set -eu
: "\${OLD:?}" "\${NEW:?}" "\${MESSAGE:=/dev/termination-log}" "\${VOLUME:=/var/lib/postgresql}"
: "\${PROGRAMS:=/usr/lib/postgresql}" "\${SOCKET:=/var/run/postgresql}" "\${SUPERUSER:=postgres}" "\${OPERATOR_ROLE:=clusterwright}"
export LC_ALL=C.UTF-8
data=$VOLUME/data new=$VOLUME/data.new-$NEW kept=$VOLUME/data.old-$OLD linked=$VOLUME/linked-$OLD-$NEW
log=/tmp/upgrade.log

say() { head -c 3000 > "$MESSAGE"; cat "$MESSAGE"; }
refuse() { say; exit 3; }
major() { cat "$1/PG_VERSION" 2>/dev/null || echo none; }
control() { "$PROGRAMS/$1/bin/pg_controldata" -D "$2" | sed -n "s/^$3: *//p"; }
# Options of a server that nobody but this script may reach, and that takes little memory.
private="-c listen_addresses='' -c unix_socket_directories=$SOCKET -c ssl=off -c synchronous_standby_names=''"
private="$private -c archive_mode=off -c jit=off -c huge_pages=off -c shared_buffers=64MB"
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

# The copy is recovered by the old server, as after a crash.
copy() {
  [ ! -e "$data" ] || echo "the volume for the copy is not empty" | refuse
  "$PROGRAMS/$OLD/bin/pg_basebackup" -d "$SOURCE" -D "$data" --checkpoint=fast --wal-method=stream 2> "$log" || { tail -c 2000 "$log" | say; exit 1; }
  rm -f "$data/standby.signal" "$data/recovery.signal"
  "$PROGRAMS/$OLD/bin/pg_ctl" -D "$data" -w -t 36000 -l "$log" -o "$private" start > /dev/null || { tail -c 2000 "$log" | say; exit 1; }
  "$PROGRAMS/$OLD/bin/pg_ctl" -D "$data" -w -t 3600 -m fast stop > /dev/null
}

# What was begun is undone. The new server has never run on the data, and pg_upgrade has only set its control file aside.
undo() {
  if [ -e "$data/global/pg_control.old" ] && [ ! -e "$data/global/pg_control" ]; then
    mv "$data/global/pg_control.old" "$data/global/pg_control"
  fi
  rm -rf "$new"
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
  "$PROGRAMS/$NEW/bin/initdb" -D "$new" -U "$SUPERUSER" -E UTF8 --locale=C.UTF-8 --auth-local=peer --auth-host=reject \\
    --wal-segsize="$segment" --no-sync $checksums > "$log" 2>&1 || { tail -c 2000 "$log" | say; exit 1; }
}

# pg_upgrade's own words: what it printed, and the reports that it points to.
words() {
  grep -v '  ok *$' "$log" | grep -v '^ *$' | tail -c 1200
  find "$new/pg_upgrade_output.d" -name '*.txt' -size +0c 2>/dev/null | sort | head -n 5 | while read -r report; do
    echo "\${report##*/}:"
    head -c 400 "$report"
  done
}

link() {
  undo
  make
  libraries=$("$PROGRAMS/$OLD/bin/postgres" -D "$data" -C shared_preload_libraries)
  # pg_upgrade gives it to a shell.
  case $libraries in
    *[!A-Za-z0-9_,\\ ./-]*) echo "shared_preload_libraries has characters that pg_upgrade cannot be given: $libraries" | refuse ;;
  esac
  cd /tmp
  set -- --old-bindir="$PROGRAMS/$OLD/bin" --new-bindir="$PROGRAMS/$NEW/bin" --old-datadir="$data" --new-datadir="$new" \\
    --username="$SUPERUSER" --socketdir="$SOCKET" --link --jobs="\${JOBS:-2}" --old-options="$private" \\
    --new-options="$private -c shared_preload_libraries='$libraries'"
  for check in --check --verbose; do
    if [ "$check" = --check ]; then "$PROGRAMS/$NEW/bin/pg_upgrade" "$@" --check > "$log" 2>&1; else "$PROGRAMS/$NEW/bin/pg_upgrade" "$@" > "$log" 2>&1; fi || {
      words > /tmp/words
      undo
      refuse < /tmp/words
    }
  done
  sync
  touch "$linked"
  sync
}

# The new server runs for the first time, and nobody can reach it. From here on there is no way back on this volume.
finish() {
  "$PROGRAMS/$NEW/bin/pg_ctl" -D "$new" -w -t 3600 -l "$log" -o "$private" start > /dev/null || { tail -c 2000 "$log" | say; exit 1; }
  : > /tmp/warnings
  sql -d postgres -c "select datname from pg_database where datallowconn and datname <> 'template0'" > /tmp/databases
  # The owner of a database sets its search path and its role: nothing of that counts for a superuser.
  while IFS= read -r database; do
    PGDATABASE=$database sql 2>> /tmp/warnings <<'SQL' || true
set role none;
set search_path = pg_catalog;
select format('alter extension %I update', name) from pg_available_extensions where installed_version <> default_version \\gexec
SQL
    # Only a superuser may collect all statistics before 17. From then on the rest is collected while the database serves.
    target=''
    if [ "$NEW" -ge 17 ]; then target='-c default_statistics_target=1'; fi
    PGDATABASE=$database PGOPTIONS="$target -c role=none -c search_path=pg_catalog -c vacuum_cost_delay=0" sql -c analyze 2>> /tmp/warnings || true
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
where r.rolname <> :'operator' and r.rolname !~ '^pg_' and not (r.rolsuper or r.rolreplication or r.rolcreaterole or r.rolbypassrls)
  and not exists (select from pg_roles p
    where p.rolname in ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files') and pg_has_role(r.oid, p.oid, 'member'))
\\gexec
SQL
  fi
  # So that the operator's Job may collect the rest of the statistics while the database serves.
  if [ "$NEW" -ge 17 ]; then sql -d postgres -c "grant pg_maintain to \\"$OPERATOR_ROLE\\"" 2>> /tmp/warnings || true; fi
  "$PROGRAMS/$NEW/bin/pg_ctl" -D "$new" -w -t 3600 -m fast stop > /dev/null
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
  # Its files are those of the new data: once that has run, it is of no use.
  rm -rf "$kept"
  rm -f "$linked"
  say <<EOF
system=$(control "$NEW" "$data" 'Database system identifier')
state=$(control "$NEW" "$data" 'Database cluster state')
checkpoint=$(control "$NEW" "$data" 'Latest checkpoint location')
warnings=$(tr '\\n' ' ' < /tmp/warnings 2>/dev/null | head -c 600)
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
  tls="sslmode=verify-full sslrootcert=$TLS/ca.crt connect_timeout=10"
  if [ "$NEW" -ge 17 ]; then
    "$PROGRAMS/$NEW/bin/vacuumdb" --all --analyze-only \\
      --maintenance-db="host=$PRIMARY user=$OPERATOR_ROLE dbname=postgres sslcert=$TLS/tls.crt sslkey=$TLS/tls.key $tls" \\
      > "$log" 2>&1 || { tail -c 2000 "$log" | say; exit 1; }
  fi
  if [ -n "\${AFTER_SQL:-}" ]; then
    "$PROGRAMS/$NEW/bin/psql" -X -q -v ON_ERROR_STOP=1 -c "$AFTER_SQL" \\
      "host=$PRIMARY user=$OWNER dbname=$FIRST_DATABASE $tls" > "$log" 2>&1 || {
      { echo 'afterSql:' && tail -c 2000 "$log"; } > /tmp/words
      refuse < /tmp/words
    }
  fi
  echo 'state=done' | say
}

case \${1:-} in
  checkpoint) checkpoint ;;
  rehearse) copy && upgrade ;;
  upgrade) upgrade ;;
  undo) back ;;
  after) after ;;
  *) echo "no such mode: \${1:-}" | refuse ;;
esac
`,
} as const;
