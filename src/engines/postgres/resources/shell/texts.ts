/** Made of the scripts of this folder by `npm run build`. */
export const texts = {
  'copy_database.py': `"""Copies one database of a PostgreSQL that runs elsewhere, with pg_dump and pg_restore, into a database that the operator has made
for this Job alone. Afterwards the rows of every table are counted at both. The comment that ends it says that the copy is whole.

What SOURCE_PG* and TARGET_PG* say are variables of libpq. The restore runs as the owner of the new database, who is no superuser:
so nothing that the source says can do more than that owner can.

Exit code 3: it would fail again until a person changes something. The last words are in the termination message.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

PROGRAMS = os.environ['PROGRAMS']
DIRECTORY = os.environ['DIRECTORY']
MESSAGE = os.environ.get('MESSAGE', '/dev/termination-log')
MAJOR = int(os.environ['MAJOR'])
MARK = os.environ['MARK']
TAKES_CHANGES = os.environ.get('TAKES_CHANGES') == 'true'
JOBS = '2'
PATIENCE_SECONDS = int(os.environ.get('PATIENCE_SECONDS', '120'))
# A session that has become idle tells its statistics after 10 seconds at the latest: PGSTAT_IDLE_INTERVAL.
STATISTICS_SECONDS = 11
MOST_WORDS = 1500
MOST_NAMED = 5


class Refused(Exception):
    """It would fail again."""


class Trouble(Exception):
    """Another attempt may succeed."""


def short(words):
    text = ''.join(c if c.isprintable() else ' ' for c in words)
    return re.sub(' +', ' ', text).strip()[:MOST_WORDS]


def named(names):
    names = list(names)
    more = '' if len(names) <= MOST_NAMED else ' and %d more' % (len(names) - MOST_NAMED)
    return ', '.join(short(name)[:80] for name in names[:MOST_NAMED]) + more


def environment(side):
    prefix = side.upper() + '_'
    own = {name[len(prefix):]: value for name, value in os.environ.items() if name.startswith(prefix + 'PG')}
    with open(os.environ[prefix + 'PASSWORD_FILE'], encoding='utf-8') as file:
        own['PGPASSWORD'] = file.read()
    # Whoever answers in the place of a server that is not verified could ask for the password itself.
    if not own.get('PGSSLMODE', '').startswith('verify-'):
        own['PGREQUIREAUTH'] = '!password'
    rest = {name: value for name, value in os.environ.items() if 'PG' not in name}
    return {**rest, **own, 'PGCONNECT_TIMEOUT': '10', 'PGGSSENCMODE': 'disable', 'PGCLIENTENCODING': 'UTF8',
            'PGAPPNAME': 'clusterwright-import', 'LC_ALL': 'C.UTF-8'}


# Whatever the role or the database says. Not every version has all of them.
WITHOUT_LIMITS = """SELECT set_config(name, '0', false) FROM pg_settings
WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')"""


class Session:
    """One connection. Rows come as JSON, so that no name can be mistaken for a separator."""

    def __init__(self, side):
        self.side = side
        self.words = open(os.path.join(DIRECTORY, side + '.words'), 'w+', encoding='utf-8', errors='replace')
        self.process = subprocess.Popen([PROGRAMS + '/psql', '-X', '-q', '-A', '-t', '-w', '-v', 'ON_ERROR_STOP=1'],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.words, text=True,
                                        encoding='utf-8', errors='replace', env=environment(side))
        self.run('SET search_path = pg_catalog; SET row_security = off')
        self.run(WITHOUT_LIMITS)

    def run(self, sql, end=';'):
        """Lines of the answer. Nothing that a server has said may be in what psql reads: it would take a backslash for a command of its own."""
        try:
            self.process.stdin.write(sql + end + '\\n\\\\echo end-of-answer\\n')
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        lines = []
        for line in self.process.stdout:
            if line == 'end-of-answer\\n':
                return lines
            lines.append(line.rstrip('\\n'))
        self.process.wait()
        self.words.seek(0)
        words = short('the %s: %s' % (self.side, self.words.read()))
        raise Refused(words) if re.search('permission denied|row-level security|password authentication failed|authentication method requirement|no pg_hba.conf', words) else Trouble(words)

    def ask(self, sql):
        return [json.loads(line) for line in self.run('SELECT row_to_json(answer) FROM (%s) answer' % sql)]

    def ask_each(self, sql):
        """Answers of the queries that this query makes. psql sends them as they are, and reads none of them."""
        return [json.loads(line) for line in self.run(sql, '\\n\\\\gexec')]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.words.close()


def connected(side):
    """The operator makes the new database once it has seen the Job."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return Session(side)
        except Trouble:
            if time.monotonic() > end:
                raise
            time.sleep(1)


OWN = r"n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
APART = "NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = %s AND d.deptype = 'e')"

UNTRUSTED = """SELECT format('function %I.%I in language %s', n.nspname, p.proname, l.lanname) AS name
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
WHERE NOT l.lanpltrusted AND """ + OWN + ' AND ' + APART % 'p.oid' + """
UNION ALL SELECT format('event trigger %I', evtname) FROM pg_event_trigger e WHERE """ + APART % 'e.oid' + """
UNION ALL SELECT format('foreign-data wrapper %I', fdwname) FROM pg_foreign_data_wrapper f WHERE """ + APART % 'f.oid' + """
UNION ALL SELECT format('subscription %I', subname) FROM pg_subscription WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
ORDER BY name"""

TABLES = """SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND """ + OWN + ' AND ' + APART % 'c.oid' + ' ORDER BY name'

COUNTS = """SELECT format('SELECT row_to_json(answer) FROM (SELECT %L AS name, count(*)::text AS rows FROM ONLY %I.%I) answer',
format('%I.%I', n.nspname, c.relname), n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND """ + OWN + ' AND ' + APART % 'c.oid'

WRITTEN = """SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::text AS rows FROM pg_stat_all_tables
WHERE relid = 'pg_largeobject'::regclass OR schemaname <> 'information_schema' AND schemaname !~ '^pg_'"""
# Of transactions that write: which have ended, and which are open.
TRANSACTIONS = 'SELECT txid_current_snapshot()::text AS seen'
# Their owner restores them, and could not read all of their rows.
FORCED = """SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relrowsecurity AND c.relforcerowsecurity AND """ + OWN + ' ORDER BY name'
ROLES = """SELECT DISTINCT r.rolname AS name FROM pg_policy p, unnest(p.polroles) role JOIN pg_roles r ON r.oid = role ORDER BY name"""


def check(source, target):
    """Before anything is copied: what the owner of the new database could not make."""
    (version,) = source.ask("SELECT current_setting('server_version_num')::int / 10000 AS major, pg_is_in_recovery() AS standby")
    if version['major'] > MAJOR:
        raise Refused('the source is PostgreSQL %d, and the new cluster runs %d: no later version can be read' % (version['major'], MAJOR))
    if version['standby']:
        raise Refused('the source is a standby: name the primary, where it can be seen whether anything is written meanwhile')
    wanted = {row['name'] for row in source.ask("SELECT extname AS name FROM pg_extension WHERE extname <> 'plpgsql'")}
    there = {row['name'] for row in target.ask('SELECT DISTINCT name FROM pg_available_extensions')}
    trusted = {row['name'] for row in target.ask('SELECT DISTINCT name FROM pg_available_extension_versions WHERE trusted')}
    if wanted - there:
        raise Refused('the image has no extension %s, which the source uses' % named(sorted(wanted - there)))
    if wanted - trusted:
        raise Refused('only a superuser can create extension %s, which the source uses: a logical import has none' % named(sorted(wanted - trusted)))
    untrusted = [row['name'] for row in source.ask(UNTRUSTED)]
    if untrusted:
        raise Refused('only a superuser can create %s, which the source has' % named(untrusted))
    forced = [row['name'] for row in source.ask(FORCED)]
    if forced:
        raise Refused('row-level security applies to the owner of table %s (FORCE), who restores the copy' % named(forced))
    roles = {row['name'] for row in source.ask(ROLES)} - {row['name'] for row in target.ask('SELECT rolname AS name FROM pg_roles')}
    if roles:
        raise Refused('policies of the source name role %s, which the new cluster does not have: create it with a PostgresUser' % named(sorted(roles)))


def counted(session):
    rows = {row['name']: row['rows'] for row in session.ask_each(COUNTS)}
    (large,) = session.ask('SELECT count(*)::text AS rows FROM pg_largeobject_metadata')
    return {**rows, 'large objects': large['rows']}


def program(name, side, *options):
    return subprocess.run([PROGRAMS + '/' + name, '--no-password', *options], env=environment(side), text=True, errors='replace',
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def dump(snapshot):
    done = program('pg_dump', 'source', '--format=directory', '--jobs=' + JOBS, '--file=' + DIRECTORY + '/dump', '--snapshot=' + snapshot,
                   '--no-sync', '--encoding=UTF8', '--no-owner', '--no-privileges', '--no-publications', '--no-subscriptions',
                   '--no-security-labels', '--no-tablespaces')
    if done.returncode != 0:
        words = short(done.stderr)
        raise Refused(words) if re.search('permission denied|row-level security|server version mismatch|in encoding|for encoding', words) else Trouble(words)


def restore():
    done = program('pg_restore', 'target', '--exit-on-error', '--jobs=' + JOBS, '--no-owner', '--no-privileges', '--no-tablespaces',
                   '--dbname=' + os.environ['TARGET_PGDATABASE'], DIRECTORY + '/dump')
    if done.returncode != 0:
        words = short(done.stderr)
        transient = ('connection to server|closed the connection|could not (send|receive) data|SSL connection|SSL SYSCALL|terminating connection|'
                     'shutting down|starting up|read-only transaction|No space left|in recovery mode|canceling statement|deadlock detected|'
                     'too many clients')
        raise Trouble(words) if re.search(transient, words) else Refused(words)


def compare(here, there):
    different = ['%s: %s here, %s at the source' % (name, here.get(name, 'none'), there.get(name, 'none'))
                 for name in sorted(set(here) | set(there)) if here.get(name) != there.get(name)]
    if different:
        raise Refused('the copy has not the rows of the source: ' + named(different))


def changed_since(rows, transactions):
    """How many rows were written at the source since then. Not those of a transaction that is still open."""
    source = Session('source')
    (now,) = source.ask(TRANSACTIONS)
    is_quiet = now['seen'] == transactions and transactions.endswith(':')
    if not is_quiet:
        time.sleep(STATISTICS_SECONDS)
    (after,) = source.ask(WRITTEN)
    source.close()
    return 0 if is_quiet else abs(int(after['rows']) - rows)


def copy():
    target = connected('target')
    if target.ask(TABLES):
        raise Trouble('another attempt has begun with this copy')
    source = Session('source')
    check(source, target)
    (before,) = source.ask(WRITTEN)
    source.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    (snapshot,) = source.ask('SELECT pg_export_snapshot() AS name')
    (begun,) = source.ask(TRANSACTIONS)
    expected = counted(source)
    shutil.rmtree(DIRECTORY + '/dump', ignore_errors=True)
    dump(snapshot['name'])
    source.close()
    target.close()
    restore()
    target = Session('target')
    compare(counted(target), expected)
    target.run('ANALYZE')
    changes = changed_since(int(before['rows']), begun['seen'])
    if changes > 0 and not TAKES_CHANGES:
        raise Refused('%d rows were written at the source while it was copied, and are not in the copy: stop its clients' % changes)
    rows = sum(int(count) for name, count in expected.items() if name != 'large objects')
    words = '%d tables, %d rows, %d large objects' % (len(expected) - 1, rows, int(expected['large objects']))
    if changes > 0:
        words += '; %d rows that were written at the source meanwhile are missing' % changes
    target.run("COMMENT ON DATABASE \\"%s\\" IS '%s %s'" % (os.environ['TARGET_PGDATABASE'], MARK, words))
    target.close()
    return words


def say(words):
    print(words, flush=True)
    with open(MESSAGE, 'w', encoding='utf-8') as file:
        file.write(words)


def main():
    os.makedirs(DIRECTORY, exist_ok=True)
    try:
        say(copy())
    except Refused as error:
        say(str(error))
        sys.exit(3)
    except Trouble as error:
        say(str(error))
        sys.exit(1)


if __name__ == '__main__':
    main()
`,
  'exporter.sh': `#!/bin/sh
# Starts the exporter of one member. The owner of the database sets its search path: that does not count here.
set -eu
export DATA_SOURCE_URI="$HOST:$PORT/$DATABASE?sslmode=verify-full&sslrootcert=$CONFIG/ca.crt&connect_timeout=5&statement_timeout=5000&default_transaction_read_only=on&application_name=exporter&search_path=pg_catalog&role=none"
export DATA_SOURCE_PASS_FILE="$CONFIG/password"
exec /usr/bin/prometheus-postgres-exporter --web.listen-address=":$METRICS_PORT" --extend.query-path="$CONFIG/queries.yaml" --collector.database_wraparound
`,
  'import.py': `"""Makes the first member's data of a PostgreSQL that runs elsewhere: a base backup, which then follows the source until a
person cuts over. Then it is promoted, gets the operator's roles, is stopped in order and moved to where Patroni looks.

Nobody reaches its server. What it does is told to who asks \`GET /patroni\` with a certificate, at Patroni's port; the operator
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
`,
  'import_copy.py': `"""The server of the copy, which nobody else reaches, and what only it can tell of the data."""
import os
import re
import signal
import subprocess
import sys
import threading
import time

from import_record import CONFIG, COPY, PROGRAMS, TEMPORARY, Refused, Trouble, children, locks, record, run, short, write
from import_source import conninfo, control, lsn, quoted


LEAST = {
    'max_connections': 'max_connections', 'max_worker_processes': 'max_worker_processes', 'max_wal_senders': 'max_wal_senders',
    'max_prepared_transactions': 'max_prepared_xacts', 'max_locks_per_transaction': 'max_locks_per_xact',
}


class Follower:
    """The server of the copy."""

    def __init__(self, source):
        self.source = source
        self.child = None
        self.problem = None

    def start(self, is_own=False):
        setting = lambda value: "'" + str(value).replace('\\\\', '\\\\\\\\').replace("'", "''") + "'"
        settings = {
            'primary_conninfo': conninfo(self.source), 'primary_slot_name': record.get('slot') or '',
            'recovery_target_timeline': 'current', 'hot_standby': 'on', 'listen_addresses': '',
            'unix_socket_directories': TEMPORARY, 'hba_file': write(TEMPORARY + '/pg_hba.conf', 'local all all trust\\n'),
            'ident_file': write(TEMPORARY + '/pg_ident.conf', ''), 'shared_buffers': self.source['settings']['shared_buffers'],
            'dynamic_shared_memory_type': 'mmap', 'wal_log_hints': 'on', 'wal_level': 'replica', 'ssl': 'off', 'jit': 'off',
            'autovacuum': 'off', 'archive_mode': 'off', 'logging_collector': 'off', 'log_timezone': 'UTC', 'lc_messages': 'C',
            'password_encryption': 'scram-sha-256', 'wal_receiver_timeout': '20s', 'max_logical_replication_workers': 0,
            # A server that follows may not have less of these than its source. The control file has what it had last: Patroni goes by that.
            **{name: self.source['settings'][name] if is_own else control(entry + ' setting') for name, entry in LEAST.items()},
            'max_replication_slots': 10,
        }
        lines = ['%s = %s\\n' % (name, setting(value)) for name, value in settings.items()]
        config = write(TEMPORARY + '/postgresql.conf', ''.join(lines))
        # That of a server of another pod: none runs, since this one has the lock.
        if os.path.lexists(COPY + '/postmaster.pid'):
            os.remove(COPY + '/postmaster.pid')
        self.problem = None
        self.child = subprocess.Popen([PROGRAMS + '/postgres', '-D', COPY, '-c', 'config_file=' + config],
                                      stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors='replace',
                                      pass_fds=locks)
        children.append(self.child)
        threading.Thread(target=self.listen, args=(self.child.stderr,), daemon=True).start()
        until = time.monotonic() + 3600
        while not self.is_open():
            if self.child.poll() is not None:
                raise Trouble('the server of the copy has ended: ' + (self.problem or 'see its log'))
            if time.monotonic() > until:
                raise Trouble('the server of the copy is not consistent after an hour')
            time.sleep(0.2)

    def is_open(self):
        answer = run([*self.psql(), '-c', 'select 1'])
        if 'role "postgres" does not exist' in answer.stderr:
            raise Refused('the source has no role postgres: Patroni needs that superuser')
        if 'is incompatible with operating system' in answer.stderr or 'locale' in answer.stderr:
            raise Refused('the image cannot open the databases of the source: ' + short(answer.stderr))
        return answer.returncode == 0

    def listen(self, output):
        for line in output:
            sys.stderr.write(line)
            sys.stderr.flush()
            if re.search(r'\\] (FATAL|ERROR|PANIC): ', line):
                self.problem = short(line.split(']', 1)[-1])

    def psql(self, database='postgres'):
        return [PROGRAMS + '/psql', '-X', '-q', '-A', '-t', '-w', '-F', '\\t', '-v', 'ON_ERROR_STOP=1', '-h', TEMPORARY, '-U', 'postgres',
                '-d', 'dbname=%s options=%s' % (quoted(database), quoted(OPTIONS))]

    def sql(self, text, database='postgres'):
        answer = run([*self.psql(database), '-c', text], timeout=120)
        if answer.returncode != 0:
            raise Trouble('the server of the copy: ' + short(answer.stderr))
        return [line.split('\\t') for line in answer.stdout.splitlines()]

    def stop(self):
        if self.child is None or self.child.poll() is not None:
            return
        self.child.send_signal(signal.SIGINT)
        if self.child.wait() != 0:
            raise Trouble('the server of the copy was not stopped in order')

    def end(self):
        """What is replayed, of what has been received."""
        ((received_end, replayed, paused),) = self.sql(
            "select coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), pg_last_wal_replay_lsn(), pg_get_wal_replay_pause_state()")
        return lsn(received_end), lsn(replayed), paused == 'paused'


# The source's own settings of roles and databases do not count.
OPTIONS = '-c search_path=pg_catalog -c default_transaction_read_only=off -c role=none'
OURS = "('clusterwright', 'clusterwright_pooler', 'clusterwright_monitor')"

# Through itself or a role that it is a member of, \`r\` has more than a role of a user. As \`powerOf\` of the operator.
POWERFUL = r"""exists (select from pg_roles p
  where (p.rolsuper or p.rolcreaterole or p.rolreplication or p.rolbypassrls or p.rolname in ('rewinder', 'clusterwright',
    'pg_read_all_data', 'pg_write_all_data', 'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files') and p.oid <> r.oid) and pg_has_role(r.oid, p.oid, 'member'))"""
# The operator's role has those whose passwords it sets.
MEMBERS_OF_OURS = """select distinct u.rolname from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles u on u.oid = m.member
  where r.rolname in %s and not u.rolsuper and (u.rolname <> 'clusterwright' or r.rolname = 'clusterwright')""" % OURS


def check_prepared(source):
    """A standby does not show prepared transactions, and they are there once it is promoted: a server with room for fewer does not start."""
    there, here = int(control('max_prepared_xacts setting')), int(source['settings']['max_prepared_transactions'])
    if there > here:
        raise Refused('max_prepared_transactions of the source is %d, and here it is %d: with transactions that are prepared the server would '
                      'not start. Set it to %d in spec.parameters' % (there, here, there))


def check_roles(follower):
    """Roles with the names of the operator's. Who has made them, or is a member of one, would have the rights of the operator here."""
    mighty = follower.sql("select rolname from pg_roles r where %s and rolname in "
                          "('rewinder', 'clusterwright_pooler', 'clusterwright_monitor') or (rolsuper or rolbypassrls) and rolname in "
                          "('replicator', 'clusterwright')" % POWERFUL)
    if mighty:
        raise Refused('the source has roles with the names of the operator’s that have more rights than these: %s'
                      % ', '.join(name for (name,) in mighty))
    own = follower.sql('select rolname from pg_roles where rolname in ' + OURS)
    schema = follower.sql("select r.rolname, r.rolsuper from pg_namespace join pg_roles r on r.oid = nspowner where nspname = 'clusterwright'")
    if len(own) + len(schema) not in (0, 4):
        raise Refused('the source has some of the roles and the schema of this operator, and not all: %s'
                      % ', '.join(['role ' + name for (name,) in own] + ['schema clusterwright'] * len(schema)))
    others = [*(name for name, is_super in schema if is_super != 't'), *(name for (name,) in follower.sql(MEMBERS_OF_OURS))]
    if others:
        raise Refused('roles or the schema of this operator belong to others at the source, who would have its rights here: %s'
                      % short(', '.join(others)))
    owner = follower.source['owner']
    if follower.sql("select 1 from pg_roles r where rolname = '%s' and %s" % (owner, POWERFUL)):
        raise Refused('role %s, which spec.initial names as owner, has more rights than a role of a user, and the operator would not set its '
                      'password: take these rights away at the source, or delete the cluster and create it with another owner' % owner)


def inspect(follower):
    """What only the copy can tell. Nothing of it is better after more of the log."""
    check_prepared(follower.source)
    rows = follower.sql("select rolname from pg_roles where rolsuper and rolname = 'postgres'")
    if not rows:
        raise Refused('role postgres of the source is no superuser, which Patroni needs')
    check_roles(follower)
    collations = []
    for name, there, here in follower.sql(
            "select datname, coalesce(datcollversion, ''), coalesce(pg_database_collation_actual_version(oid), '') from pg_database "
            "where datname <> 'template0' and datcollversion is distinct from pg_database_collation_actual_version(oid)"):
        collations.append('%s: %s there, %s here' % (name, there or 'unknown', here or 'unknown'))
    for (name,) in follower.sql('select datname from pg_database where datallowconn'):
        missing = follower.sql('select extname from pg_extension where extname not in (select name from pg_available_extensions)', name)
        if missing:
            raise Refused('database %s has extensions that the image does not have: %s' % (name, short(', '.join(row[0] for row in missing))))
    return collations[:8], notes_of(follower, collations)


def notes_of(follower, collations):
    """What a person has to know, and nothing waits for."""
    old = follower.sql("select rolname from pg_authid where rolpassword like 'md5%' and rolcanlogin")
    return [
        *('text is sorted in another way here, rebuild indexes after the cut-over: ' + one for one in collations[:4]),
        *(['passwords of these roles are stored as md5, and do not work here: ' + short(', '.join(row[0] for row in old))] if old else []),
        *(['the source has no max_slot_wal_keep_size, so that no slot is made: what it removes of its log before it is here ends the import']
          if record.get('slot') is None else []),
    ]


ROLES = r"""
select 'create role replicator' where not exists (select from pg_roles where rolname = 'replicator') \\gexec
select 'create role rewinder' where not exists (select from pg_roles where rolname = 'rewinder') \\gexec
-- Whoever is a member of these reads all data, and files of the server.
select format('revoke %I from %I granted by %I cascade', r.rolname, u.rolname, g.rolname) from pg_auth_members m
join pg_roles r on r.oid = m.roleid join pg_roles u on u.oid = m.member join pg_roles g on g.oid = m.grantor
where r.rolname in ('replicator', 'rewinder') \\gexec
alter role replicator login replication connection limit -1 valid until 'infinity';
alter role rewinder login connection limit -1 valid until 'infinity';
grant execute on function pg_catalog.pg_ls_dir(text, boolean, boolean), pg_catalog.pg_stat_file(text, boolean),
  pg_catalog.pg_read_binary_file(text), pg_catalog.pg_read_binary_file(text, bigint, bigint, boolean) to rewinder;
-- Since 16, a role with CREATEROLE may change only the roles that it has been given with ADMIN OPTION. Roles with more rights stay a person's.
select current_setting('server_version_num')::int >= 160000 as grants \\gset
\\if :grants
select format('grant %I to %I with admin true%s', r.rolname, :'operator', case when exists (
    select from pg_auth_members m join pg_roles o on o.oid = m.member where m.roleid = r.oid and o.rolname = :'operator'
  ) then '' else ', inherit false, set false' end)
from pg_roles r
where r.rolname <> :'operator' and r.rolname !~ '^(pg_|clusterwright|rewinder$)' and not """ + POWERFUL + r"""
\\gexec
\\endif
"""


def make_roles(follower):
    operator = os.environ['OPERATOR_ROLE']
    place = 'dbname=postgres user=postgres host=%s options=%s' % (quoted(TEMPORARY), quoted(OPTIONS))
    if not follower.sql("select 1 from pg_roles where rolname = '%s'" % operator):
        made = run(['/bin/sh', CONFIG + '/post-init.sh', place], timeout=120)
        if made.returncode != 0:
            raise Trouble('the roles of the operator could not be made: ' + short(made.stderr))
    made = run([*follower.psql(), '-v', 'operator=' + operator, '-f', write(TEMPORARY + '/roles.sql', ROLES)], timeout=120)
    if made.returncode != 0:
        raise Trouble('the roles of the operator could not be made: ' + short(made.stderr))
`,
  'import_record.py': `"""Where an import is on the volume, and what has been done of it. IMPORTED.json is written before what it says is relied on."""
import json
import os
import subprocess

CONFIG = os.environ['CONFIG_DIRECTORY']
DATA = os.environ['DATA_DIRECTORY']
VOLUME = os.path.dirname(DATA)
COPY = os.path.join(VOLUME, 'imported')
RECORD = COPY + '.json'
PROGRAMS = os.environ['PGBIN']
TEMPORARY = os.environ.get('IMPORT_DIRECTORY', '/tmp/import')

record = {}
# What this process has started, and the lock of the volume, which its servers hold as well.
children = []
locks = []


class Refused(Exception):
    """Something is not as it must be. It is looked at again, and nothing is done before a person has changed it."""


class Trouble(Exception):
    """It may pass by itself."""


def short(text, most=400):
    return ' '.join(str(text).split())[:most]


def sync(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remember(**facts):
    record.update(facts)
    with open(RECORD + '.new', 'w', encoding='utf8') as file:
        json.dump(record, file)
        file.flush()
        os.fsync(file.fileno())
    os.rename(RECORD + '.new', RECORD)
    sync(VOLUME)


def write(path, text):
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, 'w', encoding='utf8') as file:
        file.write(text)
    return path


def run(command, timeout=30, **options):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=timeout, encoding='utf8', errors='replace', **options)
    except subprocess.TimeoutExpired as error:
        raise Trouble('%s has not answered within %d s' % (os.path.basename(command[0]), timeout)) from error
`,
  'import_report.py': `"""What others are told of the import, and what they send: at the port and with the certificates of Patroni."""
import http.server
import json
import os
import socket
import socketserver
import ssl
import sys
import threading
import time

from import_record import TEMPORARY, record, remember, write

TLS = os.environ.get('TLS_DIRECTORY', '/etc/postgresql/tls')
# Who reaches the pod reaches the port. A call takes milliseconds, and only the operator and the kubelet make any.
CALL, CALLS = float(os.environ.get('IMPORT_CALL_SECONDS', '10')), 64


class Told:
    """What others are told, and what they have sent."""

    def __init__(self):
        self.lock = threading.Lock()
        self.facts = {'phase': 'waiting'}
        self.secrets = None
        self.wish = None

    def say(self, phase, **facts):
        with self.lock:
            if phase != self.facts['phase'] or facts.get('problem') != self.facts.get('problem'):
                print('import: %s %s' % (phase, facts.get('problem', '')), file=sys.stderr, flush=True)
            self.facts = {'phase': phase, **facts}

    def answer(self):
        with self.lock:
            digest = None if self.secrets is None else self.secrets['digest']
            return {'state': 'importing', 'import': {**self.facts, 'digest': digest, 'asked': record.get('asked'), 'refusal': record.get('refusal')}}


told = Told()
# Of the copy: kept where it does not follow for a while.
since = {}


class Handler(http.server.BaseHTTPRequestHandler):
    """The kubelet asks without a certificate; everything else needs one of Patroni's CA."""

    timeout = CALL

    def reply(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def is_known(self):
        return bool(self.connection.getpeercert())

    def do_GET(self):
        if self.path == '/liveness':
            return self.reply(200, {})
        if not self.is_known():
            return self.reply(403, {})
        return self.reply(503, told.answer() if self.path == '/patroni' else {})

    def do_POST(self):
        size = self.headers.get('Content-Length', '0')
        # Of a number below 0, everything would be read that comes.
        if not self.is_known() or not (size.isascii() and size.isdigit()) or len(size) > 6 or int(size) > 256 * 1024:
            return self.reply(403, {})
        body = json.loads(self.rfile.read(int(size)))
        if self.path == '/import':
            received(body)
        elif self.path == '/cut-over':
            with told.lock:
                told.wish = {'value': body.get('value')}
        else:
            return self.reply(404, {})
        return self.reply(200, {})

    def log_message(self, *_):
        pass


def end(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # The peer has ended it.
        pass


def received(body):
    """What the source wants to see of us. It is in memory, and in files of this pod that no disk has."""
    secrets = {'password': str(body['password']), 'ca': str(body.get('ca') or ''), 'digest': str(body['digest'])}
    entry = secrets['password'].replace('\\\\', '\\\\\\\\').replace(':', '\\\\:')
    write(TEMPORARY + '/ca.crt', secrets['ca'])
    write(TEMPORARY + '/pgpass', '*:*:*:*:%s\\n' % entry)
    with told.lock:
        told.secrets = secrets


class Server(socketserver.ThreadingTCPServer):
    """Each call has a thread, and as long as CALL in all. Of too many, the oldest ends: the kubelet is answered all the same."""

    allow_reuse_address = True
    daemon_threads = True
    # With few, the kernel drops what comes beside a burst, and sends it again only after a second.
    request_queue_size = 128

    def __init__(self, *where):
        self.calls = {}
        self.lock = threading.Lock()
        super().__init__(*where)

    def process_request(self, request, client_address):
        # TLS takes the socket away from \`request\`. What is ended here is the connection itself.
        own = request.dup()
        with self.lock:
            self.calls[request] = (own, time.monotonic())
            for call in list(self.calls.values())[:-CALLS]:
                end(call[0])
        try:
            super().process_request(request, client_address)
        except RuntimeError:
            # No thread has begun, which would close it.
            with self.lock:
                self.calls.pop(request)[0].close()
            raise

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.lock:
                self.calls.pop(request)[0].close()

    def service_actions(self):
        # A peer that sends a byte now and then never times out.
        with self.lock:
            for own, since in self.calls.values():
                if time.monotonic() - since > CALL:
                    end(own)

    def finish_request(self, request, client_address):
        # The files are renewed meanwhile.
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=TLS + '/patroni-ca.crt')
        context.load_cert_chain(TLS + '/patroni.crt', TLS + '/patroni.key')
        context.verify_mode = ssl.CERT_OPTIONAL
        request.settimeout(CALL)
        with context.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request, client_address):
        print('import: %s: %r' % (client_address[0], sys.exc_info()[1]), file=sys.stderr, flush=True)


def wanted_cut():
    """The request that is to be carried out. One that was refused stays refused until it is withdrawn."""
    with told.lock:
        wish, told.wish = told.wish, None
    if wish is not None and wish['value'] != record.get('asked'):
        remember(asked=wish['value'], refusal=None)
    return record.get('asked') if record.get('refusal') is None else None


def is_changed():
    """The request that is carried out has been withdrawn, or is another one now."""
    with told.lock:
        return told.wish is not None and told.wish['value'] != record.get('asked')
`,
  'import_source.py': `"""The PostgreSQL that runs elsewhere: what is asked of it, and the base backup. It is only read, but for a replication slot where
it limits what slots keep."""
import os
import re
import shutil
import subprocess

from import_record import COPY, PROGRAMS, TEMPORARY, Refused, Trouble, children, locks, record, remember, run, short, sync, write
from import_report import told


def quoted(value):
    return "'" + str(value).replace('\\\\', '\\\\\\\\').replace("'", "\\\\'") + "'"


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
    answer = run([PROGRAMS + '/psql', '-X', '-q', '-A', '-t', '-w', '-F', '\\t', '-c', command,
                  '-d', conninfo(source) + ' replication=true'])
    if answer.returncode != 0:
        raise Trouble('the source: ' + short(answer.stderr))
    return [line.split('\\t') for line in answer.stdout.splitlines()]


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
        progress = re.search(r'(\\d+)/(\\d+) kB', line)
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
    found = re.search('^' + re.escape(name) + r':\\s*(.*)$', answer.stdout, re.MULTILINE)
    if found is None:
        raise Trouble('pg_controldata: ' + short(answer.stderr or answer.stdout))
    return found[1].strip()
`,
  'import_verify.py': `"""Whether an import may end: all that the source has written is here, or a person has said where it ends."""
import os
import time

from import_copy import check_prepared
from import_record import COPY, PROGRAMS, Refused, Trouble, record, run, short
from import_report import since, told
from import_source import compared, control, identify, lsn_text

# What libpq says where nobody answers. A server that refuses a login is there, and may be written to.
SILENT = ('Connection refused', 'timeout expired', 'No route to host', 'Network is unreachable', 'could not translate host name',
          'Connection timed out', 'server closed the connection unexpectedly', 'Connection reset')
QUIET = float(os.environ.get('IMPORT_QUIET_SECONDS', '5'))


def verify(follower, value, collations):
    """Whether all that the source has written is here, or a person has said where it ends. Refused in words."""
    asked_for, *words = value.split(',')
    # The operator has compared the UID behind it.
    position = asked_for.split('@')[0]
    source = follower.source
    if collations and 'collations-differ' not in words:
        raise Refused('text is sorted in another way here than at the source, so that indexes on it are wrong until they are rebuilt '
                      '(%s): ask with %s,collations-differ, and run REINDEX afterwards' % ('; '.join(collations), asked_for))
    if follower.sql("select 1 from pg_subscription where subenabled"):
        raise Refused('the source has subscriptions of logical replication that are enabled: both would go on with them; disable them there')
    check_prepared(source)
    try:
        before = compared(identify(source))
    except Trouble as trouble:
        if not any(words in str(trouble) for words in SILENT):
            raise Refused('the source answers, and cannot be asked: %s' % trouble) from trouble
        return verify_alone(follower, position, str(trouble))
    if position != 'verified':
        raise Refused('the source answers: %s is only taken where it does not. Ask with verified@UID' % short(position, 40))
    told.say('cutting-over', message='the source is watched for %g s: it may write nothing any more' % QUIET, **since)
    time.sleep(QUIET)
    after = compared(identify(source))
    until = time.monotonic() + 30
    while follower.end()[1] < after['end']:
        if time.monotonic() > until:
            raise Refused('%d bytes are missing here after 30 s' % (after['end'] - follower.end()[1]))
        time.sleep(0.1)
    if after['end'] != before['end'] and not is_background(before['end'], after['end']):
        raise Refused('the source still writes: its log went from %s to %s within %g s. Stop the clients, or the server in order'
                      % (lsn_text(before['end']), lsn_text(after['end']), QUIET))
    return None


def records(start, end):
    answer = run([PROGRAMS + '/pg_waldump', '--path', COPY + '/pg_wal', '--timeline', str(record['timeline']),
                  '--start', lsn_text(start), '--end', lsn_text(end)], timeout=120)
    return [line for line in answer.stdout.splitlines() if line.startswith('rmgr:')]


def is_background(start, end):
    """A server that nobody writes to notes which transactions run, and makes checkpoints."""
    found = records(start, end)
    return bool(found) and all(line.split()[1] in ('Standby', 'XLOG') for line in found)


def verify_alone(follower, position, why):
    """The source does not answer."""
    until = time.monotonic() + 30
    received_end, replayed, _ = follower.end()
    while received_end != replayed and time.monotonic() < until:
        time.sleep(0.1)
        received_end, replayed, _ = follower.end()
    here = lsn_text(replayed)
    if position == here:
        return
    if position not in ('verified', 'stopped'):
        raise Refused('%s is asked for, and the copy is at %s' % (short(position, 40), here))
    if not ends_in_order(replayed):
        raise Refused('the source does not answer (%s), and was not stopped in order as far as its log is here: it may have written '
                      'more. If what it has beyond %s is to be given up, ask with %s' % (short(why, 200), here, here))
    # It may have been started again where the copy does not reach it. Only a person knows.
    if position != 'stopped':
        raise Refused('the source does not answer (%s), and was stopped in order at %s. If nobody has started it since, '
                      'ask with stopped@UID in place of verified@UID' % (short(why, 200), here))


def ends_in_order(end):
    """The last that a server writes when it is stopped in order is a checkpoint."""
    size = int(control('Bytes per WAL segment'))
    first = max((end - 1) // size * size - size, 0) or size
    # The segment before may not be there.
    lines = records(first, end) or records((end - 1) // size * size, end)
    return bool(lines) and 'CHECKPOINT_SHUTDOWN' in lines[-1]
`,
  'locked.py': `"""Runs a command while it has the lock of a volume: locked.py DIRECTORY COMMAND...

A pod that somebody has deleted by force may still be at work on its volume while the next one starts. The servers that the
command starts inherit the lock, so it is free only when all of them have ended. It is that of start.sh and import.py. A file system
without locks keeps nobody from working.
"""
import fcntl
import os
import sys

def take_lock(directory):
    """Held until every process that inherits it has ended. NFS locks only what is open for writing."""
    mask = os.umask(0)
    try:
        lock = os.open(os.path.join(directory, 'clusterwright.lock'), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print('another container is still at work on the volume: its end is waited for', file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        os.set_inheritable(lock, True)
    except OSError as error:
        print('the volume cannot be locked: %s' % error, file=sys.stderr, flush=True)
    finally:
        os.umask(mask)


directory, command = sys.argv[1], sys.argv[2:]
take_lock(directory)
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
  digest=$(cat "$CONFIG"/* \${SHOWN:+"$SHOWN"/*} | sha256sum)
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
# It makes the role of the operator, which is no superuser: all in one transaction, since that role says that the rest is there.
set -eu
psql="\${PGBIN:?}/psql"
exec "$psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=operator="\${OPERATOR_ROLE:?}" "$1" <<'SQL'
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
select :SERVER_VERSION_NUM >= 160000 as grants \\gset
\\if :grants
grant clusterwright_pooler, clusterwright_monitor to :"operator" with admin true, inherit false, set false;
\\endif
commit;
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
    """Patroni of this pod; nobody else can listen here. Who does not answer cannot stop PostgreSQL either. After a probe that has failed
    there are five seconds for all of it."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        answer = opener.open('https://127.0.0.1:%s/patroni' % os.environ['REST_PORT'], timeout=1)
    except urllib.error.HTTPError as error:
        answer = error
    except OSError:
        return True
    return json.load(answer).get('pause') is True


if paused():
    stop = [os.environ['PGBIN'] + '/pg_ctl', 'stop', '-D', os.environ['DATA_DIRECTORY'], '-m', 'fast', '-w', '-t', '100']
    sys.exit(subprocess.call(stop))
`,
  'relabel.py': `"""What a member does in Kubernetes besides Patroni: relabel.py ACTION ROLE SCOPE, or relabel.py begin-anew.

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
    """Whether anybody has ever had the lock. Then commits may have been acknowledged, whatever \`initialize\` says."""
    return any(name in leader for name in ('leader', 'acquireTime', 'renewTime', 'optime')) or 'leader' in sync_state


def begin_anew(space, scope, data, wal, me):
    """Patroni makes \`initialize\` empty before it makes a database, and gives it the identifier when the database is finished, before it
    takes the lock. Nobody takes an empty one back when Patroni has ended in between: then no member ever leads, or it does so with a database
    that lacks roles. Only one member forms, and it has the lock of its volume: so nobody else is at work on the database.

    Patroni takes the lock also if it could not write the identifier, and repairs that in its next round. So an empty one proves nothing where
    anybody has had the lock: such data stays where it is, and Patroni writes the identifier when it starts on it.

    Where Patroni finds that it cannot make the database, it takes \`initialize\` back before it moves what it has made, and may end in between. That
    is moved aside as well where the file FORMING says that it was made here. Other data without \`initialize\` may have come from elsewhere: Patroni
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
`,
  'start.sh': `#!/bin/sh
# Starts Patroni, but for a member that has had data and one of whose volumes is blank. Commits may have been acknowledged
# because this member had them, and under its name nobody may come who does not. The operator replaces it by another one.
# A member that imports data goes on once it has it.
#
# Where the log has a volume of its own, pg_wal leads to it. After a restore it is still a directory of the data: it is
# moved before the first start.
#
# A copy of the primary's data that was cut off is removed: Patroni would wait for a person. So is a new database that was not finished.
# This may be killed at any point, and run again.
set -eu
data=\${DATA_DIRECTORY:?} wal=\${WAL_DIRECTORY:-}
start=$(cat "\${CONFIG_DIRECTORY:?}/start" 2>/dev/null || echo join)
refuse() { echo "$2" >&2; exit "$1"; }
# It has a lock of its own on the volume, and ends with this script.
if [ "$start" = import ] && [ -z "\${IMPORT_IS_DONE:-}" ]; then exec python3 -IS "$CONFIG_DIRECTORY/import.py"; fi

# Of a command that may wait for long. The first process of a container is not ended by a signal that it has no trap for.
trap 'exit 143' TERM
waiting() { "$@" & wait $!; }

# The container of a pod that was deleted by force may still be at work on the volume when the next one starts on the same node. Patroni keeps
# the file open, and with it the lock, until its container ends. Jobs that change the volume take the same lock: see locked.py. A file system
# without locks keeps nobody from starting. NFS locks only what is open for writing, so it is a file and not the directory.
locking='
import fcntl, sys
say = lambda words: print(words, file=sys.stderr, flush=True)
try:
    try:
        fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("another container is still at work on the volume: its end is waited for")
        fcntl.flock(9, fcntl.LOCK_EX)
except OSError as error:
    say("the volume cannot be locked: %s" % error)
'
lock=\${data%/*}/clusterwright.lock
# Members may run as another user later. Where the file cannot be opened, the shell would end.
if (umask 0; : 9<> "$lock") 2>/dev/null; then
  exec 9<> "$lock"
  waiting python3 -IS -c "$locking"
elif [ -e "$(dirname "$lock")" ]; then
  echo "the volume cannot be locked: $lock cannot be opened for writing" >&2
fi

# The copy is complete before anything leads to it, and what is copied is removed last.
move_log() {
  if [ -e "$wal" ] && [ ! -e "$wal.moving" ]; then
    refuse 1 "$data/pg_wal and $wal are both logs: nothing is started before a person has removed the wrong one"
  fi
  touch "$wal.moving"
  sync
  rm -rf "$wal"
  cp -a "$data/pg_wal" "$wal"
  sync
  mv "$data/pg_wal" "$data/pg_wal.moved"
}

link_log() {
  [ -d "$wal" ] || refuse 79 "the volume of the log is blank, and this member has had data"
  [ -L "$data/pg_wal" ] || ln -s "$wal" "$data/pg_wal"
  sync
  rm -rf "$data/pg_wal.moved"
}

# pg_basebackup makes pg_wal, writes backup_label first and pg_control last. A server removes backup_label and needs pg_control: none has
# ever started on such data. A process that still copies to it finds no directory any more, and ends.
is_cut_off() {
  [ "$start" = join ] && [ ! -s "$data/global/pg_control" ] || return 1
  [ -f "$data/backup_label" ] || [ "$(ls -A "$data" 2>/dev/null)" = pg_wal ]
}

remove_copy() {
  echo "a copy of the data was cut off: it is removed, and begun anew" >&2
  if [ -n "$wal" ]; then
    log=$(readlink "$data/pg_wal" || true)
    case $log in "$wal" | "$wal".*) rm -rf "$log" ;; esac
  fi
  mv "$data" "$data.cut-off"
}

# A volume that an earlier cluster of the name has used belongs to its user. What nobody can look into is not blank.
for directory in "$data" "$data/global"; do
  if [ -d "$directory" ] && ! { [ -r "$directory" ] && [ -x "$directory" ]; }; then
    refuse 1 "$directory may not be read by user $(id -u): its data belongs to user $(stat -c %u "$directory")"
  fi
done

if is_cut_off; then remove_copy; fi
rm -rf "$data.cut-off"
[ "$start" = form ] || rm -f "\${data%/*}/clusterwright.forming"
if [ "$start" = form ]; then waiting python3 -IS "$CONFIG_DIRECTORY/relabel.py" begin-anew; fi

if [ -s "$data/global/pg_control" ]; then
  if [ -n "$wal" ]; then
    if [ -d "$data/pg_wal" ] && [ ! -L "$data/pg_wal" ]; then move_log; fi
    if [ -d "$data/pg_wal.moved" ]; then link_log; fi
    rm -f "$wal.moving"
  fi
  if [ -L "$data/pg_wal" ] && [ ! -d "$data/pg_wal" ]; then
    refuse 79 "the volume of the log is blank, and this member has had data"
  fi
elif [ "$start" = resume ]; then
  refuse 78 "the volume is blank, and this member has had data"
elif [ -n "$wal" ] && [ -e "$wal" ] && [ -z "$(ls -A "$data" 2>/dev/null)" ]; then
  refuse 78 "the volume is blank, and that of the log is not"
fi

# Patroni 4.0.7 that is reloaded after its files have changed does not read its renewed certificate. They change once: what forms a
# cluster goes. So it gets them as they are at its start. None of an earlier start may be left.
files=\${FILES_DIRECTORY:-/tmp/patroni}
rm -rf "$files"
mkdir "$files"
cp "$CONFIG_DIRECTORY"/*.yml "$files"
exec patroni "$files"
`,
  'upgrade.sh': `#!/bin/sh
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
: "\${OLD:?}" "\${NEW:?}" "\${MESSAGE:=/dev/termination-log}" "\${VOLUME:=/var/lib/postgresql}"
: "\${PARAMETERS:=}" "\${PROGRAMS:=/usr/lib/postgresql}" "\${SOCKET:=/var/run/postgresql}" "\${SUPERUSER:=postgres}" "\${OPERATOR_ROLE:=clusterwright}"
export LC_ALL=C.UTF-8
data=$VOLUME/data new=$VOLUME/data.new-$NEW kept=$VOLUME/data.old-$OLD linked=$VOLUME/linked-$OLD-$NEW
newwal=\${WAL_DIRECTORY:+$WAL_DIRECTORY.$NEW}
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
    if has "$OLD" "$name" && ! has "$NEW" "$name"; then unknown="$unknown\${unknown:+, }$name"; fi
  done
  if [ -n "$unknown" ]; then echo "PostgreSQL $NEW does not have these settings of spec.parameters: $unknown. Remove them" | refuse; fi
}

# The copy is recovered by the old server, as after a crash.
copy() {
  [ ! -e "$data" ] || echo "the volume for the copy is not empty" | refuse
  "$PROGRAMS/$OLD/bin/pg_basebackup" -d "$SOURCE" -D "$data" --checkpoint=fast --wal-method=stream \${NO_SLOT:+--no-slot} 2> "$log" || { tail -c 2000 "$log" | say; exit 1; }
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
  "$PROGRAMS/$NEW/bin/initdb" -D "$new" -U "$SUPERUSER" -E UTF8 --locale=C.UTF-8 --auth-local=peer --auth-host=reject \\
    --wal-segsize="$segment" --no-sync $checksums \${newwal:+--waldir=$newwal} > "$log" 2>&1 || { tail -c 2000 "$log" | say; exit 1; }
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
  export PGOPTIONS="$endless"
  options="$private $(bounds "$data")"
  set -- --old-bindir="$PROGRAMS/$OLD/bin" --new-bindir="$PROGRAMS/$NEW/bin" --old-datadir="$data" --new-datadir="$new" \\
    --username="$SUPERUSER" --socketdir="$SOCKET" --link --jobs="\${JOBS:-2}" --old-options="$options" \\
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
select format('alter collation %s.%I refresh version', namespace, name) from changed \\gexec
select format('alter database %I refresh collation version', current_database()) \\gexec
SQL
  sed -n 's/^WARNING:  \\(index .*\\)/\\1;/p' "$log" >> /tmp/warnings
}

# Indexes that no query may use, those that enforce something first. The operator is told by a setting of the database where to look for these from
# now on: it sees settings of all databases in each of them, and indexes of one.
invalid() {
  PGDATABASE=$1 PGOPTIONS=$own sql -v ON_ERROR_STOP=1 > "$log" 2>&1 <<'SQL' || { tail -c 2000 "$log" | say; exit 1; }
create temporary view invalid as
select i.indexrelid::regclass as one, i.indisprimary or i.indisunique or i.indisexclusion or i.indisreplident as enforces
from pg_index i join pg_class r on r.oid = i.indexrelid where r.relkind = 'i' and not i.indisvalid;
select format('alter database %I set clusterwright.invalid_indexes = on', current_database()) where exists (select from invalid where enforces) \\gexec
select format('alter database %I reset clusterwright.invalid_indexes', current_database()) where not exists (select from invalid where enforces)
and exists (select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) one
  where d.datname = current_database() and s.setrole = 0 and starts_with(one, 'clusterwright.invalid_indexes=')) \\gexec
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
select format('alter extension %I update', name) from pg_available_extensions where installed_version <> default_version \\gexec
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
\\gexec
SQL
  fi
  # So that the operator's Job may collect the rest of the statistics while the database serves.
  if [ "$NEW" -ge 17 ]; then sql -d postgres -c "grant pg_maintain to \\"$OPERATOR_ROLE\\"" 2>> /tmp/warnings || true; fi
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
  tls="sslmode=\${SSL_MODE:-verify-full} sslrootcert=$TLS/ca.crt connect_timeout=10"
  if [ "$NEW" -ge 17 ]; then
    "$PROGRAMS/$NEW/bin/vacuumdb" --all --analyze-only \\
      --maintenance-db="host=$PRIMARY user=$OPERATOR_ROLE dbname=postgres sslcert=$TLS/tls.crt sslkey=$TLS/tls.key $tls" \\
      > "$log" 2>&1 || { tail -c 2000 "$log" | say; exit 1; }
  fi
  if [ -n "\${AFTER_SQL:-}" ]; then
    "$PROGRAMS/$NEW/bin/psql" -X -q -v ON_ERROR_STOP=1 -c "$AFTER_SQL" \\
      "host=$PRIMARY user=$OWNER dbname=$FIRST_DATABASE channel_binding=\${CHANNEL_BINDING:-prefer} $tls" > "$log" 2>&1 || {
      { echo 'afterSql:' && tail -c 2000 "$log"; } > /tmp/words
      refuse < /tmp/words
    }
  fi
  echo 'state=done' | say
}

mode=\${1:-}
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
`,
} as const;
