/**
 * What a backup of a simulated PostgreSQL holds, and how it gets there: the rows at one moment. It is no tar of a data directory: its own
 * checksum stands for the server's manifest. A restore puts it beside the data, and a server of the Job recovers it.
 */
import { createHash } from 'node:crypto';
import { Failure } from '../../../src/engine/driver/failure.ts';
import type { PostgresDestination, PostgresSource } from '../../../src/engines/postgres/backup/schemas.ts';
import { paths, roles } from '../../../src/engines/postgres/names.ts';
import type { AgentContext, Contents, Database } from '../backup/database.ts';
import type { ProgramContext, RunningProgram, Volume } from '../world/workload.ts';
import { archiving } from './archive.ts';
import type { Processes } from './processes.ts';
import type { Server } from './server.ts';
import { append, beginOf, type Data, dataOn, keep, newDatabase, type WalRecord } from './wal.ts';

const copyMs = 300;
const recoverMs = 800;
const checksumBytes = 32;
/** Beside the data directory. */
const restoredFile = 'restored';
const originFile = 'restored-from.json';

/** What was in the database besides rows. */
interface Stored {
  readonly systemId: string;
  readonly roles: readonly (readonly [string, string | undefined])[];
  readonly databases: readonly (readonly [string, string])[];
  readonly rows: readonly (readonly [string, string])[];
}

function bytesOf(stored: Stored): Buffer {
  const text = Buffer.from(JSON.stringify(stored));
  return Buffer.concat([text, createHash('sha256').update(text).digest()]);
}

function storedIn(data: Buffer): Stored {
  return JSON.parse(data.subarray(0, -checksumBytes).toString()) as Stored;
}

async function* checked(
  content: AsyncIterable<Uint8Array>,
  fault: (why: string) => Failure,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) {
    pieces.push(piece);
    yield piece;
  }
  const data = Buffer.concat(pieces);
  const sum = createHash('sha256').update(data.subarray(0, -checksumBytes)).digest();
  if (!sum.equals(data.subarray(-checksumBytes))) throw fault('its checksum does not fit');
}

const positionText = (position: number): string => `0/${position.toString(16).toUpperCase()}`;

export function postgresDatabase(processes: Processes): Database {
  function serverAt(host: string, { network, ip }: AgentContext): Server | undefined {
    const address = network.resolve(host);
    const server = address === undefined ? undefined : processes.at(address)?.server;
    return server?.isUp === true && network.reaches(ip, server.ip) ? server : undefined;
  }

  return {
    engine: 'postgres',
    check: checked,
    read: (data) => new Map(storedIn(data).rows),
    write: (contents: Contents) =>
      bytesOf({
        systemId: '7001',
        roles: [
          [roles.operator, undefined],
          ['app', undefined],
        ],
        databases: [['app', 'app']],
        rows: [...contents],
      }),
    hasData: (volume) => dataOn(volume) !== undefined,
    firstClaim: (cluster) => `data-${cluster}-0-0`,
    async dump(source, context) {
      const { members } = source as PostgresSource;
      await context.pause(20);
      const servers = members.flatMap(({ host }) => serverAt(host, context) ?? []);
      const primary = servers.find(({ role }) => role === 'primary');
      if (primary === undefined) throw new Failure('SourceUnreachable', 'no member is primary');
      const whole = servers.find(
        ({ role, timeline, lsn }) => role === 'replica' && timeline === primary.timeline && lsn >= primary.lsn,
      );
      const chosen = whole ?? primary;
      const { data, name, timeline } = chosen;
      const start = beginOf(data);
      await context.pause(copyMs);
      if (!chosen.isUp || !context.network.reaches(context.ip, chosen.ip))
        throw new Failure('SourceBroken', `the connection to ${name} broke`);
      const { rows, roles: known, databases } = data.contents;
      const bytes = bytesOf({ systemId: data.systemId, roles: [...known], databases: [...databases], rows: [...rows] });
      const end = chosen.lsn;
      return {
        engineVersion: `${data.major}.2`,
        topology: { members: servers.length, source: name, role: chosen === primary ? 'primary' : 'standby' },
        content: pieces(bytes),
        state: () => ({
          engine: 'postgres',
          systemId: data.systemId,
          timeline,
          startLsn: positionText(start),
          endLsn: positionText(end),
          segmentBytes: 16_777_216,
          files: 1,
          bytes: bytes.length,
        }),
        close: () => undefined,
      };
    },
    archive: (source, context, reachStore) => archiving(processes, context, source as PostgresSource, reachStore),
    begun: (destination, context) => origin(volumeOf(destination as PostgresDestination, context)),
    async fill(destination, from, content, context) {
      const volume = volumeOf(destination as PostgresDestination, context);
      if (volume === undefined) throw new Failure('BadTask', 'the volume cannot be written');
      const isFrom = origin(volume) === from.path;
      if (isFrom && (volume.has(restoredFile) || dataOn(volume) !== undefined)) return { isRepeated: true };
      if (dataOn(volume) !== undefined) throw new Failure('Occupied', 'there is data of somebody else');
      await context.pause(copyMs);
      volume.set(originFile, from.path);
      volume.set(restoredFile, content);
      return { isRepeated: false };
    },
  };
}

function volumeOf({ directory }: PostgresDestination, context: AgentContext): Volume | undefined {
  return context.volume(directory.replace(/\/[^/]*$/, ''));
}

function origin(volume: Volume | undefined): string | undefined {
  return volume?.get(originFile) as string | undefined;
}

async function* pieces(data: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  yield data;
}

/** The container of a restore's Job that recovers what has been fetched. It may be repeated. */
export function recovering({ time, volume, exit, command }: ProgramContext): RunningProgram {
  const [, major = 17] = /\/postgresql\/(\d+)\//.exec(command.join(' ')) ?? [];
  let hasEnded = false;
  const end = (code: number, lastWords?: string): void => {
    if (hasEnded) return;
    hasEnded = true;
    exit(code, lastWords);
  };
  time.after(recoverMs, () => {
    if (hasEnded) return;
    const target = volume(paths.volume);
    const fetched = target?.get(restoredFile);
    if (target !== undefined && fetched instanceof Buffer) {
      keep(target, recovered(storedIn(fetched), Number(major)));
      target.delete(restoredFile);
    } else if (dataOn(target) === undefined) return end(1, 'nothing has been fetched');
    end(0);
  });
  return {
    exec: () => Promise.resolve(false),
    terminate: () => end(143),
    kill() {
      hasEnded = true;
    },
  };
}

/** A primary of its own, on a new timeline. */
function recovered({ systemId, roles: known, databases, rows }: Stored, major: number): Data {
  const data = newDatabase(systemId, major);
  const changes: WalRecord['change'][] = [
    ...known.map(
      ([name, verifier]) => ({ what: 'role', name, ...(verifier === undefined ? {} : { verifier }) }) as const,
    ),
    ...databases.map(([name, owner]) => ({ what: 'database', name, owner }) as const),
    ...rows.map(([key, value]) => ({ what: 'row', key, value }) as const),
  ];
  append(
    data,
    changes.map((change) => ({ timeline: 1, change })),
  );
  append(data, [{ timeline: 2, change: { what: 'promoted' } }]);
  data.wasPrimary = false;
  return data;
}
