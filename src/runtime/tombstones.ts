/**
 * Objects known to be gone, so that late events and stale lists do not bring them back to life.
 *
 * A deleted UID never returns, but an object that only left a watch's selection may: a tombstone from a watch or a list
 * therefore covers versions up to its own, one from a delete of ours covers all. Memory is bounded by two generations:
 * a tombstone survives at least one whole relist, which is as long as old news can live, and then a server that was
 * restored from a backup may show the object again.
 */
import { isNewer } from './resource-version.ts';

const MAX_GENERATION = 4096;

export interface Tombstones {
  /** Without a version the UID is gone for good. */
  bury(uid: string | undefined, version?: string): void;
  /** Whether this version of the object is old news. */
  covers(uid: string | undefined, version: string | undefined): boolean;
  /** Whether the UID was buried without a version. */
  isFinal(uid: string | undefined): boolean;
  /** Called after each complete list: forgets what was buried before the last one. */
  age(): void;
}

export function createTombstones(): Tombstones {
  let young = new Map<string, string | undefined>();
  let old = young;
  const age = (): void => {
    old = young;
    young = new Map();
  };
  const generationOf = (uid: string) => (young.has(uid) ? young : old);
  return {
    bury(uid, version) {
      if (uid === undefined) return;
      if (young.has(uid) && (young.get(uid) === undefined || isNewer(young.get(uid), version))) return;
      young.set(uid, version);
      if (young.size >= MAX_GENERATION) age();
    },
    covers(uid, version) {
      if (uid === undefined) return false;
      const generation = generationOf(uid);
      return generation.has(uid) && !isNewer(version, generation.get(uid));
    },
    isFinal(uid) {
      if (uid === undefined) return false;
      const generation = generationOf(uid);
      return generation.has(uid) && generation.get(uid) === undefined;
    },
    age,
  };
}
