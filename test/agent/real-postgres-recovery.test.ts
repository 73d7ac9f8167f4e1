/** What makes a member's data of a backup, in the Job of a restore: run on real backups, killed at any point, and run again. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recoverCommand } from '../../src/engines/postgres/backup/recovery.ts';
import { paths } from '../../src/engines/postgres/names.ts';
import { expectResult } from '../support/agent-context.ts';
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
import { postgresCluster } from '../support/postgres-situation.ts';

const cluster = { namespace: 'apps', kind: 'PostgresCluster', name: 'db', uid: 'uid-1' };
const python = '../../../../bin/python3';
/** The timeline that is written to. The control file says the new one only after the next checkpoint. */
const timeline = 'SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)';
// The images with Patroni have Python.
const programs = [...essentialPrograms].filter(([, { root }]) => existsSync(join(root, 'usr/bin/python3')));

it.skipIf(programs.length === 0)('the sandbox has made images of PostgreSQL, whose servers run here', () => {
  expect(programs.length).toBeGreaterThan(0);
});

describe.each(programs)('a backup of PostgreSQL %s', (major, program) => {
  let home: PostgresHome;
  let started: PostgresProcess[];
  let volume: string;

  beforeEach(() => {
    home = openHome(program);
    started = [];
    volume = join(home.directory, 'volume');
    for (const name of ['volume', 'tmp']) mkdirSync(join(home.directory, name));
    home.give(join(home.directory, 'tmp'));
  });
  afterEach(async () => {
    await Promise.all(started.map((server) => server.stop()));
    home.remove();
  });

  const followed = async (server: Promise<PostgresProcess>): Promise<PostgresProcess> => {
    started.push(await server);
    return await server;
  };
  const primary = async (): Promise<PostgresProcess> => {
    initialise(home, 'primary');
    return await followed(startPostgres(home, 'primary', { config: ['wal_keep_size = 1GB'] }));
  };
  const target = () => ({ type: 'claim', directory: home.directory, prefix: 'backups' });
  const take = async (...members: readonly PostgresProcess[]) => {
    const source = {
      engine: 'postgres',
      user: 'postgres',
      members: members.map(({ port }) => ({ host: '127.0.0.1', port })),
    };
    const task = { task: 'take', cluster, purpose: { type: 'backup', name: 'now' }, source, target: target() };
    return expectResult(await runPostgresAgent(task), 'taken').backup;
  };
  /** As in a Job: in the volume, beside the data directory. */
  const fetching = () => {
    const destination = {
      engine: 'postgres',
      directory: join(volume, 'restored'),
      dataDirectory: join(volume, 'data'),
      version: major,
    };
    return runPostgresAgent({ task: 'fetch', target: target(), which: {}, destination });
  };
  const fetch = async (): Promise<boolean> => {
    const { isRepeated } = expectResult(await fetching(), 'fetched');
    home.give(volume);
    return isRepeated;
  };
  /** The command of the Job, in this test's volume. */
  const command = (): readonly string[] =>
    recoverCommand(postgresCluster({ version: major as '17' }))
      .slice(1)
      .map((part) => part.replaceAll(paths.volume, '/data/volume'))
      .map((part) => (part === '/tmp' ? '/data/tmp' : part));
  const recover = (): Promise<{ readonly code: number | null; readonly output: string }> => {
    const child = home.spawn(python, ...command());
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece: Buffer) => (output += String(piece)));
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
  };
  const copy = (): Promise<PostgresProcess> => followed(startPostgres(home, 'volume/data'));
  const put = (name: string, text = ''): void => {
    writeFileSync(join(volume, name), text);
    home.give(join(volume, name));
  };

  it('of a standby becomes a primary of its own, on a new timeline, with nothing that the old one had left', async () => {
    const source = await primary();
    const standby = await followed(startStandby(home, source, 'standby'));
    await source.sql('CREATE TABLE t AS SELECT n FROM generate_series(1, 1000) AS n');
    await take(source, standby);
    expect(await fetch()).toBe(false);
    expect(existsSync(join(volume, 'restored', 'standby.signal'))).toBe(true);
    put('restored/patroni.dynamic.json', '{"ttl": 1}');
    put('restored/postmaster.pid', '1\n');
    // As it was sent, this one would follow somebody; as it was configured, it would not start here.
    put('restored/postgresql.auto.conf', "work_mem = '77MB'\n");
    put('restored/postgresql.conf', "ssl = on\nssl_cert_file = '/nowhere'\nshared_buffers = '100TB'\n");

    const { code, output } = await recover();
    expect([code, output]).toEqual([0, expect.stringContaining('the backup is recovered')]);
    expect(readdirSync(volume).sort()).toEqual(['data', 'restored.recovering', 'restored.restored-from.json']);
    const left = readdirSync(join(volume, 'data'));
    for (const name of [
      'standby.signal',
      'recovery.signal',
      'patroni.dynamic.json',
      'postmaster.pid',
      'backup_label',
    ]) {
      expect(left).not.toContain(name);
    }
    // Each of them may be repeated, and changes nothing.
    expect(await fetch()).toBe(true);
    expect((await recover()).code).toBe(0);

    put('data/postgresql.conf');
    const restored = await copy();
    expect(await restored.sql('SELECT count(*), pg_is_in_recovery() FROM t')).toEqual([['1000', 'f']]);
    expect(await restored.sql(timeline)).toEqual([['00000002']]);
    expect(await restored.sql('SHOW work_mem')).toEqual([['4MB']]);
    await restored.shutDown();
    home.run('pg_checksums', '--check', '-D', '/data/volume/data');
  });

  it('goes on with more of the log, and is the same wherever its recovery was killed', async () => {
    const source = await primary();
    await source.sql('CREATE TABLE t (n int, v text)');
    await take(source);
    const rows = "INSERT INTO t SELECT n, repeat('x', 200) FROM generate_series(1, 40000) AS n";
    for (let i = 0; i < 4; i++) await source.sql(rows);
    await source.sql('SELECT pg_switch_wal()');
    await source.sql('CHECKPOINT');
    const log = join(home.directory, 'primary', 'pg_wal');
    const segments = readdirSync(log).filter((name) => /^[0-9A-F]{24}$/.test(name));

    await fetch();
    mkdirSync(join(volume, 'restored.wal'));
    for (const name of segments) copyFileSync(join(log, name), join(volume, 'restored.wal', name));
    home.give(volume);
    const passed = (milliseconds: number) => () => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
    /** The server has removed its order to recover, and perhaps not yet written the checkpoint that ends the recovery. */
    const ending = async (isOver: () => boolean) => {
      const order = join(volume, 'restored', 'recovery.signal');
      while (!existsSync(order) && !isOver()) await new Promise(setImmediate);
      while (existsSync(order) && !isOver()) await new Promise(setImmediate);
    };
    let kills = 0;
    for (const moment of [passed(50), passed(300), passed(800), ending, ending]) {
      let isOver = false;
      const running = recover().finally(() => {
        isOver = true;
      });
      await moment(() => isOver);
      if (existsSync(join(volume, 'data'))) break;
      kills += 1;
      // As a pod that is gone: what it had started goes with it, and what that was about to start.
      for (let found = pidsBelow(home.directory); found.length > 0; found = pidsBelow(home.directory)) kill(found);
      await running;
      // Its `/tmp` goes with it, too.
      for (const name of readdirSync(join(home.directory, 'tmp')))
        rmSync(join(home.directory, 'tmp', name), { force: true, recursive: true });
      await fetch();
    }
    expect(kills).toBeGreaterThan(0);
    // As the next pod of the Job, where the last one was killed at the end.
    if ((await recover()).code === 1) expect(await fetch()).toBe(false);
    const { code, output } = await recover();
    expect([code, output]).toEqual([0, expect.any(String)]);
    const restored = await copy();
    expect(await restored.sql('SELECT count(*) FROM t')).toEqual([['160000']]);
    expect(await restored.sql(timeline)).toEqual([['00000002']]);
  });

  it('begins again where the server was killed between the end of the recovery and the checkpoint that ends it', async () => {
    const source = await primary();
    await source.sql('CREATE TABLE t AS SELECT n FROM generate_series(1, 1000) AS n');
    await take(source);
    await fetch();
    // The server has given the label another name, and has removed its order to recover.
    put('restored.recovering');
    renameSync(join(volume, 'restored', 'backup_label'), join(volume, 'restored', 'backup_label.old'));

    expect(await recover()).toEqual({ code: 1, output: expect.stringContaining('begins again from the backup') });
    expect(readdirSync(volume).sort()).toEqual(['restored.recovering', 'restored.restored-from.json']);
    // As where that was killed while it removed the directory.
    mkdirSync(join(volume, 'restored.discarded'));
    expect(await fetch()).toBe(false);
    expect((await recover()).code).toBe(0);
    expect(readdirSync(volume).sort()).toEqual(['data', 'restored.recovering', 'restored.restored-from.json']);
    const restored = await copy();
    expect(await restored.sql('SELECT count(*) FROM t')).toEqual([['1000']]);
    expect(await restored.sql(timeline)).toEqual([['00000002']]);
  });

  it('is not put in place where a part of its log is there and cannot be read: that is not the end of the log', async () => {
    const source = await primary();
    await source.sql('CREATE TABLE t (n int)');
    await take(source);
    const log = join(home.directory, 'primary', 'pg_wal');
    for (let i = 0; i < 3; i++) await source.sql('INSERT INTO t VALUES (1); SELECT pg_switch_wal()');
    await source.sql('CHECKPOINT');
    const segments = readdirSync(log).filter((name) => /^[0-9A-F]{24}$/.test(name));
    await fetch();
    mkdirSync(join(volume, 'restored.wal'));
    for (const name of segments) copyFileSync(join(log, name), join(volume, 'restored.wal', name));
    home.give(volume);
    // As where the volume has no room for the copy, or does not give the file.
    const [, , broken = ''] = segments.sort();
    chmodSync(join(volume, 'restored.wal', broken), 0);

    const { code, output } = await recover();
    expect([code, output]).toEqual([1, expect.stringContaining('Permission denied')]);
    expect(readdirSync(volume)).not.toContain('data');
    chmodSync(join(volume, 'restored.wal', broken), 0o600);
    expect((await recover()).code).toBe(0);
    const restored = await copy();
    expect(await restored.sql('SELECT count(*) FROM t')).toEqual([['3']]);
  });

  it('that lacks a part of its log is not put in place, and the server says why', async () => {
    const source = await primary();
    await source.sql('CREATE TABLE t (n int)');
    await take(source);
    await fetch();
    execFileSync('sh', ['-c', `rm ${join(volume, 'restored/pg_wal')}/0*`]);
    const { code, output } = await recover();
    expect(code).toBe(1);
    expect(output).toMatch(/could not locate required checkpoint record|the server ended with 1 before/);
    expect(readdirSync(volume)).not.toContain('data');
  });

  it('is not put over data, whatever that is', async () => {
    const source = await primary();
    await take(source);
    await fetch();
    mkdirSync(join(volume, 'data'));
    put('data/PG_VERSION', '17\n');
    const { code, output } = await recover();
    expect([code, output]).toEqual([2, expect.stringContaining('holds PG_VERSION: nothing is written over data')]);
    expect(readFileSync(join(volume, 'data', 'PG_VERSION'), 'utf8')).toBe('17\n');
    await expect(fetching()).resolves.toMatchObject({ reason: 'Occupied', isTransient: false });
  });
});

function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

/** Processes that have the directory mounted, but for the servers of the test. */
function pidsBelow(directory: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return mounts.includes(directory) && (words.includes('/data/volume') || words.includes('startup'));
      } catch {
        return false;
      }
    });
}
