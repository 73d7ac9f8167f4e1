/** Backups of real PostgreSQL servers: taken while somebody writes, checked, put back, started, compared. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentContext, expectResult } from '../support/agent-context.ts';
import { runPostgresAgent } from '../support/postgres-agent.ts';
import {
  initialise,
  openHome,
  type PostgresHome,
  type PostgresProcess,
  startPostgres,
  startStandby,
} from '../support/postgres-process.ts';
import { postgresPrograms } from '../support/postgres-program.ts';

const cluster = { namespace: 'apps', kind: 'PostgresCluster', name: 'db', uid: 'uid-1' };

describe.skipIf(postgresPrograms.size === 0).each([...postgresPrograms])('PostgreSQL %s', (major, program) => {
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
    await copy.stop();
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
});
