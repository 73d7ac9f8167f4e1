"""What a member does in Kubernetes besides Patroni: relabel.py ACTION ROLE SCOPE, or relabel.py begin-anew.

The first is a callback of Patroni. It takes the leader's label from every pod of the cluster but the leader's. A pod that is
dead keeps its label, and the Service keeps sending clients to it until the pod is NotReady. Here the new leader removes it.
The lock in the store decides, never the role that Patroni passes: who does not hold the lock does nothing. Pods are listed
before the lock is read, and a pod is changed only while it is as it was listed. So a pod that has become the leader since is
left alone. Safe to repeat, and to kill at any point.

Where the certificates of servers come from elsewhere, the callback also writes on its own pod which CAs it knows servers by: a digest of the
file that libpq reads for each connection. The operator lets nobody show a certificate of the next CA before each pod says that it has it.

The second runs before Patroni, in a member that forms a cluster: see begin_anew.
"""
import hashlib
import http.client
import json
import os
import shutil
import ssl
import sys
import time
from urllib.parse import quote

ACCOUNT = os.environ.get('ACCOUNT_DIRECTORY', '/var/run/secrets/kubernetes.io/serviceaccount') + '/'
LABEL, VALUE = os.environ['ROLE_LABEL'], 'primary'
CA_FILE, CAS = os.environ.get('SERVER_CA_FILE'), os.environ.get('SERVER_CAS_ANNOTATION')
CALL, ALL = 3.0, 60.0  # seconds
# On Patroni's ConfigMap: the pod that moves an unfinished database aside.
CLAIM = 'clusterwright.dev/begins-anew'
# Names beside the data, and none that Patroni uses: it removes what has those. A volume is not filled with more.
ASIDE = ('.unfinished', '.unfinished-2', '.unfinished-3')
# Beside the data, from before they are begun until the member has the lock: it names the ConfigMap in which Patroni notes that it begins. Another
# ConfigMap says nothing of whether anybody has led with these data.
FORMING = 'clusterwright.forming'
# Exit codes: the operator says what they mean.
BLANK, UNMOVABLE = 78, 80
# Whatever the version is, PostgreSQL writes no shorter one.
LEAST_CONTROL = 512


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
    if found == []:
        say_forming(os.environ['DATA_DIRECTORY'], None)
    return not found


def tell(space, me):
    with open(CA_FILE, 'rb') as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:16]
    change = {'metadata': {'annotations': {CAS: digest}}}
    status, _ = call('PATCH', '/api/v1/namespaces/%s/pods/%s' % (space, me), change)
    if status != 200:
        raise OSError('annotate %s: %d' % (me, status))
    return True


def sync(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_database(data):
    """By Patroni's rule: the control file begins with an identifier. No server has ever run on data without one."""
    try:
        with open(os.path.join(data, 'global', 'pg_control'), 'rb') as file:
            head = file.read(LEAST_CONTROL)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return len(head) == LEAST_CONTROL and len(str(int.from_bytes(head[:8], sys.byteorder))) >= 10


class Refused(Exception):
    """Nothing may start. Another attempt would meet the same."""
    def __init__(self, code, words):
        super().__init__(words)
        self.code = code


def is_blank(data):
    """By Patroni's rule: then it makes a database, or copies one."""
    try:
        return all(name.startswith('.') or name == 'lost+found' for name in os.listdir(data))
    except FileNotFoundError:
        return True


def forming_in(data):
    """The file, and what it says; None where it is not there."""
    path = os.path.join(os.path.dirname(data), FORMING)
    try:
        with open(path, encoding='utf8') as file:
            return path, file.read(64)
    except (OSError, ValueError):
        return path, None


def say_forming(data, uid):
    """Where the volume refuses, only less is known later."""
    path, said = forming_in(data)
    if said == uid:
        return
    try:
        if uid is None:
            os.unlink(path)
        else:
            with open(path + '.new', 'w', encoding='utf8') as file:
                file.write(uid)
            sync(path + '.new')
            os.rename(path + '.new', path)
        sync(os.path.dirname(path))
    except OSError as error:
        print('relabel: %r' % error, flush=True)


def remove(path):
    if os.path.lexists(path):
        shutil.rmtree(path)


def move_aside(data, wal):
    """To a name beside it, with its log. What has a control file is never removed: the next name is
    taken. May be killed at any point, and run again: then it takes the same name."""
    if not any(os.path.lexists(path) for path in (data, wal) if path):
        return
    free = [suffix for suffix in ASIDE if not is_database(data + suffix)]
    if not free:
        raise OSError('%s have databases: a person has to remove the wrong ones' % ', '.join(data + suffix for suffix in ASIDE))
    suffix = free[0]
    remove(data + suffix)
    link = os.path.join(data, 'pg_wal')
    if wal and os.path.lexists(wal):
        remove(wal + suffix)
        os.rename(wal, wal + suffix)
        # Another volume may lose this when it loses power, and the data may be moved by then.
        sync(os.path.dirname(wal))
    # Nobody who looks at it may meet the log of the next database.
    if wal and os.path.islink(link) and os.readlink(link) == wal:
        if os.path.lexists(link + '.new'):
            os.unlink(link + '.new')
        os.symlink(wal + suffix, link + '.new')
        os.replace(link + '.new', link)
    if os.path.lexists(data):
        os.rename(data, data + suffix)
    sync(os.path.dirname(data))


def has_led(leader, sync_state):
    """Whether anybody has ever had the lock. Then commits may have been acknowledged, whatever `initialize` says."""
    return any(name in leader for name in ('leader', 'acquireTime', 'renewTime', 'optime')) or 'leader' in sync_state


def begin_anew(space, scope, data, wal, me):
    """Patroni makes `initialize` empty before it makes a database, and gives it the identifier when the database is finished, before it
    takes the lock. Nobody takes an empty one back when Patroni has ended in between: then no member ever leads, or it does so with a database
    that lacks roles. Only one member forms, and it has the lock of its volume: so nobody else is at work on the database.

    Patroni takes the lock also if it could not write the identifier, and repairs that in its next round. So an empty one proves nothing where
    anybody has had the lock: such data stays where it is, and Patroni writes the identifier when it starts on it.

    Where Patroni finds that it cannot make the database, it takes `initialize` back before it moves what it has made, and may end in between. That
    is moved aside as well where the file FORMING says that it was made here. Other data without `initialize` may have come from elsewhere: Patroni
    starts on them.

    The claim is written first, only where the ConfigMap is as it was seen, and what is read after it decides. Where the ConfigMap is gone there
    is nothing to take back: the operator makes it again.
    """
    path = '/api/v1/namespaces/%s/configmaps' % space
    status, found = call('GET', '%s?labelSelector=%s' % (path, quote(os.environ['MEMBER_SELECTOR'])))
    if status != 200:
        raise OSError('list ConfigMaps: %d' % status)
    listed = {one['metadata']['name']: one['metadata'] for one in found['items']}
    noted = lambda part: listed.get(scope + part, {}).get('annotations') or {}
    name = scope + '-config'
    marked = noted('-config').get('initialize') if name in listed else 'unknown'
    uid = listed.get(name, {}).get('uid', '')
    has_begun = marked == '' or (marked is None and forming_in(data)[1] == uid)
    makes_one = marked in (None, '', 'unknown') and is_blank(data)
    missing = [part for part in ('-config', '-leader', '-sync') if scope + part not in listed]
    led = has_led(noted('-leader'), noted('-sync'))
    if missing and (makes_one or (has_begun and not led)):
        raise OSError('ConfigMap %s is not there, and nobody else knows whether there was a primary' % (scope + missing[0]))
    if led:
        if makes_one:
            raise Refused(BLANK, 'the volume is blank, and a member has had the lock')
        say_forming(data, None)
        if marked == '':
            print('relabel: there is no identifier, and a member has had the lock: its database stays', flush=True)
        return True
    if marked is None and makes_one:
        say_forming(data, uid)
        return True
    if not has_begun:
        if marked is None:
            print('relabel: there are data, and nothing says how they were begun: Patroni starts on them', flush=True)
        return True

    def change(annotations, what):
        body = {'metadata': {'resourceVersion': listed[name]['resourceVersion'], 'annotations': annotations}}
        status, _ = call('PATCH', '%s/%s' % (path, name), body)
        if status != 200:
            raise OSError('%s: %d' % (what, status))

    if noted('-config').get(CLAIM) != me:
        change({'initialize': '', CLAIM: me}, 'claim the database')
        return False
    print('relabel: an earlier start has not finished its database: it is moved aside, and another one is made', flush=True)
    try:
        move_aside(data, wal)
    except OSError as error:
        raise Refused(UNMOVABLE, 'an unfinished database cannot be moved aside: %s' % error) from error
    say_forming(data, uid)
    change({'initialize': None, CLAIM: None}, 'take back initialize')
    return True


def repeated(step, *arguments, within=ALL):
    """Whether it was done in time."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            if step(*arguments):
                return True
        except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
            print('relabel: %r' % error, flush=True)
            time.sleep(0.5)
    return False


def scope_of_configuration():
    with open(os.environ['CONFIG_DIRECTORY'] + '/patroni.yml', encoding='utf8') as file:
        return json.load(file)['scope']


def main():
    if sys.argv[-1] == 'begin-anew':
        # Patroni could do nothing without the API server either.
        place = read('namespace'), scope_of_configuration(), os.environ['DATA_DIRECTORY'], os.environ.get('WAL_DIRECTORY'), os.environ['POD_NAME']
        try:
            return 0 if repeated(begin_anew, *place, within=float('inf')) else 1
        except Refused as error:
            print('relabel: %s' % error, file=sys.stderr, flush=True)
            return error.code
    action, role, scope = sys.argv[-3:]
    me, space = os.environ['POD_NAME'], read('namespace')
    leads = action != 'on_reload' and role in ('primary', 'promoted', 'master', 'standby_leader')
    done = not leads or repeated(relabel, space, scope, me)
    told = CA_FILE is None or repeated(tell, space, me)
    return 0 if done and told else 1


sys.exit(main())
