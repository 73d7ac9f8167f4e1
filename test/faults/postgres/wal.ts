/**
 * What a member keeps in its data directory: the log, and the database that follows from it. It outlives the process.
 *
 * A record is one object for all members that have it, so two logs are the same up to where their records are. Every record is of
 * the timeline that it was written on; a promotion writes the first one of a new timeline.
 */
import type { Volume } from '../world/workload.ts';

export type Change =
  | { readonly what: 'row'; readonly key: string; readonly value: string }
  | { readonly what: 'role'; readonly name: string; readonly verifier?: string }
  | { readonly what: 'database'; readonly name: string; readonly owner: string }
  /** A primary has started with this `max_connections`: no standby may have less. */
  | { readonly what: 'started'; readonly maxConnections: number }
  | { readonly what: 'promoted' }
  /** The checkpoint of a primary that was shut down in order. */
  | { readonly what: 'shutdown' };

export interface WalRecord {
  readonly timeline: number;
  readonly change: Change;
  /** Of data that was upgraded: the record of the old data that this one stands for. */
  readonly carried?: WalRecord;
}

export interface Contents {
  readonly rows: Map<string, string>;
  /** With the verifiers of their passwords. */
  readonly roles: Map<string, string | undefined>;
  /** With their owners. */
  readonly databases: Map<string, string>;
  maxConnections: number;
}

/** `Database cluster state` of the control file. */
export type ControlState = 'in production' | 'shut down' | 'in archive recovery' | 'shut down in recovery';

/** A data directory. */
export interface Data {
  readonly systemId: string;
  /** Version of PostgreSQL that it is for. */
  readonly major: number;
  readonly wal: WalRecord[];
  contents: Contents;
  /** Ended as a primary, without having been shut down: rewind needs a crash recovery first. */
  wasPrimary: boolean;
  /** Records that have been removed from its log, as counted from the first one. */
  removed: number;
  /** Positions that readers of the log are at, in records. A copy has none. */
  readonly slots: Map<string, number>;
  control: ControlState;
  /** `pg_upgrade --link` has set the control file aside: no server starts on it. */
  isControlAside: boolean;
  /** Data of another version that has the same files, since `pg_upgrade --link`. */
  twin: Data | undefined;
  /** A server has changed the files as its twin: it is of no use. */
  isSpoiled: boolean;
  /** Who runs a server on it. */
  user: string | undefined;
}

/** Name of the data directory on the volume. */
const directory = 'data';
const firstLsn = 0x300_0000;
const recordBytes = 0x100;

export function dataOn(volume: Volume | undefined): Data | undefined {
  return volume?.get(directory) as Data | undefined;
}

export function keep(volume: Volume, data: Data): void {
  volume.set(directory, data);
}

export function discard(volume: Volume): void {
  volume.delete(directory);
}

export function newDatabase(systemId: string, major: number): Data {
  return {
    ...{ systemId, major, wal: [], contents: nothing(), wasPrimary: true, removed: 0, slots: new Map() },
    ...{ control: 'shut down', isControlAside: false, twin: undefined, isSpoiled: false, user: undefined },
  };
}

export function copyOf({ systemId, major, wal }: Data): Data {
  const data: Data = { ...newDatabase(systemId, major), wasPrimary: false, control: 'in archive recovery' };
  append(data, wal);
  return data;
}

/** What `pg_upgrade --link` does to an empty database: the content is that of the old one, and its log begins where that ends. */
export function link(old: Data, made: Data): void {
  append(
    made,
    old.wal.map((record) => ({ timeline: 1, change: record.change, carried: record.carried ?? record })),
  );
  made.removed = made.wal.length;
  made.wasPrimary = false;
  made.twin = old;
  old.twin = made;
}

/** Position behind the last checkpoint that a control file can name. */
export function checkpointOf({ wal }: Data): number {
  return wal.findLastIndex(({ change }) => change.what === 'shutdown') + 1;
}

function nothing(): Contents {
  return { rows: new Map(), roles: new Map(), databases: new Map(), maxConnections: 0 };
}

export function append(data: Data, records: readonly WalRecord[]): void {
  for (const record of records) {
    data.wal.push(record);
    replay(data.contents, record.change);
  }
}

function replay(contents: Contents, change: Change): void {
  switch (change.what) {
    case 'row':
      contents.rows.set(change.key, change.value);
      return;
    case 'role':
      contents.roles.set(change.name, change.verifier ?? contents.roles.get(change.name));
      return;
    case 'database':
      contents.databases.set(change.name, change.owner);
      return;
    case 'started':
      contents.maxConnections = change.maxConnections;
      return;
    case 'promoted':
    case 'shutdown':
      return;
    default:
      change satisfies never;
  }
}

export function timelineOf({ wal }: Data): number {
  return wal.at(-1)?.timeline ?? 1;
}

/** As PostgreSQL writes the position after so many records. */
export function lsnText(records: number): string {
  return `0/${(firstLsn + records * recordBytes).toString(16).toUpperCase()}`;
}

export function lsnOf({ wal }: Data): number {
  return firstLsn + wal.length * recordBytes;
}

/** Position at which the log begins that it still has. */
export function beginOf({ removed }: Data): number {
  return firstLsn + removed * recordBytes;
}

/** How many records two logs have in common. */
export function common(some: Data, others: Data): number {
  let same = Math.min(some.wal.length, others.wal.length);
  while (same > 0 && some.wal[same - 1] !== others.wal[same - 1]) same--;
  return same;
}

/** What `pg_rewind` does: everything that the other one does not have is gone. */
export function rewind(data: Data, to: number): void {
  const left = data.wal.splice(0).slice(0, to);
  data.contents = nothing();
  data.wasPrimary = false;
  append(data, left);
}

/** The timelines that have ended, as Patroni writes them: number, where it ended, why. */
export function historyOf({ wal }: Data): readonly (readonly [number, number, string])[] {
  return wal.flatMap((record, at) => {
    const before = wal[at - 1];
    const hasEnded = before !== undefined && before.timeline !== record.timeline;
    return hasEnded ? [[before.timeline, firstLsn + at * recordBytes, 'no recovery target specified'] as const] : [];
  });
}
