"""Copies one database of a PostgreSQL that runs elsewhere, with pg_dump and pg_restore, into a database that the operator has made
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
            self.process.stdin.write(sql + end + '\n\\echo end-of-answer\n')
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        lines = []
        for line in self.process.stdout:
            if line == 'end-of-answer\n':
                return lines
            lines.append(line.rstrip('\n'))
        self.process.wait()
        self.words.seek(0)
        words = short('the %s: %s' % (self.side, self.words.read()))
        raise Refused(words) if re.search('permission denied|row-level security|password authentication failed|authentication method requirement|no pg_hba.conf', words) else Trouble(words)

    def ask(self, sql):
        return [json.loads(line) for line in self.run('SELECT row_to_json(answer) FROM (%s) answer' % sql)]

    def ask_each(self, sql):
        """Answers of the queries that this query makes. psql sends them as they are, and reads none of them."""
        return [json.loads(line) for line in self.run(sql, '\n\\gexec')]

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
    target.run("COMMENT ON DATABASE \"%s\" IS '%s %s'" % (os.environ['TARGET_PGDATABASE'], MARK, words))
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
