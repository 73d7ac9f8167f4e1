/**
 * Backups that hold suddenly little: a database that came up empty gives good backups, and those would push the real
 * ones out. Each backup of a cluster is compared with the newest one before it that nothing is wrong with.
 *
 * Nothing is remembered: what is in the manifests decides, so it is decided anew each time. A person who says that one is
 * as it should be makes it the one that later ones are compared with.
 */
import type { BackupState } from './state.ts';

export interface Held {
  readonly id: string;
  readonly state: BackupState;
  /** Of the data as the database gave it. */
  readonly data: { readonly plainBytes: number };
}

/** Fewer keys than this share of what there was are a loss until somebody says otherwise. */
const leastShare = 0.1;
/** Of so few keys, most may go within a day. */
const fewKeys = 100;
/** Below that, what every dump has besides its keys counts for too much. */
const fewBytes = 1024 * 1024;

/** To the id of each backup that holds suddenly little: why it is thought so, in words. */
export function suddenLosses(oldestFirst: readonly Held[], confirmed: string | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let reference: Held | undefined;
  for (const backup of oldestFirst) {
    const why = reference === undefined || backup.id === confirmed ? undefined : lossSince(reference, backup);
    if (why === undefined) reference = backup;
    else found.set(backup.id, why);
  }
  return found;
}

/** Why the later of two backups holds less than it should; undefined where it does not. */
export function lossSince(before: Held, after: Held): string | undefined {
  const [earlier, later] = [before.state, after.state];
  if (earlier.engine === 'etcd' && later.engine === 'etcd') {
    if (later.clusterId !== earlier.clusterId) {
      return `it is of the etcd cluster ${later.clusterId}, and ${before.id} was of ${earlier.clusterId}`;
    }
    if (BigInt(later.revision) < BigInt(earlier.revision)) {
      return `its revision is ${later.revision}, and that of ${before.id} was ${earlier.revision}`;
    }
  }
  return keysLost(before, after) ?? bytesLost(before, after);
}

function keysLost({ id, state: earlier }: Held, { state: later }: Held): string | undefined {
  const [had, has] = [keysIn(earlier), keysIn(later)];
  if (has === undefined) return undefined;
  if (has === 0 && hadData(earlier)) {
    return `it holds no keys, and ${id} held ${had === undefined ? 'data' : inWords(had)}`;
  }
  if (had === undefined || had < fewKeys || has >= had * leastShare) return undefined;
  return `it holds ${inWords(has)}, and ${id} held ${inWords(had)}`;
}

/**
 * The dump of a Redis holds its data and nothing else, and one key may hold all of it. A snapshot of etcd is the file of
 * its database, with every version of a key since the last compaction, and with pages that are free until the next
 * defragmentation: it shrinks to a hundredth and no data is lost, so it tells nothing.
 */
function bytesLost(before: Held, after: Held): string | undefined {
  const isMeasure = before.state.engine === 'redis' && after.state.engine === 'redis';
  const [had, has] = [before.data.plainBytes, after.data.plainBytes];
  if (!isMeasure || had < fewBytes || has >= had * leastShare) return undefined;
  return `it has ${has} bytes, and ${before.id} had ${had}`;
}

const inWords = (keys: number): string => (keys === 1 ? '1 key' : `${keys} keys`);

/** Undefined where the manifest does not tell. */
function keysIn(state: BackupState): number | undefined {
  switch (state.engine) {
    case 'etcd':
      return state.keys;
    case 'redis': {
      const { approximateKeys, firstDatabase } = state;
      const exact = firstDatabase === undefined ? {} : { [String(firstDatabase.number)]: firstDatabase.keys };
      return Object.values({ ...approximateKeys, ...exact }).reduce((sum, keys) => sum + keys, 0);
    }
    default:
      return state satisfies never;
  }
}

/** Of a manifest that counts no keys, a revision that anybody has written tells as much. */
function hadData(state: BackupState): boolean {
  const keys = keysIn(state);
  return keys === undefined ? state.engine === 'etcd' && BigInt(state.revision) > 1n : keys > 0;
}
