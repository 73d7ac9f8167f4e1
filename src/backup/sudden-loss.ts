/**
 * Backups that hold suddenly little: a database that came up empty gives good backups, and those would push the real
 * ones out. Each backup of a cluster is compared with the newest one before it that nothing is wrong with.
 *
 * Nothing is remembered: what is in the manifests decides, so it is decided anew each time. A person who says that one is
 * as it should be makes it the one that later ones are compared with.
 */
import type { EngineState } from './engine-data.ts';

export interface Held<State extends EngineState = EngineState> {
  readonly id: string;
  readonly state: State;
  /** Of the database. */
  readonly engineVersion?: string;
  /** Of the data as the database gave it. */
  readonly data: { readonly plainBytes: number };
}

/** Why the later of two backups of a cluster holds less than it should; undefined where it does not. */
export type LossSince<State extends EngineState = EngineState> = (
  before: Held<State>,
  after: Held<State>,
) => string | undefined;

/** Fewer keys than this share of what there was are a loss until somebody says otherwise. */
const leastShare = 0.1;
/** Of so few keys, most may go within a day. */
const fewKeys = 100;
/** Below that, what every dump has besides its keys counts for too much. */
const fewBytes = 1024 * 1024;

/** To the id of each backup that holds suddenly little: why it is thought so, in words. */
export function suddenLosses(
  oldestFirst: readonly Held[],
  confirmed: string | undefined,
  lossSince: LossSince,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let reference: Held | undefined;
  for (const backup of oldestFirst) {
    const why = reference === undefined || backup.id === confirmed ? undefined : lossSince(reference, backup);
    if (why === undefined) reference = backup;
    else found.set(backup.id, why);
  }
  return found;
}

/** How much a backup holds. */
export interface Amount {
  readonly id: string;
  /** Undefined where the manifest does not tell. */
  readonly keys: number | undefined;
  /** Something: known also where keys were not counted. */
  readonly hasData: boolean;
}

export function keysLost(before: Amount, after: Amount): string | undefined {
  const { id, keys: had } = before;
  const { keys: has } = after;
  if (has === undefined) return undefined;
  if (has === 0 && before.hasData) {
    return `it holds no keys, and ${id} held ${had === undefined ? 'data' : inWords(had)}`;
  }
  if (had === undefined || had < fewKeys || has >= had * leastShare) return undefined;
  return `it holds ${inWords(has)}, and ${id} held ${inWords(had)}`;
}

/** For dumps that hold the data and nothing else: one key may hold all of it. */
export function bytesLost(before: Held, after: Held): string | undefined {
  const [had, has] = [before.data.plainBytes, after.data.plainBytes];
  if (had < fewBytes || has >= had * leastShare) return undefined;
  return `it has ${has} bytes, and ${before.id} had ${had}`;
}

const inWords = (keys: number): string => (keys === 1 ? '1 key' : `${keys} keys`);
