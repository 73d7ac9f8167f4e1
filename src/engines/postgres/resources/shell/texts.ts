/** Made of the scripts of this folder by `npm run build`. */
export const texts = {
  'post-init.sh': `#!/bin/sh
# Patroni runs this once, on the first member of a new cluster, with the address of the new database as its argument.
# It makes the role of the operator, which is no superuser.
set -eu
psql="\${PGBIN:?}/psql"
exec "$psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=operator="\${OPERATOR_ROLE:?}" "$1" <<'SQL'
create role :"operator" login createrole createdb;
grant pg_monitor, pg_signal_backend, pg_checkpoint to :"operator";
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
} as const;
