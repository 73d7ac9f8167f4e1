/** Which members there shall be: numbers of those that come, and who leaves. */
import { hasHeldData, indexOf, isRestored, type Situation } from '../observe/situation.ts';
import type { Roster } from '../resources/roster.ts';
import { forming } from '../resources/roster.ts';

/** The roster as it shall be after this reconcile. `mayChange`: everybody is well, so one may leave. */
export function nextRoster(situation: Situation, mayChange: boolean): Roster {
  const { roster, spec, store, cluster } = situation;
  if (roster.size === 0) return firstRoster(situation);
  // Whoever has formed the cluster goes on like the others: its volume may be lost later.
  const isFormed = store.systemId !== undefined && cluster.status?.initialized === true;
  const joined: Roster = withPrimary(situation, isFormed ? joining([...roster.keys()]) : roster);
  if (spec.instances === 0) return joined;
  if (joined.size < spec.instances) return withNewcomers(situation, joined);
  if (joined.size > spec.instances && mayChange) return withoutOne(situation, joined);
  return joined;
}

/** Pods and StatefulSets of members that have left, by number. The next one stays until they are gone. */
export function leavers({ roster, pods, sets }: Situation): readonly number[] {
  const numbers = new Set([...pods.keys(), ...sets.keys()]);
  return [...numbers].filter((index) => !roster.has(index)).sort((a, b) => a - b);
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
  if (!hasHeldData(situation))
    return forming(spec.instances, first, isRestored(claims.get(first)) ? 'restore' : 'form');
  if (known.size > 0) return joining([...known].sort((a, b) => a - b));
  return joining([...forming(spec.instances, first).keys()]);
}

function joining(numbers: readonly number[]): Roster {
  return new Map(numbers.map((index) => [index, 'join']));
}

/** A member that was elected when it was about to leave stays: its StatefulSet is still there. */
function withPrimary(situation: Situation, roster: Roster): Roster {
  const { primary, sets } = situation;
  const index = primary === undefined ? undefined : indexOf(situation, primary);
  const set = index === undefined ? undefined : sets.get(index);
  if (index === undefined || set === undefined || set.metadata.deletionTimestamp !== undefined) return roster;
  return roster.has(index) ? roster : new Map([...roster, [index, 'join']]);
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
