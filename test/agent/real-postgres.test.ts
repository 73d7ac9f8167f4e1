/** Backups of real PostgreSQL servers: taken while somebody writes, checked, put back, started, compared. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scramVerifier } from '../../src/engines/postgres/client/scram-verifier.ts';
import { agentContext, expectResult } from '../support/agent-context.ts';
import { stateOf } from '../support/backup-state.ts';
import { openAuthority } from '../support/etcd-certificates.ts';
import { runPostgresAgent } from '../support/postgres-agent.ts';
import {
  initialise,
  openHome,
  type PostgresHome,
  type PostgresProcess,
  startPostgres,
  startStandby,
} from '../support/postgres-process.ts';
import { essentialPrograms } from '../support/postgres-program.ts';

const cluster = { namespace: 'apps', kind: 'PostgresCluster', name: 'db', uid: 'uid-1' };

it.skipIf(essentialPrograms.size === 0)('the sandbox has made images of PostgreSQL, whose servers run here', () => {
  expect([...essentialPrograms.keys()].length).toBeGreaterThan(0);
});

describe.each([...essentialPrograms])('PostgreSQL %s', (major, program) => {
  let home: PostgresHome;
  let started: PostgresProcess[];

  beforeEach(() => {
    home = openHome(program);
    started = [];
    writeFileSync(join(home.directory, 'key'), `${Buffer.alloc(32, 1).toString('base64')}\n`);
    chmodSync(home.directory, 0o755);
  });
  afterEach(async () => {
    await Promise.all(started.map((server) => server.stop()));
    home.remove();
  });

  const target = () => ({ type: 'claim', directory: home.directory, prefix: 'backups' });
  const takeTask = (members: readonly PostgresProcess[], more: object = {}): object => ({
    task: 'take',
    cluster,
    purpose: { type: 'backup', name: 'now' },
    source: {
      engine: 'postgres',
      user: 'postgres',
      members: members.map(({ port }) => ({ host: '127.0.0.1', port })),
      ...more,
    },
    target: target(),
    encryptionKeyFile: join(home.directory, 'key'),
  });
  const fetchTask = (directory: string): object => ({
    task: 'fetch',
    target: target(),
    encryptionKeyFile: join(home.directory, 'key'),
    which: {},
    destination: { engine: 'postgres', directory, version: `${major}.99` },
  });
  const followed = async (server: Promise<PostgresProcess>): Promise<PostgresProcess> => {
    started.push(await server);
    return await server;
  };
  const primaryWith = async (config: readonly string[] = [], name = 'primary'): Promise<PostgresProcess> => {
    initialise(home, name);
    return await followed(startPostgres(home, name, { config }));
  };
  /** Starts what was put back. */
  const restored = (name: string): Promise<PostgresProcess> => {
    home.give(join(home.directory, name));
    return followed(startPostgres(home, name));
  };

  it('gives back every row, with its own checksums whole', async () => {
    const primary = await primaryWith();
    await primary.sql('CREATE TABLE t AS SELECT n, repeat(md5(n::text), 10) AS v FROM generate_series(1, 20000) AS n');
    await primary.sql('CREATE DATABASE other');
    await primary.sql("CREATE TABLE u AS SELECT 'ü' AS v", 'other');
    const sum = 'SELECT count(*), md5(string_agg(v, NULL ORDER BY n)) FROM t';
    const before = await primary.sql(sum);

    const taken = expectResult(await runPostgresAgent(takeTask([primary])), 'taken');
    expect(taken.backup).toMatchObject({ engine: 'postgres', encrypted: true, cluster });

    const volume = join(home.directory, 'volume');
    await expect(runPostgresAgent(fetchTask(join(volume, 'data')))).resolves.toMatchObject({ reason: 'BadTask' });
    mkdirSync(volume);
    const fetched = expectResult(await runPostgresAgent(fetchTask(join(volume, 'data'))), 'fetched');
    expect(fetched.isRepeated).toBe(false);
    expect(readdirSync(volume).sort()).toEqual(['data', 'data.restored-from.json']);
    expect(statSync(join(volume, 'data')).mode & 0o777).toBe(0o700);
    expect(statSync(join(volume, 'data', 'base')).mode & 0o777).toBe(0o700);
    expect(statSync(join(volume, 'data', 'PG_VERSION')).mode & 0o777).toBe(0o600);
    expectResult(await runPostgresAgent(fetchTask(join(volume, 'data'))), 'fetched');
    // The server's own tool agrees.
    home.give(volume);
    home.run('pg_verifybackup', '/data/volume/data');

    const copy = await restored('volume/data');
    expect(await copy.sql(sum)).toEqual(before);
    expect(await copy.sql('SELECT v FROM u', 'other')).toEqual([['ü']]);
    expect(await copy.sql('SELECT pg_is_in_recovery()')).toEqual([['f']]);
    expect(existsSync(join(volume, 'data', 'backup_label'))).toBe(false);
    await expect(runPostgresAgent(fetchTask(join(volume, 'data')))).resolves.toMatchObject({ reason: 'Occupied' });
    await copy.shutDown();
    home.run('pg_checksums', '--check', '-D', '/data/volume/data');
  });

  it('opens with tar and postgres alone', async () => {
    const primary = await primaryWith();
    await primary.sql('CREATE TABLE t AS SELECT 42 AS n');
    const { encryptionKeyFile: _, ...plain } = takeTask([primary]) as Record<string, unknown>;
    const { backup } = expectResult(await runPostgresAgent(plain), 'taken');
    const data = join(home.directory, 'backups/apps/PostgresCluster/uid-1', backup.id, 'data');
    mkdirSync(join(home.directory, 'opened'), { mode: 0o700 });
    execFileSync('tar', ['-xf', data, '-C', join(home.directory, 'opened')]);
    const copy = await restored('opened');
    expect(await copy.sql('SELECT n FROM t')).toEqual([['42']]);
  });

  const failed = (task: object, context = agentContext()) => runPostgresAgent(task, context);
  const backupsIn = (): readonly string[] => {
    const folder = join(home.directory, 'backups/apps/PostgresCluster/uid-1');
    return existsSync(folder) ? readdirSync(folder) : [];
  };

  it('is read from a standby that has everything, while somebody writes', async () => {
    const primary = await primaryWith();
    const standby = await followed(startStandby(home, primary, 'standby'));
    await primary.sql('CREATE TABLE ledger (n int)');
    let isOver = false;
    let acknowledged = 0;
    const writer = (async () => {
      for (; !isOver; acknowledged++) await primary.sql(`INSERT INTO ledger VALUES (${acknowledged + 1})`);
    })();
    // What fails before it is waited for is told then.
    writer.catch(() => undefined);
    await expect.poll(() => acknowledged).toBeGreaterThan(10);
    const before = acknowledged;
    const context = agentContext();
    const { backup } = expectResult(await runPostgresAgent(takeTask([primary, standby]), context), 'taken');
    isOver = true;
    await writer;
    expect(context.lines.join('')).toContain(`"source":"127.0.0.1:${standby.port}","role":"standby"`);
    expect(stateOf(home.directory, backup)).toMatchObject({ timeline: 1, segmentBytes: 16 * 1024 * 1024 });
    mkdirSync(join(home.directory, 'volume'));
    expectResult(await runPostgresAgent(fetchTask(join(home.directory, 'volume', 'data'))), 'fetched');
    const copy = await restored('volume/data');
    const [[count, last] = []] = await copy.sql('SELECT count(*), max(n) FROM ledger');
    expect(Number(count)).toBe(Number(last));
    expect(Number(count)).toBeGreaterThanOrEqual(before);
    // No slot of ours is left behind.
    expect(await standby.sql('SELECT count(*) FROM pg_replication_slots')).toEqual([['0']]);
  });

  it('is read from the primary where a standby does not catch up, and from nobody where there is no primary', async () => {
    const primary = await primaryWith();
    const standby = await followed(startStandby(home, primary, 'standby'));
    await standby.sql("ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'");
    await standby.sql('SELECT pg_reload_conf()');
    await expect.poll(() => standby.sql('SELECT count(*) FROM pg_stat_wal_receiver')).toEqual([['0']]);
    await primary.sql('CREATE TABLE acknowledged AS SELECT 1 AS n');
    const context = agentContext();
    expectResult(await runPostgresAgent(takeTask([standby, primary]), context), 'taken');
    expect(context.lines.join('')).toContain(`"source":"127.0.0.1:${primary.port}","role":"primary"`);
    expect(await failed(takeTask([standby]))).toMatchObject({
      reason: 'SourceBroken',
      isTransient: true,
      message: expect.stringMatching(/no primary answers/),
    });
  });

  it('refuses a standby that has the log and has not replayed it: the backup would lack it', async () => {
    const primary = await primaryWith();
    const standby = await followed(startStandby(home, primary, 'standby'));
    await standby.sql('SELECT pg_wal_replay_pause()');
    await primary.sql("CREATE TABLE t AS SELECT repeat('x', 100) AS v FROM generate_series(1, 300000)");
    expect(await failed(takeTask([primary, standby]))).toMatchObject({
      reason: 'SourceBroken',
      message: expect.stringMatching(/it ends at [0-9A-F/]+, and [0-9A-F/]+ was acknowledged before it began/),
    });
    expect(backupsIn()).toEqual([]);
  });

  it('is not mistaken for another database cluster', async () => {
    const primary = await primaryWith();
    const stranger = await primaryWith([], 'stranger');
    const own = expectResult(await runPostgresAgent(takeTask([primary])), 'taken');
    const { systemId } = stateOf(home.directory, own.backup) as { systemId?: string };
    expect(await failed(takeTask([primary, stranger]))).toMatchObject({
      reason: 'SourceBroken',
      message: expect.stringMatching(/is of the database cluster \d+, and .* of \d+/),
    });
    expect(await failed(takeTask([stranger], { systemId }))).toMatchObject({
      reason: 'SourceRefused',
      message: expect.stringMatching(/was expected/),
    });
    const context = agentContext();
    expectResult(await runPostgresAgent(takeTask([stranger, primary], { systemId }), context), 'taken');
    expect(context.lines.join('')).toContain(`"source":"127.0.0.1:${primary.port}"`);
  });

  it('is not read from a primary that has been replaced', async () => {
    const primary = await primaryWith();
    const promoted = await followed(startStandby(home, primary, 'promoted'));
    await promoted.sql('SELECT pg_promote()');
    const context = agentContext();
    expectResult(await runPostgresAgent(takeTask([primary, promoted]), context), 'taken');
    expect(context.lines.join('')).toContain(`"source":"127.0.0.1:${promoted.port}","role":"primary"`);
  });

  it('is refused, in words, with tablespaces, a wrong password, and without the right to replicate', async () => {
    const primary = await primaryWith();
    const tablespace = join(home.directory, 'elsewhere');
    mkdirSync(tablespace);
    home.give(tablespace);
    await primary.sql('CREATE ROLE nobody LOGIN');
    writeFileSync(join(home.directory, 'password'), 'wrong\n');
    expect(await failed(takeTask([primary], { user: 'nobody' }))).toMatchObject({
      reason: 'SourceRefused',
      isTransient: false,
    });
    expect(await failed(takeTask([primary], { passwordFile: join(home.directory, 'password') }))).toMatchObject({
      reason: 'SourceUnreachable',
      message: expect.stringMatching(/lets in without proving/),
    });
    await primary.sql("CREATE TABLESPACE elsewhere LOCATION '/data/elsewhere'");
    expect(await failed(takeTask([primary]))).toMatchObject({
      reason: 'SourceRefused',
      message: expect.stringMatching(/has tablespaces, and their files are not backed up: \/data\/elsewhere/),
    });
    expect(backupsIn()).toEqual([]);
  });

  it('is read over TLS, with a certificate or with a password, and with nothing else', async () => {
    const authority = openAuthority();
    const certificates = authority.issue(['127.0.0.1']);
    authority.close();
    const file = (name: string): string => join(home.directory, name);
    for (const [name, content] of Object.entries(certificates)) writeFileSync(file(`agent-${name}`), content);
    initialise(home, 'primary');
    const hba = [
      'hostssl replication by_certificate 127.0.0.1/32 cert clientname=DN map=members',
      'hostssl replication by_password 127.0.0.1/32 scram-sha-256',
      'host replication by_certificate,by_password 127.0.0.1/32 reject',
    ];
    const identities = ['members "O=members" by_certificate'];
    const primary = await followed(startPostgres(home, 'primary', { hba, identities, certificates }));
    const verifier = await scramVerifier('pencil', randomBytes(16));
    await primary.sql('CREATE ROLE by_certificate LOGIN REPLICATION');
    await primary.sql(`CREATE ROLE by_password LOGIN REPLICATION PASSWORD '${verifier}'`);
    writeFileSync(file('password'), 'pencil\n');
    writeFileSync(file('wrong'), 'pen\n');
    const tls = { caFile: file('agent-ca.crt') };
    const identified = { ...tls, certFile: file('agent-tls.crt'), keyFile: file('agent-tls.key') };
    const taking = (more: object) => runPostgresAgent(takeTask([primary], more));
    expectResult(await taking({ user: 'by_certificate', tls: identified }), 'taken');
    const context = agentContext();
    const secured = takeTask([primary], { user: 'by_password', tls, passwordFile: file('password') });
    expectResult(await runPostgresAgent(secured, context), 'taken');
    expect(context.lines.join('')).not.toContain('pencil');
    const refused = { result: 'failed', reason: 'SourceRefused', isTransient: false };
    expect(await taking({ user: 'by_password', tls, passwordFile: file('wrong') })).toMatchObject(refused);
    expect(await taking({ user: 'by_certificate', tls })).toMatchObject(refused);
    expect(await taking({ user: 'by_password', passwordFile: file('password') })).toMatchObject(refused);
  });

  it('fails when the standby that is read is promoted, and may be repeated', async () => {
    const primary = await primaryWith();
    await primary.sql("CREATE TABLE t AS SELECT repeat('x', 1000) AS v FROM generate_series(1, 100000)");
    const standby = await followed(startStandby(home, primary, 'standby'));
    const context = agentContext();
    const taking = failed(takeTask([primary, standby]), context);
    await expect.poll(() => context.lines.join('')).toContain('"role":"standby"');
    await standby.sql('SELECT pg_promote()');
    expect(await taking).toMatchObject({
      reason: 'SourceBroken',
      isTransient: true,
      message: expect.stringMatching(/the standby was promoted during online backup/),
    });
    expect(backupsIn()).toEqual([]);
  });

  it('fails where a page has another checksum than the server has written', async () => {
    const primary = await primaryWith();
    await primary.sql("CREATE TABLE t AS SELECT repeat('x', 1000) AS v FROM generate_series(1, 1000)");
    await primary.sql('CHECKPOINT');
    const [[path] = []] = await primary.sql("SELECT pg_relation_filepath('t')");
    const file = openSync(join(primary.directory, String(path)), 'r+');
    writeSync(file, 'damaged', 8192 * 3 + 4000);
    closeSync(file);
    expect(await failed(takeTask([primary]))).toMatchObject({
      result: 'failed',
      message: expect.stringMatching(/checksum verification failure during base backup/),
    });
    expect(backupsIn()).toEqual([]);
  });

  it('leaves nothing behind when it dies in the middle', async () => {
    const primary = await primaryWith();
    await primary.sql("CREATE TABLE t AS SELECT repeat('x', 1000) AS v FROM generate_series(1, 100000)");
    const context = agentContext();
    const taking = failed(takeTask([primary]), context);
    await expect.poll(() => context.lines.join('')).toContain('the base backup begins');
    await primary.stop();
    expect(await taking).toMatchObject({ reason: 'SourceBroken', isTransient: true });
    expect(backupsIn()).toEqual([]);
  });
});
