/** Made of the scripts of this folder by `npm run build`. */
export const texts = {
  'exporter.sh': `#!/bin/sh
# Starts the exporter of one member.
set -eu
export DATA_SOURCE_URI="$HOST:$PORT/$DATABASE?sslmode=verify-full&sslrootcert=$CONFIG/ca.crt&connect_timeout=5&statement_timeout=5000&default_transaction_read_only=on&application_name=exporter"
export DATA_SOURCE_PASS_FILE="$CONFIG/password"
exec /usr/bin/prometheus-postgres-exporter --web.listen-address=":$METRICS_PORT" --extend.query-path="$CONFIG/queries.yaml"
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


def call(method, path, body=None):
    """Status and parsed answer of one request."""
    server = http.client.HTTPSConnection(
        os.environ['KUBERNETES_SERVICE_HOST'], int(os.environ['KUBERNETES_SERVICE_PORT']), timeout=CALL,
        context=ssl.create_default_context(cafile=ACCOUNT + 'ca.crt'))
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
} as const;
