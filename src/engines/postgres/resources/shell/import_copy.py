"""The server of the copy, which nobody else reaches, and what only it can tell of the data."""
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
        setting = lambda value: "'" + str(value).replace('\\', '\\\\').replace("'", "''") + "'"
        settings = {
            'primary_conninfo': conninfo(self.source), 'primary_slot_name': record.get('slot') or '',
            'recovery_target_timeline': 'current', 'hot_standby': 'on', 'listen_addresses': '',
            'unix_socket_directories': TEMPORARY, 'hba_file': write(TEMPORARY + '/pg_hba.conf', 'local all all trust\n'),
            'ident_file': write(TEMPORARY + '/pg_ident.conf', ''), 'shared_buffers': self.source['settings']['shared_buffers'],
            'dynamic_shared_memory_type': 'mmap', 'wal_log_hints': 'on', 'wal_level': 'replica', 'ssl': 'off', 'jit': 'off',
            'autovacuum': 'off', 'archive_mode': 'off', 'logging_collector': 'off', 'log_timezone': 'UTC', 'lc_messages': 'C',
            'password_encryption': 'scram-sha-256', 'wal_receiver_timeout': '20s', 'max_logical_replication_workers': 0,
            # A server that follows may not have less of these than its source. The control file has what it had last: Patroni goes by that.
            **{name: self.source['settings'][name] if is_own else control(entry + ' setting') for name, entry in LEAST.items()},
            'max_replication_slots': 10,
        }
        lines = ['%s = %s\n' % (name, setting(value)) for name, value in settings.items()]
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
            if re.search(r'\] (FATAL|ERROR|PANIC): ', line):
                self.problem = short(line.split(']', 1)[-1])

    def psql(self, database='postgres'):
        return [PROGRAMS + '/psql', '-X', '-q', '-A', '-t', '-w', '-F', '\t', '-v', 'ON_ERROR_STOP=1', '-h', TEMPORARY, '-U', 'postgres',
                '-d', 'dbname=%s options=%s' % (quoted(database), quoted(OPTIONS))]

    def sql(self, text, database='postgres'):
        answer = run([*self.psql(database), '-c', text], timeout=120)
        if answer.returncode != 0:
            raise Trouble('the server of the copy: ' + short(answer.stderr))
        return [line.split('\t') for line in answer.stdout.splitlines()]

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

# Through itself or a role that it is a member of, `r` has more than a role of a user. As `powerOf` of the operator.
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
select 'create role replicator' where not exists (select from pg_roles where rolname = 'replicator') \gexec
select 'create role rewinder' where not exists (select from pg_roles where rolname = 'rewinder') \gexec
-- Whoever is a member of these reads all data, and files of the server.
select format('revoke %I from %I granted by %I cascade', r.rolname, u.rolname, g.rolname) from pg_auth_members m
join pg_roles r on r.oid = m.roleid join pg_roles u on u.oid = m.member join pg_roles g on g.oid = m.grantor
where r.rolname in ('replicator', 'rewinder') \gexec
alter role replicator login replication connection limit -1 valid until 'infinity';
alter role rewinder login connection limit -1 valid until 'infinity';
grant execute on function pg_catalog.pg_ls_dir(text, boolean, boolean), pg_catalog.pg_stat_file(text, boolean),
  pg_catalog.pg_read_binary_file(text), pg_catalog.pg_read_binary_file(text, bigint, bigint, boolean) to rewinder;
-- Since 16, a role with CREATEROLE may change only the roles that it has been given with ADMIN OPTION. Roles with more rights stay a person's.
select current_setting('server_version_num')::int >= 160000 as grants \gset
\if :grants
select format('grant %I to %I with admin true%s', r.rolname, :'operator', case when exists (
    select from pg_auth_members m join pg_roles o on o.oid = m.member where m.roleid = r.oid and o.rolname = :'operator'
  ) then '' else ', inherit false, set false' end)
from pg_roles r
where r.rolname <> :'operator' and r.rolname !~ '^(pg_|clusterwright|rewinder$)' and not """ + POWERFUL + r"""
\gexec
\endif
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
