/**
 * From what there is to the roster that shall be.
 *
 * A new cluster is formed only where there is no trace of one: no claim, no member, no record that there ever was one
 * (safety rule G8). Everywhere else members resume on their volumes, or join after etcd has listed them.
 */
import { forming, isResuming, joining, type Roster, resuming, type Start } from '../resources/roster.ts';
import { heldBy, holds, type Member, nextIndex, type Situation } from './situation.ts';

export type Formation =
  | { readonly state: 'decided'; readonly roster: Roster }
  /** All of the data is gone. Forming a new, empty cluster in its place is for a person to decide. */
  | { readonly state: 'lost'; readonly message: string };

export function formationOf(situation: Situation): Formation {
  const { cluster, spec, roster, sets, claims, members } = situation;
  if (members !== undefined) return { state: 'decided', roster: rosterOf(situation, members) };
  if (roster.size > 0) return { state: 'decided', roster: completed(situation) };
  const remains = [...new Set([...sets.keys(), ...claims.keys()])].sort((a, b) => a - b);
  if (remains.length > 0) {
    return { state: 'decided', roster: new Map(remains.map((index) => [index, resuming(cluster, index)])) };
  }
  if (cluster.status?.initialized === true) {
    const message =
      'every volume of this cluster is gone; nothing can bring its data back, and a new cluster in its place needs a new resource';
    return { state: 'lost', message };
  }
  // Volumes of removed members may be there still: nobody is ever started on one of them.
  return { state: 'decided', roster: forming(cluster, spec.replicas, nextIndex(situation)) };
}

/** Somebody has taken an entry away: who has run, as the claim says, and has not been removed since, is one of them. */
function completed({ cluster, roster, sets, claims }: Situation): Roster {
  const missing = [...sets.keys()].filter((index) => !roster.has(index) && heldBy(claims.get(index)) !== undefined);
  const entries = missing.map((index): [number, Start] => [index, resuming(cluster, index)]);
  return new Map([...roster, ...entries].sort(([a], [b]) => a - b));
}

/** Once etcd says who its members are, the roster follows: who is not listed is not started any more. By number, as they are. */
function rosterOf(situation: Situation, members: readonly Member[]): Roster {
  const everybody = members.flatMap(({ index }) => index ?? []);
  const entries = members.flatMap((member): [number, Start][] => {
    const { index } = member;
    // One that started once and has left neither a volume nor a record has nothing to start from.
    const isGone = index !== undefined && member.hasStarted && !hasTrace(situation, index);
    return index === undefined || isGone ? [] : [[index, startOf(situation, { ...member, index }, everybody)]];
  });
  return new Map(entries);
}

/**
 * Whether its entry says `resume`, once the roster of this pass is written. Until then its process would start on a blank
 * volume as well, under its old number.
 */
export function isToResume(situation: Situation, member: Member): boolean {
  const { cluster } = situation;
  const { index } = member;
  return index !== undefined && isResuming(cluster, index, startOf(situation, { ...member, index }, []));
}

function hasTrace({ roster, sets, claims }: Situation, index: number): boolean {
  return roster.has(index) || sets.has(index) || claims.has(index);
}

function startOf(
  situation: Situation,
  member: Member & { readonly index: number },
  everybody: readonly number[],
): Start {
  const { cluster, roster } = situation;
  const { index, hasStarted, isLearner } = member;
  const written = roster.get(index);
  if (written !== undefined && isResuming(cluster, index, written)) return written;
  if (hasStarted) {
    // It has gone on alone, or was to: from here on it has peers again.
    if (written?.forceNewCluster === true || written?.request !== undefined) return resuming(cluster, index);
    // Not written down and not seen running: whatever its volume holds, it must not begin anew.
    return written === undefined || maySeal(situation, member) ? resuming(cluster, index) : written;
  }
  // A voter that has yet to start is one of those that form the cluster.
  return !isLearner && written !== undefined ? written : joining(cluster, everybody);
}

/**
 * It runs, and its claim says whose data it holds. While the cluster is being formed, the last one to come is waited
 * for, so that the roster is written once.
 */
function maySeal(situation: Situation, { index, id, live }: Member & { readonly index: number }): boolean {
  const { cluster, claims, members = [], observed } = situation;
  if (live === undefined || observed.agreed === undefined) return false;
  const isFormed = cluster.status?.initialized === true || members.every((other) => other.live !== undefined);
  return isFormed && heldBy(claims.get(index)) === holds(observed.agreed.clusterId, id);
}
