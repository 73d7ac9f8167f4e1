/** The log of real servers, streamed: the same bytes as in their own files, across failovers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSession } from '../../../src/engines/postgres/agent/session.ts';
import { streamWal, type WalPiece } from '../../../src/engines/postgres/agent/wal-stream.ts';
import { defaultSegmentBytes, type Lsn, parseLsn } from '../../../src/engines/postgres/client/lsn.ts';
import { createSlot, identifySystem, readSlot } from '../../../src/engines/postgres/client/replication-commands.ts';
import { agentContext } from '../../support/agent-context.ts';
import {
  initialise,
  openHome,
  type PostgresHome,
  type PostgresProcess,
  startPostgres,
  startStandby,
} from '../../support/postgres-process.ts';
import { essentialPrograms } from '../../support/postgres-program.ts';

const slot = 'archive';

it.skipIf(essentialPrograms.size === 0)('the sandbox has made images of PostgreSQL, whose servers run here', () => {
  expect([...essentialPrograms.keys()].length).toBeGreaterThan(0);
});

describe.each([...essentialPrograms])('PostgreSQL %s', (_, program) => {
  let home: PostgresHome;
  let started: PostgresProcess[];
  let systemId: string;
  let primary: PostgresProcess;

  beforeEach(async () => {
    home = openHome(program);
    initialise(home, 'primary');
    primary = await startPostgres(home, 'primary', { config: ["wal_keep_size = '512MB'"] });
    started = [primary];
    await inSession(primary, async ({ connection }) => {
      systemId = (await identifySystem(connection)).systemid;
    });
  });
  afterEach(async () => {
    await Promise.all(started.map((server) => server.stop()));
    home.remove();
  });

  const sessionOf = (server: PostgresProcess, context = agentContext()) =>
    openSession(
      { host: '127.0.0.1', port: server.port },
      { user: 'postgres', password: undefined, tls: undefined, context },
    );

  async function inSession<T>(
    server: PostgresProcess,
    talk: (session: Awaited<ReturnType<typeof sessionOf>>) => Promise<T>,
  ) {
    const session = await sessionOf(server);
    try {
      return await talk(session);
    } finally {
      session.connection.close();
    }
  }
  const slotOf = (server: PostgresProcess) => inSession(server, ({ connection }) => readSlot(connection, slot));
  const makeSlot = (server: PostgresProcess) =>
    inSession(server, async ({ connection }) => {
      await createSlot(connection, slot, 'permanent');
      return (await readSlot(connection, slot))?.restart ?? 0n;
    });
  async function streamed(
    server: PostgresProcess,
    position: Lsn,
    more: { unfinishedAfterMs?: number; timeline?: number; idleMs?: number } = {},
  ) {
    const { timeline = 1, idleMs, ...rest } = more;
    const context = agentContext(idleMs === undefined ? {} : { idleMs });
    const options = { slot, from: { timeline, position }, systemId, segmentBytes: defaultSegmentBytes, ...rest };
    return { context, pieces: streamWal(await sessionOf(server, context), options, context) };
  }
  /** The next one; fails where the stream has ended. */
  async function nextOf(pieces: AsyncGenerator<WalPiece>): Promise<WalPiece> {
    const { value, done } = await pieces.next();
    if (done) throw new Error('the stream has ended');
    return value;
  }
  /** A stream that has ended holds its slot for a moment, and nobody else gets it meanwhile. */
  const slotIsFree = () => expect.poll(() => primary.sql('SELECT active FROM pg_replication_slots')).toEqual([['f']]);
  const fileOf = (server: PostgresProcess, name: string): Buffer =>
    readFileSync(join(server.directory, 'pg_wal', name));
  const flushed = async (server: PostgresProcess): Promise<Lsn> => {
    const [[position] = []] = await server.sql('SELECT pg_current_wal_flush_lsn()');
    const lsn = parseLsn(position ?? '');
    if (lsn === undefined) throw new Error(`no position: ${position}`);
    return lsn;
  };
  const fill = (server: PostgresProcess) =>
    server.sql(
      "DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT repeat('x', 100) AS v FROM generate_series(1, 100000)",
    );

  it('comes in the files that the server has, and is kept until it is stored', async () => {
    const begun = await makeSlot(primary);
    await fill(primary);
    await fill(primary);
    const { pieces } = await streamed(primary, begun);
    const first = await nextOf(pieces);
    if (first.kind !== 'segment') throw new Error('a segment was expected');
    expect(first).toMatchObject({ isWhole: true, timeline: 1 });
    expect(first.bytes.equals(fileOf(primary, first.name))).toBe(true);
    // It has been given, and is not stored yet.
    expect((await slotOf(primary))?.restart).toBe(begun);
    const second = await nextOf(pieces);
    if (second.kind !== 'segment') throw new Error('a segment was expected');
    expect(second.start).toBe(first.end);
    expect(second.bytes.equals(fileOf(primary, second.name))).toBe(true);
    await expect.poll(async () => (await slotOf(primary))?.restart).toBe(first.end);
    await pieces.return(undefined as never);
    await slotIsFree();
    // Begun again, it goes on where it was, and nothing is missing.
    const again = await streamed(primary, first.end);
    const repeated = await nextOf(again.pieces);
    expect(repeated).toMatchObject({ name: second.name, isWhole: true });
    again.context.stop();
    await expect(again.pieces.next().then(() => nextOf(again.pieces))).rejects.toThrow(/the test stops it/);
  });

  it('comes before a file of it is full, where that is wanted', async () => {
    const begun = await makeSlot(primary);
    await primary.sql('CREATE TABLE small AS SELECT 1 AS n');
    const written = await flushed(primary);
    const { pieces, context } = await streamed(primary, begun, { unfinishedAfterMs: 20 });
    for (;;) {
      const piece = await nextOf(pieces);
      if (piece.kind !== 'segment') continue;
      expect(piece.isWhole).toBe(false);
      expect(piece.bytes.equals(fileOf(primary, piece.name).subarray(0, piece.bytes.length))).toBe(true);
      if (piece.end >= written) break;
    }
    context.stop();
  });

  it('loses nothing that comes while a part of a file is being stored', async () => {
    const begun = await makeSlot(primary);
    const { pieces, context } = await streamed(primary, begun, { unfinishedAfterMs: 20 });
    await primary.sql('CREATE TABLE small AS SELECT 1 AS n');
    for (let written = 0; written < 20; ) {
      const piece = await nextOf(pieces);
      if (piece.kind !== 'segment' || piece.isWhole) continue;
      expect(piece.bytes.equals(fileOf(primary, piece.name).subarray(0, piece.bytes.length))).toBe(true);
      // Before it has caught up, the server waits for the reader.
      if (piece.end < (await flushed(primary))) continue;
      // The reader waits for its next message meanwhile, and gets it.
      await primary.sql('INSERT INTO small VALUES (1)');
      await expect
        .poll(() => primary.sql('SELECT sent_lsn = pg_current_wal_flush_lsn() FROM pg_stat_replication'))
        .toEqual([['t']]);
      written += 1;
    }
    context.stop();
  });

  it('follows a standby that is promoted, onto its timeline', async () => {
    const standby = await startStandby(home, primary, 'standby');
    started.push(standby);
    const begun = await makeSlot(standby);
    await fill(primary);
    const { pieces, context } = await streamed(standby, begun);
    const first = await nextOf(pieces);
    expect(first).toMatchObject({ kind: 'segment', timeline: 1, isWhole: true });
    const pending = nextOf(pieces);
    await primary.stop();
    await standby.sql('SELECT pg_promote()');
    await fill(standby);
    await fill(standby);
    const found: WalPiece[] = [await pending];
    while (!found.some((piece) => piece.kind === 'segment' && piece.timeline === 2)) found.push(await nextOf(pieces));
    const [history] = found.filter(({ kind }) => kind === 'history');
    expect(history).toMatchObject({ name: '00000002.history', timeline: 2 });
    const segments = found.flatMap((piece) => (piece.kind === 'segment' ? [piece] : []));
    const [last, next] = segments.slice(-2);
    // The timeline ends within a file, and the next one has that file from its beginning.
    expect(last).toMatchObject({ timeline: 1, isWhole: false, start: next?.start });
    expect(next?.bytes.equals(fileOf(standby, next.name))).toBe(true);
    expect(next?.bytes.subarray(0, last?.bytes.length).equals(last?.bytes ?? Buffer.alloc(1))).toBe(true);
    context.stop();
  });

  it('follows it, too, where the end of the timeline takes longer to store than statuses are apart', async () => {
    const standby = await startStandby(home, primary, 'standby');
    started.push(standby);
    const begun = await makeSlot(standby);
    await fill(primary);
    const { pieces, context } = await streamed(standby, begun, { idleMs: 3_000 });
    const pending = nextOf(pieces);
    await primary.stop();
    await standby.sql('SELECT pg_promote()');
    let piece = await pending;
    while (piece.kind === 'segment' && piece.isWhole) piece = await nextOf(pieces);
    expect(piece).toMatchObject({ kind: 'segment', timeline: 1 });
    const replies = new Set<unknown>();
    await expect
      .poll(async () => replies.add((await standby.sql('SELECT reply_time FROM pg_stat_replication'))[0]?.[0]).size)
      .toBeGreaterThan(3);
    expect(await nextOf(pieces)).toMatchObject({ kind: 'history', timeline: 2 });
    context.stop();
  });

  it('is refused of another database cluster, of a slot that there is not, and where it has been removed', async () => {
    const begun = await makeSlot(primary);
    const context = agentContext();
    const from = { timeline: 1, position: begun };
    const options = { slot, from, systemId, segmentBytes: defaultSegmentBytes };
    const rows = [
      [{ ...options, systemId: '1' }, 'SourceRefused', /is of the database cluster \d+, and not 1/],
      [{ ...options, slot: 'nowhere' }, 'SourceRefused', /"nowhere" does not exist/],
      [{ ...options, from: { timeline: 1, position: 0n } }, 'SourceBroken', /has already been removed/],
      [{ ...options, from: { timeline: 7, position: begun } }, 'SourceBroken', /timeline 7|00000007/],
    ] as const;
    for (const [asked, reason, message] of rows) {
      await slotIsFree();
      const failure = await streamWal(await sessionOf(primary), asked, context)
        .next()
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: 'Failure', reason });
      expect(String((failure as Error).cause ?? failure)).toMatch(message);
    }
  });

  it('ends in words when the server does', async () => {
    const { pieces } = await streamed(primary, await makeSlot(primary));
    const pending = nextOf(pieces);
    pending.catch(() => undefined);
    await expect.poll(() => primary.sql('SELECT state FROM pg_stat_replication')).toEqual([['streaming']]);
    await primary.stop();
    await expect(pending).rejects.toMatchObject({ name: 'Failure', reason: 'SourceBroken' });
  });
});
