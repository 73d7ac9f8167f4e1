/**
 * Takes the data of a Redis cluster as a replica would get it: a full synchronisation, of which only the dump is wanted.
 *
 * `REPLCONF rdb-only 1` says so. Such a connection is never online: it counts for no `min-replicas-to-write`, and the
 * node keeps no stream of changes for it. It does show in a primary's `INFO` while the dump is under way, and a sentinel
 * makes a replica of whatever it reads there: so the connection announces an address that no sentinel can take for one.
 */
import type { Duplex } from 'node:stream';
import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { ByteReader } from '../../../engine/driver/byte-reader.ts';
import { coalesced } from '../../../engine/driver/coalesce.ts';
import { openConnection, placeOf } from '../../../engine/driver/connection.ts';
import type { Dump } from '../../../engine/driver/dump.ts';
import { Failure } from '../../../engine/driver/failure.ts';
import { optionalLine, secretLine, tlsFrom } from '../../../engine/driver/secret-files.ts';
import { piecesInTime } from '../../../engine/driver/wait.ts';
import type { DumpState, RedisSource, RedisState } from '../backup/schemas.ts';
import { encodeCommand, RedisError } from '../client/resp.ts';
import { atLeast, serverText } from '../kind/server.ts';
import { checkedRdb, type RdbFacts } from './rdb.ts';
import { type RedisAccess, type RedisLogins, redisFailure } from './session.ts';
import { type RedisNode, surveyRedis } from './survey.ts';

/** No address, and by RFC 2606 no name either. */
const announced = { 'ip-address': 'backup.invalid', 'listening-port': '65536' } as const;

export async function dumpRedis(source: RedisSource, context: AgentContext): Promise<Dump<RedisState>> {
  const { members } = source;
  if (members === undefined) throw new Failure('BadTask', 'source names neither members nor shards');
  const access = { logins: await loginsOf(source, context), tls: await tlsFrom(source.tls), context };
  const { node, answered } = await surveyRedis({ ...source, members }, access);
  const { content, state, close } = await openDump(node, access);
  return {
    engineVersion: serverText(node.server),
    topology: { members: answered, source: placeOf(node.endpoint), role: node.role },
    content,
    state: () => ({ engine: 'redis', ...state() }),
    close,
  };
}

export interface OpenDump {
  readonly content: AsyncIterable<Uint8Array>;
  /** To be asked for once the content has been read. */
  state(): DumpState;
  close(): void;
}

/** The data of one node. */
export async function openDump(node: RedisNode, { tls, context }: Omit<RedisAccess, 'logins'>): Promise<OpenDump> {
  const socket = await openConnection(node.endpoint, tls, context);
  const place = placeOf(node.endpoint);
  const broken = (why: string): Failure => new Failure('SourceBroken', `the dump of ${place} is not whole: ${why}`);
  try {
    const { replicationId, offset, reader } = await synchronise(socket, node, context);
    context.log.info({ source: place, role: node.role, offset }, 'the dump begins');
    let facts: RdbFacts | undefined;
    return {
      content: checkedRdb(coalesced(dumpIn(reader, broken)), broken, (found) => {
        facts = found;
      }),
      state() {
        const { firstDatabase } = facts ?? {};
        return {
          replicationId,
          offset,
          approximateKeys: node.keys,
          ...(firstDatabase === undefined ? {} : { firstDatabase }),
        };
      },
      close: () => socket.destroy(),
    };
  } catch (error) {
    socket.destroy();
    throw redisFailure(error, node.endpoint);
  }
}

export async function loginsOf({ passwordFile, identity }: RedisSource, context: AgentContext): Promise<RedisLogins> {
  const own = await optionalLine(identity?.passwordFile, context);
  return {
    own: identity === undefined || own === undefined ? [] : [[identity.user, own]],
    shared: passwordFile === undefined ? [] : [await secretLine(passwordFile, context)],
  };
}

interface Synchronisation {
  readonly replicationId: string;
  readonly offset: number;
  /** At the line that says how long the dump is, or how it ends. */
  readonly reader: ByteReader;
}

async function synchronise(
  socket: Duplex,
  { endpoint, login, server }: RedisNode,
  context: AgentContext,
): Promise<Synchronisation> {
  const place = placeOf(endpoint);
  const fail = (why: string): Failure => new Failure('SourceBroken', `${place}: ${why}`);
  const late = (): Failure => new Failure('SourceUnreachable', `${place} sent nothing for ${context.idleMs} ms`);
  const reader = new ByteReader(
    piecesInTime(asFailures(socket, place), context, late, () => socket.destroy()),
    fail,
  );
  /** The answer of one line; the node may send empty lines before it to show that it is alive. */
  const ask = async (...command: readonly string[]): Promise<string> => {
    socket.write(encodeCommand(command));
    for (;;) {
      const line = await reader.line();
      if (line.startsWith('-')) throw new RedisError(line.slice(1));
      if (line !== '') return line;
    }
  };
  if (login.length > 0) await ask('AUTH', ...login);
  await ask('PING');
  for (const [name, value] of Object.entries(announced)) await ask('REPLCONF', name, value);
  await ask('REPLCONF', 'capa', 'eof', 'capa', 'psync2');
  // Otherwise Valkey 9 writes the format of before, and closes the connection where a key has no form in that.
  if (server.engine === 'Valkey' && atLeast(server.version, '9.0')) await ask('REPLCONF', 'version', server.version);
  await ask('REPLCONF', 'rdb-only', '1');
  const answer = await ask('PSYNC', '?', '-1');
  const [, replicationId, offset] = /^\+FULLRESYNC ([0-9a-f]{40}) (\d+)$/.exec(answer) ?? [];
  if (replicationId === undefined) throw fail(`it answers PSYNC with ${JSON.stringify(answer.slice(0, 80))}`);
  return { replicationId, offset: Number(offset), reader };
}

/** Errors of the connection, with the one who is behind it. */
async function* asFailures(socket: Duplex, place: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const piece of socket) yield piece as Uint8Array;
  } catch (cause) {
    throw new Failure('SourceBroken', `the connection to ${place} broke`, { cause });
  }
}

/** The dump alone: `$LENGTH` comes before one that lies on a disk, `$EOF:MARK` before one that is made on the way. */
async function* dumpIn(reader: ByteReader, broken: (why: string) => Failure): AsyncGenerator<Buffer, void, undefined> {
  let line = '';
  while (line === '') line = await reader.line();
  const [, mark, length] = /^\$(?:EOF:([0-9a-f]{40})|(\d+))$/.exec(line) ?? [];
  if (mark !== undefined) yield* reader.upTo(Buffer.from(mark, 'latin1'));
  else if (length !== undefined) yield* reader.exactly(Number(length));
  else throw broken(`it begins with ${JSON.stringify(line.slice(0, 80))}`);
}
