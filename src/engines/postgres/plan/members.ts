/** Which members the cluster has: the numbers of new ones, and which one leaves. */

import { followedSource } from '../kind/source.ts';
import { hasHeldData, heldBy, indexOf, isPrimary, isRestored, type Situation } from '../observe/situation.ts';
import type { Roster } from '../resources/roster.ts';
import { forming, importing } from '../resources/roster.ts';
import { isAbandoned } from './failed-member.ts';

/** What is to happen to those that there are. */
export interface Change {
  /** Everybody is well, so one may leave. */
  readonly mayShrink: boolean;
  /** There is no data yet: nobody can join. */
  readonly isImporting?: boolean;
  /** Number of a member that is replaced: it goes, and another one comes. */
  readonly lost?: number;
}

/** The roster after this reconcile. */
export function nextRoster(situation: Situation, { mayShrink, lost, isImporting = false }: Change): Roster {
  const { roster, spec, store, cluster } = situation;
  if (roster.size === 0) return firstRoster(situation);
  if (isImporting) return roster;
  // The member that formed the cluster continues like the others: its volume may be lost later.
  const isFormed = store.systemId !== undefined && cluster.status?.initialized === true;
  const kept = new Map([...roster].filter(([index]) => index !== lost));
  const joined = withPrimary(situation, isFormed ? resuming(situation, kept) : kept);
  if (spec.instances === 0) return joined;
  if (joined.size < spec.instances) return withNewcomers(situation, joined);
  if (joined.size > spec.instances && mayShrink) return withoutOne(situation, joined);
  return joined;
}

/** A member that has copied all of the data, and every one that had it before, does not start on a blank volume again. */
function resuming(situation: Situation, roster: Roster): Roster {
  return new Map(
    [...roster].map(([index, start]) => {
      const member = situation.live.get(index);
      const isWhole = member !== undefined && (member.isStreaming || isPrimary(situation, member));
      const isMarked = heldBy(situation.claims.get(index)) !== undefined;
      return [index, start === 'resume' || (isWhole && isMarked) ? 'resume' : 'join'];
    }),
  );
}

/**
 * Pods and StatefulSets of members that have left, by number. The next one stays until they are gone. A pod on a node that does not answer
 * stays for as long as that node is there: nobody waits for it.
 */
export function leavers(situation: Situation): readonly number[] {
  const { roster, pods, sets } = situation;
  const numbers = new Set([...pods.keys(), ...sets.keys()]);
  const isStuck = (index: number): boolean => !sets.has(index) && isAbandoned(situation, pods.get(index));
  return [...numbers].filter((index) => !roster.has(index) && !isStuck(index)).sort((a, b) => a - b);
}

/**
 * Of a new cluster, or of one whose roster somebody has deleted. The members are then those that have a StatefulSet or a volume: another
 * roster would remove them, and a member that forms would begin a second database.
 */
function firstRoster(situation: Situation): Roster {
  const { sets, claims, taken, spec } = situation;
  const known = new Set([...sets.keys(), ...claims.keys()]);
  const hasRetired = [...taken].some((index) => !known.has(index));
  const first = hasRetired ? Math.max(...taken) + 1 : 0;
  if (!hasHeldData(situation) && followedSource(spec) !== undefined) return importing(spec.instances, first);
  if (!hasHeldData(situation))
    return forming(spec.instances, first, isRestored(claims.get(first)) ? 'restore' : 'form');
  const numbers = known.size > 0 ? [...known].sort((a, b) => a - b) : [...forming(spec.instances, first).keys()];
  return new Map(numbers.map((index) => [index, heldBy(claims.get(index)) === undefined ? 'join' : 'resume']));
}

/** A member that was elected when it was about to leave stays: its StatefulSet is still there. */
function withPrimary(situation: Situation, roster: Roster): Roster {
  const { primary, sets } = situation;
  const index = primary === undefined ? undefined : indexOf(situation, primary);
  const set = index === undefined ? undefined : sets.get(index);
  if (index === undefined || set === undefined || set.metadata.deletionTimestamp !== undefined) return roster;
  return roster.has(index) ? roster : new Map([...roster, [index, 'resume']]);
}

/** All at once: each copies from the primary by itself, and takes no vote in anything. */
function withNewcomers({ taken, spec }: Situation, roster: Roster): Roster {
  const first = Math.max(-1, ...taken) + 1;
  const missing = spec.instances - roster.size;
  return new Map([...roster, ...Array.from({ length: missing }, (_, i): [number, 'join'] => [first + i, 'join'])]);
}

/** The highest number that is not the primary's. One at a time, so that commits never wait for many who have gone. */
function withoutOne(situation: Situation, roster: Roster): Roster {
  const { primary } = situation;
  const kept = primary === undefined ? undefined : indexOf(situation, primary);
  const leaving = [...roster.keys()].sort((a, b) => b - a).find((index) => index !== kept);
  return new Map([...roster].filter(([index]) => index !== leaving));
}
