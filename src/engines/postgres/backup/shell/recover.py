"""Recovers a backup, and moves it to where the first member looks: the last container of the Job of a restore.

recover.py RESTORED DATA PROGRAMS TEMPORARY [NAME=VALUE ...]

A server that nobody else reaches replays the log to the end that the settings name, and begins a new timeline. Only when it
has stopped in order is the directory renamed. So a member never meets a recovery that is not finished, and never ends one
somewhere else. It may be killed at any point, and run again: the agent knows by RESTORED.recovering that what it finds in
either directory is this restore's.

The server removes its order to recover before it has written the checkpoint that ends the recovery. What is started between
the two is crash recovery: it knows no target, and stays on the old timeline. So the end of the server's process is written
down here, and a recovery without an order and without that end begins again, from the backup.
"""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

LAST_WORDS = '/dev/termination-log'
# In RESTORED.recovering, once the server has stopped in order.
RECOVERED = 'recovered\n'


def say(words):
    print('recover: ' + words, file=sys.stderr, flush=True)


def refuse(reason, message):
    """What no other attempt would change: in the words of a result of the agent."""
    say(message)
    if os.path.exists(LAST_WORDS):
        result = {'result': 'failed', 'reason': reason, 'message': message, 'isTransient': False}
        write(LAST_WORDS, json.dumps(result))
    sys.exit(2)


def sync(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make(path, text=''):
    with open(path, 'a', encoding='utf8') as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    sync(os.path.dirname(path))


def read(path):
    try:
        with open(path, encoding='utf8') as file:
            return file.read()
    except FileNotFoundError:
        return ''


def begin_again(restored, why):
    """The next pod of the Job fetches the backup again. A directory that is half removed never has the name of a whole one."""
    discarded = restored + '.discarded'
    shutil.rmtree(discarded, ignore_errors=True)
    os.rename(restored, discarded)
    sync(os.path.dirname(restored))
    shutil.rmtree(discarded)
    say(why + ': the next attempt begins again from the backup')
    sys.exit(1)


def write(path, text):
    with open(path, 'w', encoding='utf8') as file:
        file.write(text)
    return path


def remove(path):
    if os.path.lexists(path):
        os.remove(path)


def prepare(restored):
    """What a server of the old cluster has left of its own, and the order to recover."""
    inside = lambda name: os.path.join(restored, name)
    # A backup of a standby has the first, which would make this one a standby. The lock file is that of a server of another pod.
    for name in ('standby.signal', 'patroni.dynamic.json', 'postmaster.pid'):
        remove(inside(name))
    # A server reads it wherever its other configuration is, and so would Patroni's.
    if os.path.lexists(inside('postgresql.auto.conf')):
        write(inside('postgresql.auto.conf'), '')
    # Once recovery has begun the label has another name, and the signal is there until it has ended.
    is_untouched = os.path.exists(inside('backup_label'))
    if is_untouched:
        make(inside('recovery.signal'))
    sync(restored)
    return is_untouched


def is_open(programs, socket):
    """Whether the server takes writes: it lets nobody in before."""
    asked = [programs + '/psql', '--no-psqlrc', '--tuples-only', '--no-align', '--host=' + socket, '--username=postgres',
             '--dbname=postgres', '--command=SELECT pg_is_in_recovery()']
    answer = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return answer.returncode == 0 and answer.stdout.strip() == b'f'


# What a server says of a point that the log does not have, or that comes before the backup is consistent.
UNREACHED = (
    'recovery ended before configured recovery target was reached',
    'requested recovery stop point is before consistent recovery point',
)

# How far it has come is said before.
TOLD = (*UNREACHED, 'last completed transaction was at log time', 'redo done at')


def listen(output, words):
    for line in output:
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()
        text = line.decode('utf8', 'replace').strip()
        if any(each in text for each in TOLD):
            words.append(text.split(']', 1)[-1].strip()[:300])
            del words[:-4]


def recover(restored, programs, temporary, settings, lock, is_untouched):
    files = {
        'config_file': write(temporary + '/postgresql.conf', ''),
        'hba_file': write(temporary + '/pg_hba.conf', 'local all all trust\n'),
        'ident_file': write(temporary + '/pg_ident.conf', ''),
        'unix_socket_directories': temporary,
        'listen_addresses': '',
    }
    wanted = [*('%s=%s' % pair for pair in files.items()), *settings]
    command = [programs + '/postgres', '-D', restored]
    for setting in wanted:
        command += ['-c', setting]
    server = subprocess.Popen(command, pass_fds=[lock.fileno()], stderr=subprocess.PIPE)
    words = []
    reader = threading.Thread(target=listen, args=(server.stderr, words), daemon=True)
    reader.start()
    try:
        while server.poll() is None and not is_open(programs, temporary):
            time.sleep(0.2)
    finally:
        if server.poll() is None:
            server.send_signal(signal.SIGINT)
        code = server.wait()
    reader.join(5)
    if code != 0 and any(text in line for line in words for text in UNREACHED):
        # An attempt that was killed may have begun the new timeline, on which the point is not.
        if not is_untouched:
            begin_again(restored, 'a recovery that was killed does not reach the point that is asked for')
        refuse('NotFound', 'PostgreSQL has not reached the point that is asked for, and was not promoted: ' + '; '.join(words))
    if code != 0:
        say('the server ended with %d before the backup was recovered: its last words are above' % code)
        sys.exit(1)


def place(restored, data, programs, temporary, settings, lock):
    mark = restored + '.recovering'
    if not os.path.exists(restored):
        if os.path.exists(mark) and os.path.exists(data):
            return 'it is in place already'
        say('%s is not there' % restored)
        sys.exit(1)
    if os.path.lexists(data):
        found = sorted(os.listdir(data))
        if found:
            refuse('Occupied', '%s holds %s: nothing is written over data' % (data, ', '.join(found[:5])[:300]))
        os.rmdir(data)
    make(mark)
    if read(mark) != RECOVERED:
        is_untouched = prepare(restored)
        if not os.path.exists(os.path.join(restored, 'recovery.signal')):
            begin_again(restored, 'a recovery was killed at its end')
        recover(restored, programs, temporary, settings, lock, is_untouched)
        make(mark, RECOVERED)
    os.rename(restored, data)
    sync(os.path.dirname(data))
    # Beside it: the archived log, which the recovered server has no use for.
    shutil.rmtree(restored + '.wal', ignore_errors=True)
    return 'the backup is recovered'


def main():
    restored, data, programs, temporary, *settings = sys.argv[1:]
    # The first process of a container is not ended by it otherwise.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # The agent has written it. Of two pods on one node, one waits: the server holds the lock as well.
    with open(restored + '.restored-from.json', 'rb') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        say(place(restored, data, programs, temporary, settings, lock))


main()
