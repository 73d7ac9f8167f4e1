"""Makes the first member's data of a PostgreSQL that runs elsewhere: a base backup, which then follows the source until a
person cuts over. Then it is promoted, gets the operator's roles, is stopped in order and moved to where Patroni looks.

Nobody reaches its server. What it does is told to who asks `GET /patroni` with a certificate, at Patroni's port; the operator
sends the password and the CA of the source, and the request to cut over, to the same port. May be killed at any point and run
again: IMPORTED.json has what is done.
"""
import fcntl
import json
import os
import re
import shutil
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from import_copy import Follower, check_roles, inspect, make_roles
from import_record import CONFIG, COPY, DATA, RECORD, TEMPORARY, VOLUME, Refused, Trouble, children, locks, record, remember, short, sync, write
from import_report import Handler, Server, is_changed, since, told, wanted_cut
from import_source import ask_source, compared, control, copy, failed, identify
from import_verify import verify

EVERY, ASK_SOURCE, AGAIN, LONGEST = 1.0, 5.0, float(os.environ.get('IMPORT_AGAIN_SECONDS', '10')), 600.0  # seconds


GONE = re.compile(r'requested WAL segment [0-9A-F]{24} has already been removed')


def follow(follower):
    """Until a person cuts over. @returns once everything is verified"""
    source = follower.source
    asked_at, ident, unreached = 0.0, None, None
    follower.start()
    collations, notes = inspect(follower)
    if record.get('refusal') is None and record.get('asked') is not None:
        # The pod was killed before it had answered, and the request may be withdrawn since: who still wants it asks again.
        remember(asked=None)
    while True:
        value = wanted_cut()
        if follower.child.poll() is not None:
            raise Trouble('the server of the copy has ended: ' + (follower.problem or 'see its log'))
        if time.monotonic() - asked_at > ASK_SOURCE:
            asked_at = time.monotonic()
            try:
                ident, unreached = compared(identify(source)), None
                is_streaming = follower.sql("select 1 from pg_stat_wal_receiver where status = 'streaming'")
                if is_streaming:
                    follower.problem = None
                elif follower.problem and GONE.search(follower.problem):
                    raise Refused('the source has removed part of the log that the copy needs: ' + follower.problem)
            except Trouble as trouble:
                unreached = str(trouble)
        received_end, replayed, is_paused = follower.end()
        if is_paused:
            # A setting has become larger at the source.
            follower.stop()
            follower.start()
            continue
        since.clear()
        since.update(systemId=record['systemId'], timeline=record['timeline'], received=received_end, replayed=replayed,
                     slot=record.get('slot'), notes=notes)
        if ident is not None:
            since['source'] = max(ident['end'], received_end)
        problem = unreached or follower.problem
        told.say('following', **since, **({} if problem is None else {'problem': problem}))
        if value:
            try:
                verify(follower, value, collations)
                # Somebody may have made them since.
                check_roles(follower)
                if not is_changed():
                    return
            except (Refused, Trouble) as refused:
                remember(refusal=short(refused, 1000))
                print('import: refused to cut over: %s' % refused, file=sys.stderr, flush=True)
        time.sleep(EVERY)


def order_again():
    """PostgreSQL takes away its order to recover before it has written where the new timeline begins. What is started between the two would go
    on on the old timeline, past the point at which a file says that the new one begins: no server would start on it afterwards."""
    timeline = str(record['timeline'])
    is_between = (control('Database cluster state') == 'in archive recovery'
                  and control("Latest checkpoint's TimeLineID") == timeline
                  and control("Min recovery ending loc's timeline") in ('0', timeline))
    if is_between and not os.path.lexists(COPY + '/standby.signal'):
        write(COPY + '/standby.signal', '')
        sync(COPY)


def promote(follower):
    """From here on it is a database of its own. It may have been killed on the way."""
    told.say('cutting-over', **{**since, 'message': 'the copy becomes a database of its own'})
    if follower.child is None or follower.child.poll() is not None:
        order_again()
        follower.start()
    if follower.sql('select pg_is_in_recovery()') == [['t']] and follower.sql('select pg_promote(true, 600)') != [['t']]:
        raise Trouble('the copy was not promoted within 600 s')
    follower.stop()
    follower.start(is_own=True)
    make_roles(follower)
    follower.sql('checkpoint')
    follower.stop()
    slot = record.get('slot')
    if slot is not None:
        try:
            ask_source(follower.source, 'DROP_REPLICATION_SLOT %s WAIT' % slot)
        except Trouble as trouble:
            # It is of no use, and bounded. A source that has stopped for good does not need it.
            print('import: slot %s is left at the source: %s' % (slot, trouble), file=sys.stderr, flush=True)
    remember(state='done')


def place():
    if not os.path.exists(DATA):
        os.rename(COPY, DATA)
        sync(VOLUME)


def occupied(source):
    """Nothing is written over data. In words, or None."""
    if record.get('id', source['id']) != source['id']:
        return 'the volume has the import of an earlier cluster (%s)' % RECORD
    for path in (DATA, COPY):
        if os.path.lexists(path) and os.listdir(path) and 'id' not in record:
            return '%s holds data: nothing is written over it' % path
    if os.path.lexists(DATA) and os.listdir(DATA) and record.get('state') != 'done':
        return '%s holds data, and the import is not done' % DATA
    return None


def work(source):
    why = occupied(source)
    if why is not None:
        raise Refused(why)
    if os.path.lexists(DATA) and not os.listdir(DATA):
        os.rmdir(DATA)
    while told.secrets is None and record.get('state') != 'done':
        time.sleep(0.2)
    # Whoever answers in the place of a source that is not verified could ask for the password itself. A libpq before 16 does not know this.
    if not source['sslmode'].startswith('verify-'):
        os.environ['PGREQUIREAUTH'] = '!password'
    follower = Follower(source)
    try:
        if record.get('state') in (None, 'copying'):
            told.say('connecting', **({} if not last['problem'] else {'problem': last['problem']}))
            copy(source)
        if record['state'] == 'copied':
            follow(follower)
            remember(state='promoting')
        if record['state'] == 'promoting':
            promote(follower)
        place()
    finally:
        if record.get('state') != 'promoting':
            follower.stop()
        elif follower.child is not None and follower.child.poll() is None:
            follower.child.send_signal(signal.SIGINT)
            follower.child.wait()


last = {'problem': None}


def stopped(*_):
    """The servers stop in order. Nothing of subprocess is called: the signal may have interrupted it."""
    for child in children:
        try:
            os.kill(child.pid, signal.SIGINT)
            os.waitpid(child.pid, 0)
        except (ChildProcessError, ProcessLookupError):
            pass
    os._exit(0)


def take_lock():
    """That of start.sh and locked.py. A file system without locks keeps nobody from working."""
    mask = os.umask(0)
    try:
        lock = os.open(VOLUME + '/clusterwright.lock', os.O_RDWR | os.O_CREAT, 0o666)
        fcntl.flock(lock, fcntl.LOCK_EX)
        locks.append(lock)
    except OSError as error:
        print('import: the volume cannot be locked: %s' % error, file=sys.stderr, flush=True)
    finally:
        os.umask(mask)


def main():
    os.makedirs(TEMPORARY, mode=0o700, exist_ok=True)
    signal.signal(signal.SIGTERM, stopped)
    server = Server(('0.0.0.0', int(os.environ['REST_PORT'])), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # A pod that was deleted by force may still be at work on the volume. Its servers hold the lock as well.
    take_lock()
    if os.path.exists(RECORD):
        with open(RECORD, encoding='utf8') as file:
            record.update(json.load(file))
    while True:
        try:
            # The spec may have changed.
            with open(CONFIG + '/bootstrap.yml', encoding='utf8') as file:
                source = json.load(file)['bootstrap']['import']
            work(source)
            break
        except Refused as refused:
            last['problem'] = None
            told.say('refused', problem=short(refused, 1000))
        except Trouble as trouble:
            last['problem'] = short(trouble, 1000)
            told.say('failing', problem=last['problem'], **since)
        # A volume that is too small would have the source read all of its data every ten seconds.
        time.sleep(min(LONGEST, AGAIN * 2 ** min(failed['copies'], 10)))
    server.shutdown()
    server.server_close()
    shutil.rmtree(TEMPORARY, ignore_errors=True)
    print('import: done', file=sys.stderr, flush=True)
    os.environ.pop('PGREQUIREAUTH', None)
    os.environ['IMPORT_IS_DONE'] = 'true'
    os.execv('/bin/sh', ['/bin/sh', CONFIG + '/start.sh'])


main()
