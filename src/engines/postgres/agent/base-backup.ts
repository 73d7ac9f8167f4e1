/**
 * `BASE_BACKUP`: a server copies its files into its connection, as a tar and a manifest, with the part of its log that
 * makes them consistent. What comes out here is one tar, of which the manifest is the last file.
 */
import { nextAnswer, type PostgresConnection } from '../client/connection.ts';
import { formatLsn, type Lsn } from '../client/lsn.ts';
import { queryMessage } from '../client/message.ts';
import { ProtocolError } from '../client/message-decoder.ts';
import { integer, lsn, optional, question, text } from '../client/question.ts';
import { columnsIn, type Result, type Value, valuesIn } from '../client/rows.ts';
import { serverErrorIn } from '../client/server-error.ts';
import type { Wire } from '../client/wire.ts';
import { longestManifest, manifestName } from './backup-manifest.ts';
import { fileHeader, paddingOf, TarReader, tarEnd } from './tar.ts';

/**
 * The checkpoint is not spread over minutes. The log is in the backup, so nobody waits until an archive has it, and the
 * server sends the files instead of writing them.
 */
const command =
  "BASE_BACKUP (LABEL 'clusterwright', PROGRESS true, CHECKPOINT 'fast', WAL true, WAIT false, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')";

const position = question<{ recptr: Lsn; tli: number }>(command, { recptr: lsn, tli: integer });
const tablespace = question<{ spcoid: string | undefined; spclocation: string | undefined }>(command, {
  spcoid: optional(text),
  spclocation: optional(text),
});

/** The database cannot be backed up in this form. */
export class Unsupported extends Error {
  override readonly name = 'Unsupported';
}

export interface BaseBackup {
  readonly timeline: number;
  readonly start: Lsn;
  /** A tar; to be read once, to its end. */
  readonly content: AsyncIterable<Uint8Array>;
  /** Once the content has been read. */
  end(): Lsn;
}

/** Resolves when the server has made its checkpoint. Throws ServerError, ProtocolError, Unsupported. */
export async function beginBaseBackup({ wire }: PostgresConnection): Promise<BaseBackup> {
  wire.write(queryMessage(command));
  const { recptr: start, tli: timeline } = only(position.rowsIn(await resultOf(wire)));
  const tablespaces = tablespace.rowsIn(await resultOf(wire)).filter(({ spcoid }) => spcoid !== undefined);
  if (tablespaces.length > 0) {
    const places = tablespaces.slice(0, 3).map(({ spclocation }) => spclocation ?? '?');
    throw new Unsupported(`the database has tablespaces, and their files are not backed up: ${places.join(', ')}`);
  }
  const { type } = await answer(wire);
  if (type !== 'H') throw new ProtocolError(`a base backup begins with a message ${type}`);
  let end: Lsn | undefined;
  const content = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield* withManifest(wire);
    const ended = only(position.rowsIn(await resultOf(wire)));
    // A server that is promoted meanwhile fails the backup itself.
    if (ended.tli !== timeline) throw new ProtocolError('the timeline has changed during the backup');
    for (let { type } = await answer(wire); type !== 'Z'; { type } = await answer(wire)) {
      if (type !== 'C') throw new ProtocolError(`a base backup ends with a message ${type}`);
    }
    if (ended.recptr < start)
      throw new ProtocolError(`the backup ends at ${formatLsn(ended.recptr)}, before it begins`);
    end = ended.recptr;
  };
  return {
    timeline,
    start,
    content: content(),
    end() {
      if (end === undefined) throw new Error('the backup has not been read to its end');
      return end;
    },
  };
}

/** One answer, which is no refusal. */
async function answer(wire: Wire) {
  const message = await nextAnswer(wire);
  if (message.type === 'E') throw serverErrorIn(message.body);
  return message;
}

const mostRows = 1024;

async function resultOf(wire: Wire): Promise<Result> {
  const described = await answer(wire);
  if (described.type !== 'T') throw new ProtocolError(`a result begins with a message ${described.type}`);
  const columns = columnsIn(described.body);
  const rows: (readonly Value[])[] = [];
  for (;;) {
    const { type, body } = await answer(wire);
    if (type === 'C') return { columns, rows, tag: '' };
    if (type !== 'D' || rows.length === mostRows) throw new ProtocolError('a result does not end');
    rows.push(valuesIn(body, columns.length));
  }
}

function only<T>(rows: readonly T[]): T {
  const [row, ...more] = rows;
  if (row === undefined || more.length > 0) throw new ProtocolError('a position is one row');
  return row;
}

/** The tar without its end, then the manifest as a file of it, then the end. */
async function* withManifest(wire: Wire): AsyncGenerator<Uint8Array, void, undefined> {
  const tar = new TarReader();
  const manifest: Buffer[] = [];
  let manifestBytes = 0;
  for await (const { kind, bytes } of copied(wire)) {
    if (kind === 'manifest') {
      manifestBytes += bytes.length;
      if (manifestBytes > longestManifest)
        throw new Unsupported('the manifest of the backup is too long: too many files');
      manifest.push(Buffer.from(bytes));
      continue;
    }
    for (const event of tar.push(bytes)) if (event.kind !== 'end') yield event.raw;
  }
  tar.finish();
  if (manifestBytes === 0) throw new ProtocolError('the server sends no manifest');
  yield Buffer.concat([fileHeader(manifestName, manifestBytes), ...manifest, paddingOf(manifestBytes), tarEnd]);
}

interface Copied {
  readonly kind: 'archive' | 'manifest';
  readonly bytes: Buffer;
}

/** Data of messages that may be of any length: each begins with a letter that says what it is. */
async function* copied(wire: Wire): AsyncGenerator<Copied, void, undefined> {
  let into: Copied['kind'] | undefined;
  let letter = '';
  let name: Buffer = Buffer.alloc(0);
  let asides = 0;
  for (;;) {
    const message = await wire.next();
    if (message.kind === 'message') {
      if (message.type === 'E') throw serverErrorIn(message.body);
      if (message.type === 'c') return;
      if (!'NSA'.includes(message.type) || ++asides > mostRows) {
        throw new ProtocolError(`a base backup is interrupted by a message ${message.type}`);
      }
      continue;
    }
    if (message.isFirst) letter = message.bytes.toString('latin1', 0, 1);
    const bytes = message.isFirst ? message.bytes.subarray(1) : message.bytes;
    switch (letter) {
      case 'd':
        if (into === undefined) throw new ProtocolError('there is data before an archive begins');
        if (bytes.length > 0) yield { kind: into, bytes };
        break;
      case 'n':
        name = message.isFirst ? bytes : Buffer.concat([name, bytes]);
        if (name.length > mostRows) throw new ProtocolError('the name of an archive does not end');
        if (!message.isLast) break;
        // Of a tablespace there would be its path.
        if (into !== undefined || name.toString('latin1') !== 'base.tar\0\0') {
          throw new Unsupported('the server sends more archives than the one of its data directory');
        }
        into = 'archive';
        break;
      case 'm':
        if (into !== 'archive') throw new ProtocolError('there is a manifest before an archive');
        into = 'manifest';
        break;
      // How far it is.
      case 'p':
        break;
      default:
        throw new ProtocolError(`data of a base backup begins with ${JSON.stringify(letter)}`);
    }
  }
}
