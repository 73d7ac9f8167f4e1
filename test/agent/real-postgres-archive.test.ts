/** The log of real servers in an archive: byte for byte, across failovers and lost slots, and restored from. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logStore, type WritableLogStore } from '../../src/agent/archive/log-store.ts';
import { container } from '../../src/agent/container.ts';
import { archiveReportPath, parseArchiveReport } from '../../src/backup/archive-report.ts';
import { agentContext, type TestContext } from '../support/agent-context.ts';
import { freePort } from '../support/free-port.ts';
import { runPostgresAgent } from '../support/postgres-agent.ts';
import {
  initialise,
  namesIn,
  openHome,
  type PostgresHome,
  type PostgresProcess,
  startPostgres,
  startStandby,
} from '../support/postgres-process.ts';
import { essentialPrograms } from '../support/postgres-program.ts';

const cluster = { namespace: 'apps', kind: 'PostgresCluster', name: 'db', uid: 'uid-1' };
const patience = { timeout: 60_000, interval: 100 };

it.skipIf(essentialPrograms.size === 0)('the sandbox has made images of PostgreSQL, whose servers run here', () => {
  expect([...essentialPrograms.keys()].length).toBeGreaterThan(0);
});

interface Running {
  readonly context: TestContext;
  readonly ended: Promise<unknown>;
  report(): Promise<ReturnType<typeof parseArchiveReport>>;
  stop(): Promise<void>;
}

describe.each([...essentialPrograms])('PostgreSQL %s', (_, program) => {
  let home: PostgresHome;
  let started: PostgresProcess[];
  let running: Running[];
  let primary: PostgresProcess;
  let store: WritableLogStore;

  const config = [
    "max_slot_wal_keep_size = '4MB'",
    "wal_keep_size = '0'",
    "min_wal_size = '2MB'",
    "max_wal_size = '4MB'",
  ];
  const target = () => ({ type: 'claim' as const, directory: home.directory, prefix: 'backups' });
  const keyFile = () => join(home.directory, 'key');

  beforeEach(async () => {
    home = openHome(program);
    writeFileSync(keyFile(), `${Buffer.alloc(32, 1).toString('base64')}\n`);
    initialise(home, 'primary', '--wal-segsize=1');
    primary = await startPostgres(home, 'primary', { config });
    started = [primary];
    running = [];
    const context = agentContext();
    const keys = await container.keys(keyFile(), context);
    store = logStore({ target: await container.openTarget(target(), context), keys }, cluster, context);
  });
  afterEach(async () => {
    await Promise.all(running.map((each) => each.stop()));
    await Promise.all(started.map((server) => server.stop()));
    home.remove();
  });

  async function archive(...members: readonly PostgresProcess[]): Promise<Running> {
    const port = await freePort();
    const context = agentContext();
    const task = {
      task: 'archive',
      cluster,
      source: {
        engine: 'postgres',
        user: 'postgres',
        members: members.map((each) => ({ host: '127.0.0.1', port: each.port })),
      },
      target: target(),
      encryptionKeyFile: keyFile(),
      port,
    };
    const ended = runPostgresAgent(task, context);
    const found: Running = {
      context,
      ended,
      async report() {
        try {
          const answer = await fetch(`http://127.0.0.1:${port}${archiveReportPath}`);
          return parseArchiveReport(await answer.text());
        } catch {
          return undefined;
        }
      },
      async stop() {
        context.stop();
        expect(await ended).toMatchObject({ result: 'failed', reason: 'Stopped' });
      },
    };
    running.push(found);
    return found;
  }

  it('ends when the encryption key is replaced, and goes on with the new one', async () => {
    const first = await archive(primary);
    await fill(primary, 1000);
    await expect.poll(async () => (await first.report())?.hasBase, patience).toBe(true);
    const [old, fresh] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
    writeFileSync(keyFile(), `${fresh}\n${old}\n`);
    expect(await first.ended).toMatchObject({
      reason: 'Stopped',
      message: `${keyFile()} has changed: the archive starts again with what it contains now`,
    });
    // The process would be gone.
    first.context.stop();
    const before = (await store.list()).map(({ name }) => name);
    const second = await archive(primary);
    await fill(primary, 20_000);
    const written = await positionOf(primary);
    await expect.poll(() => behind(primary, written), patience).toBeLessThanOrEqual(0);
    await second.stop();
    // As after the day on which nobody needs the old key any more.
    writeFileSync(keyFile(), `${fresh}\n`);
    const context = agentContext();
    const keys = await container.keys(keyFile(), context);
    const later = logStore({ target: await container.openTarget(target(), context), keys }, cluster, context);
    const names = (await later.list()).map(({ name }) => name).filter((name) => !before.includes(name));
    expect(names.length).toBeGreaterThan(1);
    for (const name of names) expect((await later.read(name)).length).toBeGreaterThan(0);
  });

  const fill = (server: PostgresProcess, rows = 20_000) =>
    server.sql(
      `CREATE TABLE IF NOT EXISTS t (v text); INSERT INTO t SELECT repeat('x', 100) FROM generate_series(1, ${rows})`,
    );
  const positionOf = async (server: PostgresProcess) =>
    String((await server.sql('SELECT pg_current_wal_flush_lsn()'))[0]?.[0]);
  /** In bytes, of what the slot still keeps. */
  const behind = async (server: PostgresProcess, position: string) =>
    Number(
      (
        await server.sql(
          `SELECT '${position}'::pg_lsn - restart_lsn FROM pg_replication_slots WHERE slot_name = 'archive'`,
        )
      )[0]?.[0] ?? Number.NaN,
    );
  const isArchived = (server: PostgresProcess, position: string) =>
    expect.poll(() => behind(server, position), patience).toBeLessThanOrEqual(0);

  /**
   * Every piece of the archive against the server's own file, where the server still has it. The primary may have sent the
   * archive more than this server had when it was promoted: of its old timeline, only what comes before that is the same.
   */
  async function compared(
    server: PostgresProcess,
    promotedAt?: { readonly segment: string; readonly offset: number },
  ): Promise<{ readonly same: number; readonly names: readonly string[] }> {
    let same = 0;
    const names: string[] = [];
    for (const { name } of await store.list()) {
      const file = name.split('/').at(-1) ?? '';
      names.push(file);
      let own: Buffer;
      try {
        own = readFileSync(join(server.directory, 'pg_wal', file));
      } catch {
        continue;
      }
      const whole = await store.read(name);
      const content = file === promotedAt?.segment ? whole.subarray(0, promotedAt.offset) : whole;
      expect(own.subarray(0, content.length).equals(content), name).toBe(true);
      same += 1;
    }
    return { same, names: names.sort() };
  }

  it('is the log byte for byte, takes its own base backup, and goes on where it was', async () => {
    const first = await archive(primary);
    await expect.poll(async () => (await first.report())?.hasBase, patience).toBe(true);
    await fill(primary);
    await isArchived(primary, await positionOf(primary));
    await first.stop();
    running.pop();
    // Less than the slot may keep.
    await fill(primary, 10_000);
    const end = await positionOf(primary);
    expect(await behind(primary, end)).toBeGreaterThan(0);
    const second = await archive(primary);
    await isArchived(primary, end);
    await expect.poll(async () => (await second.report())?.hasBase, patience).toBe(true);
    const { same, names } = await compared(primary);
    expect(same).toBeGreaterThan(1);
    const numbers = names.map((name) => Number.parseInt(name.slice(16), 16));
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    expect(await second.report()).toMatchObject({ state: 'following' });
  });

  it('follows a standby that is promoted, and holds its history', async () => {
    const standby = await startStandby(home, primary, 'standby', {});
    started.push(standby);
    const agent = await archive(primary, standby);
    await expect.poll(async () => (await agent.report())?.state, patience).toBe('following');
    await fill(primary, 5_000);
    await isArchived(primary, await positionOf(primary));
    // As Patroni does: the slot is on every member, and not ahead.
    await standby.sql("SELECT pg_create_physical_replication_slot('archive', true)");
    await fill(primary, 1_000);
    await primary.stop();
    await standby.sql('SELECT pg_promote()');
    await fill(standby, 5_000);
    await isArchived(standby, await positionOf(standby));
    const [[segment, offset] = []] = await standby.sql(
      "SELECT '00000001' || substr(file_name, 9), file_offset FROM pg_walfile_name_offset(split_part(pg_read_file('pg_wal/00000002.history'), E'\\t', 2)::pg_lsn)",
    );
    const { names } = await compared(standby, { segment: String(segment), offset: Number(offset) });
    expect(names).toContain('00000002.history');
    expect(names.some((name) => name.startsWith('00000002') && name.length === 24)).toBe(true);
    expect((await agent.report())?.gap).toBeUndefined();
  });

  it('does not go on where another server has begun the same timeline, also where what it holds of that ends with a file', async () => {
    const [one, other] = [await startStandby(home, primary, 'one', {}), await startStandby(home, primary, 'other', {})];
    started.push(one, other);
    const agent = await archive(primary, one);
    await expect.poll(async () => (await agent.report())?.hasBase, patience).toBe(true);
    const promote = async (server: PostgresProcess) => {
      await server.sql('SELECT pg_promote()');
      await server.sql("SELECT pg_create_physical_replication_slot('archive', true)");
    };
    await primary.shutDown();
    await promote(one);
    await fill(one, 3_000);
    await one.sql('SELECT pg_switch_wal()');
    const onTimeline = async () => (await store.list()).filter(({ name }) => /\/00000002\/0/.test(name));
    const end = await positionOf(one);
    await isArchived(one, end);
    await agent.stop();
    running.pop();
    expect((await onTimeline()).every(({ isWhole }) => isWhole)).toBe(true);
    await one.stop();

    await promote(other);
    const hasPassed = async () =>
      (await other.sql(`SELECT pg_current_wal_flush_lsn() > '${end}'::pg_lsn + 1048576 * 2`))[0]?.[0] === 't';
    while (!(await hasPassed())) await fill(other, 2_000);
    const second = await archive(other);
    await expect.poll(async () => (await second.report())?.problem?.reason, patience).toBe('Occupied');
  });

  it('restores what was committed after the base backup, and nothing after a point', async () => {
    const agent = await archive(primary);
    await expect.poll(async () => (await agent.report())?.hasBase, patience).toBe(true);
    await primary.sql('CREATE TABLE n AS SELECT 1 AS v');
    const [[point] = []] = await primary.sql("SELECT pg_create_restore_point('here')");
    await primary.sql('INSERT INTO n VALUES (2)');
    await fill(primary, 5_000);
    await isArchived(primary, await positionOf(primary));
    await primary.stop();
    const rows: (readonly [string, object | undefined, number])[] = [
      ['all', undefined, 2],
      ['named', { name: 'here' }, 1],
      ['position', { lsn: String(point) }, 1],
    ];
    mkdirSync(join(home.directory, 'volume'));
    for (const [name, until, count] of rows) {
      const log = {
        directory: join(home.directory, 'volume', `${name}.wal`),
        ...(until === undefined ? {} : { until }),
      };
      const directory = join(home.directory, 'volume', name);
      const fetched = await runPostgresAgent({
        task: 'fetch',
        which: {},
        target: target(),
        encryptionKeyFile: keyFile(),
        destination: { engine: 'postgres', directory, log },
      });
      expect(fetched).toMatchObject({ result: 'fetched' });
      writeFileSync(join(directory, 'recovery.signal'), '');
      home.give(join(home.directory, 'volume'));
      const targets = Object.entries(until ?? {}).map(([kind, value]) => `recovery_target_${kind} = '${value}'`);
      const copy = await startPostgres(home, `volume/${name}`, {
        config: [
          `restore_command = 'test -f /data/volume/${name}.wal/%f && cp /data/volume/${name}.wal/%f %p'`,
          "recovery_target_timeline = 'latest'",
          "recovery_target_action = 'promote'",
          ...targets,
        ],
      });
      started.push(copy);
      await expect.poll(() => copy.sql('SELECT pg_is_in_recovery()'), patience).toEqual([['f']]);
      expect(await copy.sql('SELECT count(*) FROM n')).toEqual([[String(count)]]);
    }
    const early = await runPostgresAgent({
      task: 'fetch',
      which: {},
      target: target(),
      encryptionKeyFile: keyFile(),
      destination: {
        engine: 'postgres',
        directory: join(home.directory, 'volume', 'early'),
        log: { directory: join(home.directory, 'volume', 'early.wal'), until: { time: '2020-01-01T00:00:00Z' } },
      },
    });
    expect(early).toMatchObject({ result: 'failed', reason: 'NotFound' });
  });

  it.each([1, 2])(
    'says that the log has a gap, and takes a base backup behind it, on timeline %i',
    async (timeline) => {
      if (timeline === 2) {
        const standby = await startStandby(home, primary, 'standby', { config });
        started.push(standby);
        await primary.stop();
        await standby.sql('SELECT pg_promote()');
        primary = standby;
      }
      const first = await archive(primary);
      await expect.poll(async () => (await first.report())?.hasBase, patience).toBe(true);
      await first.stop();
      running.pop();
      for (let round = 0; round < 6; round++) {
        await fill(primary, 30_000);
        await primary.sql('CHECKPOINT');
      }
      expect(await primary.sql("SELECT wal_status FROM pg_replication_slots WHERE slot_name = 'archive'")).toEqual([
        ['lost'],
      ]);
      const second = await archive(primary);
      await expect
        .poll(async () => second.context.lines.some((line) => line.includes('the log has a gap')), patience)
        .toBe(true);
      await isArchived(primary, await positionOf(primary));
      await expect.poll(async () => (await second.report())?.gap, patience).toBeUndefined();
      expect(await second.report()).toMatchObject({ state: 'following', hasBase: true });
      const folders = namesIn(join(home.directory, 'backups/apps/PostgresCluster/uid-1'));
      expect(folders.filter((name) => name !== 'archive')).toHaveLength(2);
    },
  );

  it('never replaces bytes by others', async () => {
    const first = await archive(primary);
    await expect.poll(async () => (await first.report())?.hasBase, patience).toBe(true);
    await first.stop();
    running.pop();
    const last =
      (await store.list())
        .map(({ name }) => name)
        .sort()
        .at(-1) ?? '';
    const before = await store.read(last);
    const other = Buffer.from(before);
    other.writeUInt8((other.readUInt8(other.length - 1) ^ 1) & 0xff, other.length - 1);
    await store.remove(last);
    await store.put({ kind: 'piece', name: last, content: other, isWhole: false, end: '' });
    const second = await archive(primary);
    await fill(primary, 100);
    await expect.poll(async () => (await second.report())?.problem?.reason, patience).toBe('Occupied');
    expect((await store.read(last)).equals(other)).toBe(true);
  });
});
