"""The PostgreSQL that runs elsewhere: what is asked of it, and the base backup. It is only read, but for a replication slot where
it limits what slots keep."""
import os
import re
import shutil
import subprocess

from import_record import COPY, PROGRAMS, TEMPORARY, Refused, Trouble, children, locks, record, remember, run, short, sync, write
from import_report import told


def quoted(value):
    return "'" + str(value).replace('\\', '\\\\').replace("'", "\\'") + "'"


def conninfo(source):
    words = {
        'host': source['host'], 'port': source['port'], 'user': source['user'], 'sslmode': source['sslmode'],
        'passfile': TEMPORARY + '/pgpass', 'application_name': source['name'], 'connect_timeout': 10, 'gssencmode': 'disable',
        'keepalives_idle': 10, 'keepalives_interval': 5, 'keepalives_count': 3, 'tcp_user_timeout': 30000,
    }
    if source['sslmode'] in ('verify-ca', 'verify-full'):
        words['sslrootcert'] = TEMPORARY + '/ca.crt'
    return ' '.join('%s=%s' % (name, quoted(value)) for name, value in words.items())


def ask_source(source, command):
    """Rows of a command of the replication protocol."""
    answer = run([PROGRAMS + '/psql', '-X', '-q', '-A', '-t', '-w', '-F', '\t', '-c', command,
                  '-d', conninfo(source) + ' replication=true'])
    if answer.returncode != 0:
        raise Trouble('the source: ' + short(answer.stderr))
    return [line.split('\t') for line in answer.stdout.splitlines()]


def identify(source):
    (row,) = ask_source(source, 'IDENTIFY_SYSTEM')
    return {'systemId': row[0], 'timeline': int(row[1]), 'end': lsn(row[2])}


def show(source, name):
    return ask_source(source, 'SHOW ' + name)[0][0]


def lsn(text):
    high, low = text.split('/')
    return (int(high, 16) << 32) + int(low, 16)


def lsn_text(number):
    return '%X/%X' % (number >> 32, number & 0xffffffff)


def compared(found):
    """A copy is of one database, and of one line of its history."""
    if record.get('systemId', found['systemId']) != found['systemId']:
        raise Refused('the source is another database now: its system identifier is %s, and this is a copy of %s'
                      % (found['systemId'], record['systemId']))
    if record.get('timeline', found['timeline']) != found['timeline']:
        raise Refused('the source is on timeline %d now, and this copy follows timeline %d: the source has failed over or '
                      'was recovered' % (found['timeline'], record['timeline']))
    return found


def check_source(source):
    """Before anything is copied."""
    wanted = source['version']
    number = int(show(source, 'server_version_num'))
    if str(number // 10000) != wanted:
        raise Refused('the source is PostgreSQL %s, and the new cluster is to run %s: its files can only be read by the '
                      'same major version' % (show(source, 'server_version').split()[0], wanted))
    for name, is_well, why in (
            ('in_hot_standby', lambda value: value == 'off', 'it is a standby: name the primary'),
            ('data_checksums', lambda value: value == 'on', 'damaged pages would not be noticed: stop it and run pg_checksums --enable'),
            ('wal_level', lambda value: value in ('replica', 'logical'), 'a copy cannot follow it'),
            ('block_size', lambda value: value == '8192', 'the image has 8192'),
            ('wal_block_size', lambda value: value == '8192', 'the image has 8192'),
            ('segment_size', lambda value: value == '1GB', 'the image has 1GB')):
        value = show(source, name)
        if not is_well(value):
            raise Refused('%s of the source is %s: %s' % (name, value, why))


def make_slot(source):
    """Only where the source itself bounds what a slot keeps: without that, a copy that is away fills its disk."""
    if show(source, 'max_slot_wal_keep_size') == '-1':
        return None
    name = source['slot']
    if not ask_source(source, 'READ_REPLICATION_SLOT %s' % name)[0][0]:
        ask_source(source, 'CREATE_REPLICATION_SLOT %s PHYSICAL (RESERVE_WAL)' % name)
    return name


# Base backups that have failed on the way. Each is begun from its start, and read by the source.
failed = {'copies': 0}


def copy(source):
    found = identify(source)
    check_source(source)
    if os.path.lexists(COPY):
        shutil.rmtree(COPY)
    slot = make_slot(source)
    remember(id=source['id'], systemId=found['systemId'], timeline=found['timeline'], slot=slot, state='copying')
    command = [PROGRAMS + '/pg_basebackup', '-d', conninfo(source), '-D', COPY, '--checkpoint=fast', '--wal-method=stream',
               '--no-password', '--progress', *([] if slot is None else ['--slot', slot])]
    told.say('copying', systemId=found['systemId'])
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors='replace', pass_fds=locks)
    children.append(child)
    words, is_moving = [], False
    for line in child.stderr:
        progress = re.search(r'(\d+)/(\d+) kB', line)
        if progress is None:
            words = [*words[-5:], line]
            continue
        if progress[1] != '0' and not is_moving:
            is_moving = True
            failed['copies'] += 1
        told.say('copying', systemId=found['systemId'], bytes=int(progress[1]) * 1024, total=int(progress[2]) * 1024)
    if child.wait() != 0:
        said = short(' '.join(words))
        if 'could not create directory' in said or 'is not empty' in said or 'empty target' in said:
            raise Refused('the base backup has failed; tablespaces of the source cannot be imported: ' + said)
        raise Trouble('the base backup has failed: ' + said)
    spaces = os.listdir(COPY + '/pg_tblspc')
    if spaces:
        raise Refused('the source has tablespaces (%s): they cannot be imported' % short(', '.join(spaces)))
    prepare()
    remember(state='copied')
    failed['copies'] = 0


def prepare():
    """What a server of the source has left of its own settings. Those of the new cluster are in its spec."""
    for name in ('recovery.signal', 'patroni.dynamic.json', 'postmaster.pid', 'postgresql.base.conf'):
        if os.path.lexists(os.path.join(COPY, name)):
            os.remove(os.path.join(COPY, name))
    for name in ('postgresql.conf', 'postgresql.auto.conf', 'postgresql.base.conf', 'pg_hba.conf', 'pg_ident.conf', 'standby.signal'):
        path = os.path.join(COPY, name)
        if os.path.lexists(path):
            os.remove(path)
        write(path, '')
    sync(COPY)


def control(name):
    answer = run([PROGRAMS + '/pg_controldata', '-D', COPY], env={**os.environ, 'LC_ALL': 'C'})
    found = re.search('^' + re.escape(name) + r':\s*(.*)$', answer.stdout, re.MULTILINE)
    if found is None:
        raise Trouble('pg_controldata: ' + short(answer.stderr or answer.stdout))
    return found[1].strip()
