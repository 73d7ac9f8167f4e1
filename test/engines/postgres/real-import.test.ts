/** The scripts of an import on real servers: a copy that follows, what it refuses, and what becomes of it when it is killed. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAuthority } from '../../support/etcd-certificates.ts';
import {
  type Import,
  type ImportOptions,
  importerHba,
  importRecord,
  startImport,
} from '../../support/postgres-import.ts';
import {
  initialise,
  openHome,
  type PostgresHome,
  type PostgresOptions,
  type PostgresProcess,
  startPostgres,
} from '../../support/postgres-process.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';

// The images with Patroni have Python.
const programs = [...postgresPrograms].filter(([, { root }]) => existsSync(join(root, 'usr/bin/python3')));

it.skipIf(programs.length === 0)('the sandbox has made images of PostgreSQL, whose servers run here', () => {
  expect(programs.length).toBeGreaterThan(0);
});

describe.each(programs)('an import of PostgreSQL %s', (version, program) => {
  let home: PostgresHome;
  let started: PostgresProcess[];
  let imports: Import[];
  /** What no version does in another way takes the time of one. */
  const once = it.skipIf(version !== programs[0]?.[0]);

  beforeEach(() => {
    home = openHome(program);
    started = [];
    imports = [];
  });
  afterEach(async () => {
    for (const one of imports) one.kill('SIGTERM');
    await Promise.all([...imports.map(({ ended }) => ended), ...started.map((server) => server.stop())]);
    home.remove();
  });

  const followed = async (server: Promise<PostgresProcess>): Promise<PostgresProcess> => {
    started.push(await server);
    return await server;
  };
  const begun = async (source: PostgresProcess, options: Partial<ImportOptions> = {}): Promise<Import> => {
    const one = await startImport(home, source, { version, ...options });
    imports.push(one);
    return one;
  };
  const sourceWith = async (config: readonly string[] = [], more: PostgresOptions = {}): Promise<PostgresProcess> => {
    if (!existsSync(join(home.directory, 'source'))) initialise(home, 'source');
    const server = await followed(
      startPostgres(home, 'source', { hba: importerHba, config: ['wal_keep_size = 0', ...config], ...more }),
    );
    await server.sql(
      "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'importer') THEN CREATE ROLE importer LOGIN REPLICATION PASSWORD 'import-me'; END IF; END $$",
    );
    return server;
  };
  const capped = ['max_slot_wal_keep_size = 64MB', 'max_connections = 37'];
  /** A copy that follows. */
  const following = async (source: PostgresProcess, options: Partial<ImportOptions> = {}): Promise<Import> => {
    const one = await begun(source, options);
    await one.open();
    await one.until(({ phase }) => phase === 'following');
    return one;
  };
  const replayed = (one: Import, source: PostgresProcess) => async (): Promise<void> => {
    const [[end] = []] = await source.sql("SELECT pg_current_wal_flush_lsn() - '0/0'");
    await one.until((seen) => (seen.replayed ?? 0) >= Number(end));
  };
  const result = (): Promise<PostgresProcess> => followed(startPostgres(home, 'volume/data'));
  /** Undefined while nobody answers. */
  const asked = (where: string, sql: string): string | undefined => {
    try {
      return home.run('psql', '-XqAt', '-d', where, '-c', sql).trim();
    } catch {
      return undefined;
    }
  };
  const slots = async (source: PostgresProcess): Promise<unknown> =>
    (await source.sql('SELECT slot_name FROM pg_replication_slots')).flat();

  it('follows the source, refuses to end while it writes, and has everything once the source was stopped in order', async () => {
    const source = await sourceWith(capped);
    await source.sql('CREATE TABLE t AS SELECT n FROM generate_series(1, 1000) AS n');
    await source.sql("ALTER SYSTEM SET archive_command = 'exit 1'");
    await source.sql(
      "SET password_encryption = 'md5'; CREATE ROLE old LOGIN PASSWORD 'x'; CREATE ROLE shop LOGIN PASSWORD 'y'",
    );
    const one = await following(source, { quietSeconds: 2 });
    expect((await one.seen())?.notes).toEqual([
      expect.stringContaining('stored as md5, and do not work here: old, shop'),
    ]);
    expect(await slots(source)).toEqual(['clusterwright_uid_1']);
    await source.sql('INSERT INTO t SELECT n FROM generate_series(1001, 2000) AS n');
    await replayed(one, source)();

    const writes: Promise<unknown>[] = [];
    const write = (): Promise<unknown> => source.sql('INSERT INTO t VALUES (0)').catch(() => undefined);
    const writing = setInterval(() => void writes.push(write()), 100);
    await one.cutOver('verified@uid-1');
    const { refusal } = await one.until((seen) => seen.refusal !== undefined);
    clearInterval(writing);
    // A write that is still under way would outlive the DELETE below.
    await Promise.all(writes);
    expect(refusal).toContain('the source still writes: its log went from');
    // The answer stays until the request is withdrawn.
    await source.sql('DELETE FROM t WHERE n = 0');
    await one.cutOver('verified@uid-1');
    expect((await one.seen())?.refusal).toBe(refusal);
    await one.cutOver(null);
    await one.until((seen) => seen.asked === undefined && seen.refusal === undefined);
    await source.sql('INSERT INTO t VALUES (2001)');
    await source.shutDown();
    await one.cutOver('verified@uid-1');
    // Another server may have been started on its data.
    expect((await one.until((seen) => seen.refusal !== undefined)).refusal).toContain('ask with stopped@UID');
    await one.cutOver(null);
    await one.until((seen) => seen.asked === undefined && seen.refusal === undefined);
    await one.cutOver('stopped@uid-1');
    expect([await one.ended, one.log()]).toEqual([0, expect.stringContaining('import: done')]);

    expect(readdirSync(join(home.directory, 'volume')).sort()).toEqual(['clusterwright.lock', 'data', 'imported.json']);
    expect(readFileSync(join(home.directory, 'volume/data/postgresql.auto.conf'), 'utf8')).toBe('');
    const copy = await result();
    expect(await copy.sql('SELECT count(*), max(n), left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM t')).toEqual([
      ['2001', '2001', '00000002'],
    ]);
    const roles = "SELECT rolname FROM pg_roles WHERE rolname ~ '^(clusterwright|re)' AND NOT rolsuper ORDER BY 1";
    expect((await copy.sql(roles)).flat()).toEqual([
      'clusterwright',
      'clusterwright_monitor',
      'clusterwright_pooler',
      'replicator',
      'rewinder',
    ]);
    if (Number(version) >= 16) {
      const admin =
        "SELECT r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = roleid WHERE admin_option AND member = 'clusterwright'::regrole AND r.rolname IN ('shop', 'old', 'importer', 'postgres') ORDER BY 1";
      expect((await copy.sql(admin)).flat()).toEqual(['old', 'shop']);
    }
    expect(home.run('pg_controldata', '-D', '/data/volume/data')).toMatch(/max_connections setting: +100\n/);
  });

  it('ends while a source answers that writes nothing, and drops its slot', async () => {
    const source = await sourceWith(capped);
    await source.sql('CREATE TABLE t AS SELECT 1 AS n; CHECKPOINT');
    const one = await following(source, { quietSeconds: 3 });
    await one.cutOver('0/3000148');
    expect((await one.until((seen) => seen.refusal !== undefined)).refusal).toContain('the source answers');
    await one.cutOver(null);
    await one.until((seen) => seen.refusal === undefined);
    await one.cutOver('verified@uid-1');
    // What a server writes by itself.
    await one.until(({ message = '' }) => message.includes('is watched'));
    await source.sql('CHECKPOINT');
    expect(await one.ended).toBe(0);
    expect(await slots(source)).toEqual([]);
    expect(await (await result()).sql('SELECT n FROM t')).toEqual([['1']]);
  });

  it('does not end where the source is gone in disorder, but for a person who says where', async () => {
    const source = await sourceWith(capped);
    const one = await following(source);
    await source.sql("ALTER ROLE importer PASSWORD 'another'");
    await one.cutOver('verified@uid-1');
    expect((await one.until((seen) => seen.refusal !== undefined)).refusal).toMatch(
      /^the source answers, and cannot be asked: .*password/,
    );
    await one.cutOver(null);
    await one.until((seen) => seen.refusal === undefined);
    await source.stop();
    await one.cutOver('verified@uid-1');
    const { refusal = '', replayed: end = 0 } = await one.until((seen) => seen.refusal !== undefined);
    const position = `${Math.floor(end / 2 ** 32).toString(16)}/${(end % 2 ** 32).toString(16)}`.toUpperCase();
    expect(refusal).toContain('was not stopped in order as far as its log is here');
    expect(refusal).toContain(`ask with ${position}`);
    await one.cutOver('0/1');
    expect((await one.until((seen) => seen.asked === '0/1' && seen.refusal !== undefined)).refusal).toBe(
      `0/1 is asked for, and the copy is at ${position}`,
    );
    await one.cutOver(position);
    expect(await one.ended).toBe(0);
  });

  it('goes on where it was after it was killed, while it follows and after it was promoted', async () => {
    const source = await sourceWith(capped);
    const first = await following(source);
    const made = importRecord(home);
    first.kill('SIGKILL');
    await first.ended;
    await source.sql('CREATE TABLE t AS SELECT 2 AS n');
    const second = await following(source);
    await replayed(second, source)();
    expect(second.log()).not.toContain('import: copying');
    expect(importRecord(home)).toEqual(made);
    await second.cutOver('verified@uid-1');
    await second.until(({ phase, message = '' }) => phase === 'cutting-over' && message.includes('of its own'));
    second.kill('SIGKILL');
    await second.ended;
    expect(importRecord(home).state).toBe('promoting');
    const third = await begun(source);
    await third.open();
    expect(await third.ended).toBe(0);
    expect(await (await result()).sql('SELECT n FROM t')).toEqual([['2']]);
  });

  it('is promoted again where it was killed before the new timeline had begun', async () => {
    const source = await sourceWith(capped);
    await source.sql('CREATE TABLE t AS SELECT 3 AS n');
    const first = await following(source);
    await replayed(first, source)();
    const { replayed: end = 0 } = (await first.seen()) ?? {};
    await source.shutDown();
    first.kill('SIGKILL');
    await first.ended;
    // What PostgreSQL has left by then: the end of the old timeline, and no order to recover.
    const volume = join(home.directory, 'volume');
    rmSync(join(volume, 'imported/standby.signal'));
    const position = `${Math.floor(end / 2 ** 32).toString(16)}/${(end % 2 ** 32).toString(16)}`.toUpperCase();
    writeFileSync(join(volume, 'imported/pg_wal/00000002.history'), `1\t${position}\tno recovery target specified\n`);
    writeFileSync(join(volume, 'imported.json'), JSON.stringify({ ...importRecord(home), state: 'promoting' }));
    home.give(volume);
    const second = await begun(source);
    await second.open();
    expect(await second.ended).toBe(0);
    // The one after the file: on the first one, no server would start again.
    const found = 'SELECT n, left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM t';
    expect(await (await result()).sql(found)).toEqual([['3', '00000003']]);
  });

  once('does not cut over once the request is withdrawn, also where the pod was away meanwhile', async () => {
    const source = await sourceWith(capped);
    const slow = { quietSeconds: 4 } as const;
    const watched = async (one: Import): Promise<void> => {
      await one.cutOver('verified@uid-1');
      await one.until(({ message = '' }) => message.includes('is watched'));
    };
    const first = await following(source, slow);
    await watched(first);
    await first.cutOver(null);
    await first.until(({ phase, asked }) => phase === 'following' && asked === undefined);
    await watched(first);
    first.kill('SIGKILL');
    await first.ended;
    await source.shutDown();
    const second = await begun(source, slow);
    await second.open();
    const seen = await second.until(({ phase, replayed }) => phase === 'following' && replayed !== undefined);
    expect([seen.asked, importRecord(home).state]).toEqual([undefined, 'copied']);
  });

  once('makes all of the roles of the operator where it was killed while it made them', async () => {
    const source = await sourceWith(capped);
    const first = await following(source);
    await source.shutDown();
    const script = join(home.directory, 'config/post-init.sh');
    const half = readFileSync(script, 'utf8').replace('grant pg_monitor,', 'select pg_sleep(60);\ngrant pg_monitor,');
    writeFileSync(script, half);
    await first.cutOver('stopped@uid-1');
    const socket = 'host=/data/import user=postgres dbname=postgres';
    const isAsleep = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'";
    await expect.poll(() => asked(socket, isAsleep)).toBe('1');
    first.kill('SIGKILL');
    await first.ended;
    const second = await begun(source);
    await second.open();
    expect(await second.ended).toBe(0);
    const roles = "SELECT rolname FROM pg_roles WHERE rolname ~ '^clusterwright' ORDER BY 1";
    expect((await (await result()).sql(roles)).flat()).toEqual([
      'clusterwright',
      'clusterwright_monitor',
      'clusterwright_pooler',
    ]);
  });

  /** One at a time has the volume. */
  const ended = async (): Promise<void> => {
    for (const one of imports) one.kill('SIGTERM');
    await Promise.all(imports.map((one) => one.ended));
  };
  const blank = async (): Promise<void> => {
    await ended();
    rmSync(join(home.directory, 'volume'), { recursive: true });
  };
  const refusedFor = async (source: PostgresProcess, options: Partial<ImportOptions> = {}): Promise<string> => {
    await ended();
    const one = await begun(source, options);
    await one.open();
    const { problem = '' } = await one.until(({ phase }) => phase === 'refused');
    expect(existsSync(join(home.directory, 'volume/data'))).toBe(false);
    return problem;
  };

  it('refuses a source of another major version, without checksums, or that is a standby', async () => {
    const source = await sourceWith();
    expect(await refusedFor(source, { version: '16' })).toMatch(
      /the source is PostgreSQL \d+[.]\d+, and the new cluster is to run 16/,
    );
    expect(existsSync(join(home.directory, 'volume/imported'))).toBe(false);
    await source.shutDown();
    home.run('pg_checksums', '--disable', '-D', '/data/source');
    const without = await sourceWith();
    const problem = await refusedFor(without);
    expect(problem).toBe(
      'data_checksums of the source is off: damaged pages would not be noticed: stop it and run pg_checksums --enable',
    );
    await without.shutDown();
    writeFileSync(join(home.directory, 'source/standby.signal'), '');
    const standby = await followed(startPostgres(home, 'source', { hba: importerHba }));
    expect(await refusedFor(standby)).toBe('in_hot_standby of the source is on: it is a standby: name the primary');
  });

  once(
    'refuses what the copy tells: tablespaces, extensions that are not there, roles that are in the way',
    async () => {
      const source = await sourceWith();
      await source.sql("UPDATE pg_extension SET extname = 'nowhere'");
      expect(await refusedFor(source)).toBe('database postgres has extensions that the image does not have: nowhere');
      await blank();
      await source.sql("UPDATE pg_extension SET extname = 'plpgsql'; CREATE ROLE replicator SUPERUSER");
      expect(await refusedFor(source)).toContain('that have more rights than these: replicator');
      await blank();
      await source.sql('ALTER ROLE replicator NOSUPERUSER; CREATE ROLE clusterwright');
      expect(await refusedFor(source)).toBe(
        'the source has some of the roles and the schema of this operator, and not all: role clusterwright',
      );
      await blank();
      await source.sql('DROP ROLE clusterwright');
      home.run('../../../../bin/mkdir', '/data/space');
      await source.sql("CREATE TABLESPACE space LOCATION '/data/space'");
      expect(await refusedFor(source)).toContain('tablespaces of the source cannot be imported');
    },
  );

  once('refuses a volume that holds data, and the import of an earlier cluster', async () => {
    const source = await sourceWith();
    const one = await following(source);
    one.kill('SIGTERM');
    await one.ended;
    expect(await refusedFor(source, { uid: 'uid-2' })).toContain('the import of an earlier cluster');
    rmSync(join(home.directory, 'volume/imported.json'));
    expect(await refusedFor(source)).toBe('/data/volume/imported holds data: nothing is written over it');
  });

  it('stops where the source has removed a part of the log, or has begun another timeline', async () => {
    const source = await sourceWith();
    const first = await following(source);
    expect((await first.seen())?.notes).toEqual([expect.stringContaining('no max_slot_wal_keep_size')]);
    first.kill('SIGTERM');
    await first.ended;
    await source.sql('CREATE TABLE t AS SELECT n FROM generate_series(1, 10) AS n');
    for (let i = 0; i < 3; i++) await source.sql('SELECT pg_switch_wal(); INSERT INTO t VALUES (0); CHECKPOINT');
    const second = await begun(source);
    await second.open();
    expect((await second.until(({ phase }) => phase === 'refused')).problem).toContain('has removed part of the log');
    second.kill('SIGTERM');
    await second.ended;
    await source.shutDown();
    writeFileSync(join(home.directory, 'source/standby.signal'), '');
    const promoted = await followed(startPostgres(home, 'source', { hba: importerHba }));
    await promoted.sql('SELECT pg_promote()');
    const third = await begun(promoted);
    await third.open();
    expect((await third.until(({ phase }) => phase === 'refused')).problem).toBe(
      'the source is on timeline 2 now, and this copy follows timeline 1: the source has failed over or was recovered',
    );
  });

  once('does not send the password itself to a source that is not verified', async () => {
    const source = await sourceWith([], { hba: ['host replication importer all password'] });
    const one = await begun(source);
    await one.open();
    await one.until(({ problem }) => problem?.includes('server requested a cleartext password') === true);
  });

  once('waits where it may not log in, and takes a password that was corrected', async () => {
    const source = await sourceWith();
    const one = await begun(source);
    await one.open('wrong');
    expect((await one.until(({ problem }) => problem !== undefined)).problem).toContain(
      'password authentication failed for user "importer"',
    );
    expect(await one.tell('/import', { password: 'import-me', digest: 'e' }, false)).toBe(403);
    await one.open();
    await one.until(({ phase }) => phase === 'following');
  });

  once('checks the certificate of the source against the CA that it is told', async () => {
    const [authority, other] = [openAuthority(), openAuthority()];
    try {
      const certificates = authority.issue(['127.0.0.1']);
      const hba = ['hostssl replication importer all scram-sha-256', 'hostnossl all importer all reject'];
      const source = await sourceWith([], { certificates, hba });
      const one = await begun(source, { secured: true });
      await one.open('import-me', other.issue(['127.0.0.1'])['ca.crt']);
      expect((await one.until(({ problem }) => problem !== undefined)).problem).toContain('certificate verify failed');
      await one.open('import-me', certificates['ca.crt']);
      await one.until(({ phase }) => phase === 'following');
    } finally {
      for (const each of [authority, other]) each.close();
    }
  });

  it('does not end with subscriptions that would go on twice, and keeps what is prepared', async () => {
    const source = await sourceWith(['max_prepared_transactions = 5', ...capped]);
    await source.sql("CREATE SUBSCRIPTION s CONNECTION 'host=nowhere' PUBLICATION p WITH (connect = false)");
    await source.sql('UPDATE pg_subscription SET subenabled = true');
    await source.sql("BEGIN; CREATE TABLE t (); PREPARE TRANSACTION 'x'");
    expect(await refusedFor(source)).toContain('max_prepared_transactions of the source is 5, and here it is 0');
    await ended();
    const one = await following(source, { spec: { parameters: { max_prepared_transactions: '5' } } });
    await replayed(one, source)();
    await one.cutOver('verified@uid-1');
    expect((await one.until((seen) => seen.refusal !== undefined)).refusal).toContain(
      'subscriptions of logical replication',
    );
    await source.sql('UPDATE pg_subscription SET subenabled = false');
    await source.shutDown();
    await one.cutOver(null);
    await one.until((seen) => seen.refusal === undefined);
    await one.cutOver('stopped@uid-1');
    expect(await one.ended).toBe(0);
    const copy = await followed(startPostgres(home, 'volume/data', { config: ['max_prepared_transactions = 5'] }));
    expect(await copy.sql('SELECT gid FROM pg_prepared_xacts')).toEqual([['x']]);
  });
});
