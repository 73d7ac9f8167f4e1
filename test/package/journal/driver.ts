/** A journal, as the backup agent knows it. A dump is a line, then the entries, then their SHA-256. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AgentContext,
  ByteReader,
  type Driver,
  type Dump,
  defineDriver,
  Failure,
  isNoLaterMinor,
  keysLost,
  type Origin,
  openConnection,
  piecesInTime,
  placeOf,
  renameDurably,
  withTrailer,
  writeDurably,
} from 'clusterwright/driver';
import { type JournalDestination, type JournalSource, type JournalState, journalSchemas } from './schemas.js';

const checksumBytes = 32;
const file = 'journal';
const origin = 'restored-from.json';

async function dump({ members }: JournalSource, context: AgentContext): Promise<Dump<JournalState>> {
  const [member] = members;
  if (member === undefined) throw new Failure('BadTask', 'there is no member');
  const socket = await openConnection(member, undefined, context);
  const place = placeOf(member);
  const broken = (why: string): Failure => new Failure('SourceBroken', `${place}: ${why}`);
  const close = (): void => {
    socket.destroy();
  };
  const reader = new ByteReader(
    piecesInTime(socket, context, () => broken('no more comes'), close),
    broken,
  );
  const [, engineVersion, bytes, entries] = /^JOURNAL (\d+\.\d+) (\d+) (\d+)$/.exec(await reader.line()) ?? [];
  if (engineVersion === undefined) throw new Failure('SourceRefused', `${place} is no journal`);
  return {
    engineVersion,
    topology: { members: members.length, source: place, role: 'primary' },
    // A dump that is damaged is the source's fault: said here, before the target is blamed for it.
    content: check(reader.exactly(Number(bytes)), broken),
    state: () => ({ engine: 'journal', entries: Number(entries) }),
    close,
  };
}

function check(content: AsyncIterable<Uint8Array>, fault: (why: string) => Failure): AsyncIterable<Uint8Array> {
  const hash = createHash('sha256');
  const end = (trailer: Buffer): void => {
    if (!hash.digest().equals(trailer)) throw fault('the checksum of the journal does not fit');
  };
  return withTrailer(content, checksumBytes, (piece) => hash.update(piece), end);
}

async function begun({ directory }: JournalDestination): Promise<string | undefined> {
  if (!(await readdir(directory)).includes(origin)) return undefined;
  try {
    return (JSON.parse(await readFile(join(directory, origin), 'utf8')) as Origin).path;
  } catch (error) {
    // An attempt may be killed while it writes: what is incomplete was never begun.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function fill(
  destination: JournalDestination,
  from: Origin,
  content: () => AsyncIterable<Uint8Array>,
  { signal }: AgentContext,
): Promise<{ readonly isRepeated: boolean }> {
  const place = (name: string): string => join(destination.directory, name);
  const isBegun = (await begun(destination)) === from.path;
  if ((await readdir(destination.directory)).includes(file)) {
    if (isBegun) return { isRepeated: true };
    throw new Failure('Occupied', `${destination.directory} holds a journal`);
  }
  await writeDurably(place(origin), [Buffer.from(JSON.stringify(from))], signal);
  await writeDurably(place(`${file}.part`), content(), signal);
  await renameDurably(place(`${file}.part`), place(file));
  return { isRepeated: false };
}

export const journalDriver: Driver = defineDriver<JournalSource, JournalDestination, JournalState>({
  engine: 'journal',
  kind: 'JournalCluster',
  schemas: journalSchemas,
  dump,
  begun,
  fill,
  check,
  describe: ({ entries }) => ({ contents: { entries: String(entries) } }),
  lossSince(before, after) {
    const [had, has] = [before, after].map(({ id, state }) => ({
      id,
      keys: state.entries,
      hasData: state.entries > 0,
    }));
    return had === undefined || has === undefined ? undefined : keysLost(had, has);
  },
  canRead: isNoLaterMinor,
});
