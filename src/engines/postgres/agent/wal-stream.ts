/**
 * Streams the log of a server from a replication slot, cut into the files that the server has. A file counts as stored
 * when the next one is asked for: only then may the server remove it. When a timeline ends, the next one follows.
 */
import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { Failure } from '../../../engine/driver/failure.ts';
import { isAside, nextAnswer } from '../client/connection.ts';
import { formatLsn, type Lsn, segmentStart } from '../client/lsn.ts';
import { copyDoneMessage, queryMessage } from '../client/message.ts';
import { type Message, ProtocolError, type WholeMessage } from '../client/message-decoder.ts';
import { integer, lsn, question } from '../client/question.ts';
import { identifySystem, slotName, timelineHistory } from '../client/replication-commands.ts';
import { columnsIn, valuesIn } from '../client/rows.ts';
import { serverErrorIn } from '../client/server-error.ts';
import { statusMessage, walHeadIn } from '../client/wal-message.ts';
import type { Wire } from '../client/wire.ts';
import { confirmation, type StandbyHas } from './confirmation.ts';
import { type Segment, SegmentAssembly } from './segment.ts';
import { type PostgresSession, postgresFailure } from './session.ts';

/** Which timelines one has branched off from: a restore needs it to follow the right ones. */
export interface History {
  readonly kind: 'history';
  readonly name: string;
  readonly timeline: number;
  readonly content: string;
}

export type WalPiece = Segment | History;

export interface WalStreamOptions {
  readonly slot: string;
  /** The first byte that is wanted. The segment that it is in comes as a whole. */
  readonly from: { readonly timeline: number; readonly position: Lsn };
  /** A server of another database cluster is refused. */
  readonly systemId: string;
  readonly segmentBytes: number;
  /** What has come of a segment is given as well when it is so old, in milliseconds. Absent: whole ones only. */
  readonly unfinishedAfterMs?: number;
  /** Absent: the archive confirms what it has stored, without asking the standbys. */
  readonly standbyHas?: StandbyHas;
}

/** A server gives up on who says nothing for `wal_sender_timeout`: 60 s by default, 10 s for ours. */
const statusMs = 3_000;
/** A primary that stops waits for the answer. */
const standbyMs = 1_000;

/** Ends by failing: with the connection, or by the context's signal. A reader that stops ends the connection. */
export async function* streamWal(
  { connection, place }: PostgresSession,
  options: WalStreamOptions,
  context: AgentContext,
): AsyncGenerator<WalPiece, never, undefined> {
  const { slot, from, systemId, segmentBytes } = options;
  let stored = from.position;
  let isStreaming = false;
  let { timeline, position } = from;
  const confirmed = confirmation(options.standbyHas);
  const tell = (wantsReply: boolean): void => {
    if (!isStreaming) return;
    const { flushed, written } = confirmed.reported(stored);
    connection.wire.write(statusMessage(flushed, context.clock.now(), wantsReply, written));
  };
  // Also while a segment is being stored: the server ends connections that are silent.
  const stopTelling = regularly(context, Math.min(statusMs, context.idleMs / 3), () => tell(true));
  const stopAsking = regularly(context, standbyMs, () => {
    if (isStreaming) confirmed.ask(timeline, stored, () => tell(false));
  });
  try {
    const identity = await identifySystem(connection);
    if (identity.systemid !== systemId) {
      throw new Failure(
        'SourceRefused',
        `${place} is of the database cluster ${identity.systemid}, and not ${systemId}`,
      );
    }
    for (;;) {
      if (timeline > 1) {
        const { filename, content } = await timelineHistory(connection, timeline);
        yield { kind: 'history', name: filename, timeline, content };
      }
      const start = segmentStart(position, segmentBytes);
      const command = `START_REPLICATION SLOT ${slotName(slot)} PHYSICAL ${formatLsn(start)} TIMELINE ${timeline}`;
      connection.wire.write(queryMessage(command));
      const begun = await answerOf(connection.wire);
      if (begun.type === 'W') {
        isStreaming = true;
        const assembly = new SegmentAssembly(start, { timeline, segmentBytes, systemId });
        for await (const segment of segmentsOf(connection.wire, assembly, options, context, () => tell(false))) {
          yield segment;
          // It is asked for the next one: this one is stored.
          if (segment.end > stored) stored = segment.end;
          tell(false);
        }
        isStreaming = false;
        connection.wire.write(copyDoneMessage());
        ({ timeline, position } = await nextTimeline(connection.wire, await answerAfterStream(connection.wire)));
      } else ({ timeline, position } = await nextTimeline(connection.wire, begun));
      context.log.info({ timeline, position: formatLsn(position) }, 'the log goes on with another timeline');
    }
  } catch (error) {
    throw postgresFailure(error, place, context);
  } finally {
    stopTelling();
    stopAsking();
    isStreaming = false;
    connection.close();
  }
}

/** Calls again and again; the returned function ends it. */
function regularly({ clock }: Pick<AgentContext, 'clock'>, ms: number, call: () => void): () => void {
  let cancel = clock.after(ms, function again() {
    call();
    cancel = clock.after(ms, again);
  });
  return () => cancel();
}

async function answerOf(wire: Wire): Promise<WholeMessage> {
  const answer = await nextAnswer(wire);
  if (answer.type === 'E') throw serverErrorIn(answer.body);
  return answer;
}

/**
 * The server has ended its part of the stream, and still answers each status that it was told while the last piece was stored: it reads
 * them before the end of ours.
 */
async function answerAfterStream(wire: Wire): Promise<WholeMessage> {
  for (;;) {
    const message = await wire.next();
    if (message.kind === 'copy') {
      if (walHeadIn(message.bytes).kind !== 'keepalive') throw new ProtocolError('the log goes on after its end');
    } else if (message.type === 'E') throw serverErrorIn(message.body);
    else if (!isAside(message)) return message;
  }
}

/** Segments as they become whole, and what there is of the last one when the timeline ends. */
async function* segmentsOf(
  wire: Wire,
  assembly: SegmentAssembly,
  { unfinishedAfterMs }: WalStreamOptions,
  { clock }: AgentContext,
  reply: () => void,
): AsyncGenerator<Segment, void, undefined> {
  let given = assembly.position;
  let givenAt = clock.monotonic();
  let isLog = false;
  const receive = nextOrNothing(wire, clock);
  for (;;) {
    const wait = unfinishedAfterMs === undefined ? undefined : givenAt + unfinishedAfterMs - clock.monotonic();
    const isDue = wait !== undefined && wait <= 0;
    if (isDue) {
      const unfinished = assembly.position > given ? assembly.unfinished() : undefined;
      if (unfinished !== undefined) yield unfinished;
      [given, givenAt] = [assembly.position, clock.monotonic()];
      continue;
    }
    const message = await receive(wait);
    if (message === undefined) continue;
    if (message.kind === 'message') {
      if (isAside(message)) continue;
      switch (message.type) {
        case 'c': {
          const unfinished = assembly.unfinished();
          if (unfinished !== undefined) yield unfinished;
          return;
        }
        case 'E':
          throw serverErrorIn(message.body);
        // Of a server that stops.
        case 'C':
          throw new Error('the server has ended the stream');
        default:
          throw new ProtocolError(`the log is interrupted by a message ${message.type}`);
      }
    }
    let bytes = message.bytes;
    if (message.isFirst) {
      const head = walHeadIn(bytes);
      isLog = head.kind === 'log';
      if (head.kind === 'keepalive') {
        if (head.wantsReply) reply();
        continue;
      }
      if (head.start !== assembly.position) {
        throw new ProtocolError(
          `the log goes on at ${formatLsn(head.start)}, and not at ${formatLsn(assembly.position)}`,
        );
      }
      bytes = bytes.subarray(head.headBytes);
    } else if (!isLog) continue;
    for (const segment of assembly.add(bytes)) {
      yield segment;
      [given, givenAt] = [assembly.position, clock.monotonic()];
    }
  }
}

/** The next message; undefined when none has come in time. It is not lost: it is the next one, whenever it comes. */
function nextOrNothing(
  wire: Wire,
  clock: AgentContext['clock'],
): (ms: number | undefined) => Promise<Message | undefined> {
  let pending: Promise<Message> | undefined;
  return async (ms) => {
    const waited = pending ?? wire.next();
    pending = waited;
    // The part that stores a segment waits for nothing.
    waited.catch(() => undefined);
    let cancel = (): void => undefined;
    const late = new Promise<undefined>((resolve) => {
      if (ms !== undefined) cancel = clock.after(ms, () => resolve(undefined));
    });
    try {
      const message = await Promise.race([waited, late]);
      // Only now has anybody got it.
      if (message !== undefined) pending = undefined;
      return message;
    } finally {
      cancel();
    }
  };
}

const next = question<{ next_tli: number; next_tli_startpos: Lsn }>('START_REPLICATION', {
  next_tli: integer,
  next_tli_startpos: lsn,
});

/** What a server answers at the end of a timeline that is not its last: one row, and that it is ready. */
async function nextTimeline(
  wire: Wire,
  described: WholeMessage,
): Promise<{ readonly timeline: number; readonly position: Lsn }> {
  if (described.type !== 'T') throw new Error('the server has ended the stream');
  const columns = columnsIn(described.body);
  const row = await answerOf(wire);
  if (row.type !== 'D') throw new ProtocolError(`the next timeline is a message ${row.type}`);
  const [found] = next.rowsIn({ columns, rows: [valuesIn(row.body, columns.length)], tag: '' });
  for (let { type } = await answerOf(wire); type !== 'Z'; { type } = await answerOf(wire)) {
    if (type !== 'C') throw new ProtocolError(`a timeline ends with a message ${type}`);
  }
  if (found === undefined) throw new ProtocolError('there is no next timeline');
  return { timeline: found.next_tli, position: found.next_tli_startpos };
}
