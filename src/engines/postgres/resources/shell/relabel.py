"""Takes the leader's label from every pod of the cluster but the leader's: a callback of Patroni (ACTION ROLE SCOPE).

A pod that is dead keeps its label, and the Service keeps sending clients to it until the pod is NotReady. Here the new
leader removes it. The lock in the store decides, never the role that Patroni passes: who does not hold the lock does
nothing. Pods are listed before the lock is read, and a pod is changed only while it is as it was listed. So a pod that
has become the leader since is left alone. Safe to repeat, and to kill at any point.

Where the certificates of servers come from elsewhere, it also writes on its own pod which CAs it knows servers by: a digest of the file that
libpq reads for each connection. The operator lets nobody show a certificate of the next CA before each pod says that it has it.
"""
import hashlib
import http.client
import json
import os
import ssl
import sys
import time
from urllib.parse import quote

ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount/'
LABEL, VALUE = os.environ['ROLE_LABEL'], 'primary'
CA_FILE, CAS = os.environ.get('SERVER_CA_FILE'), os.environ.get('SERVER_CAS_ANNOTATION')
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


def relabel(space, scope, me):
    found = others(space, scope, me)
    for pod in found or []:
        change = {'metadata': {'resourceVersion': pod['resourceVersion'], 'labels': {LABEL: None}}}
        status, _ = call('PATCH', '/api/v1/namespaces/%s/pods/%s' % (space, pod['name']), change)
        print('relabel: %s: %d' % (pod['name'], status), flush=True)
    if not found:
        print('relabel: %s' % ('the lock is not ours' if found is None else 'done'), flush=True)
    return not found


def tell(space, me):
    with open(CA_FILE, 'rb') as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:16]
    change = {'metadata': {'annotations': {CAS: digest}}}
    status, _ = call('PATCH', '/api/v1/namespaces/%s/pods/%s' % (space, me), change)
    if status != 200:
        raise OSError('annotate %s: %d' % (me, status))
    return True


def repeated(step, *arguments):
    """Whether it was done in time."""
    until = time.monotonic() + ALL
    while time.monotonic() < until:
        try:
            if step(*arguments):
                return True
        except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
            print('relabel: %r' % error, flush=True)
            time.sleep(0.5)
    return False


def main():
    action, role, scope = sys.argv[-3:]
    me, space = os.environ['POD_NAME'], read('namespace')
    leads = action != 'on_reload' and role in ('primary', 'promoted', 'master', 'standby_leader')
    done = not leads or repeated(relabel, space, scope, me)
    told = CA_FILE is None or repeated(tell, space, me)
    return 0 if done and told else 1


sys.exit(main())
