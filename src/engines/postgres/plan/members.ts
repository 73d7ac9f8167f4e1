/** Which members there shall be: numbers of those that come, and who leaves. */
import { isPrimary, type Situation } from '../observe/situation.ts';
import type { Roster } from '../resources/roster.ts';
import { forming } from '../resources/roster.ts';

/** The roster as it shall be after this reconcile. `mayChange`: everybody is well, so one may leave. */
export function nextRoster(situation: Situation, mayChange: boolean): Roster {
  const { roster, spec, store, cluster } = situation;
  if (roster.size === 0) return forming(spec.instances);
  // Whoever has formed the cluster goes on like the others: its volume may be lost later.
  const isFormed = store.systemId !== undefined && cluster.status?.initialized === true;
  const joined: Roster = isFormed ? new Map([...roster].map(([index]) => [index, 'join'])) : roster;
  if (spec.instances === 0) return joined;
  if (joined.size < spec.instances) return withNewcomers(situation, joined);
  if (joined.size > spec.instances && mayChange) return withoutOne(situation, joined);
  return joined;
}

/** All at once: each copies from the primary by itself, and takes no vote in anything. */
function withNewcomers({ taken, spec }: Situation, roster: Roster): Roster {
  const first = Math.max(-1, ...taken) + 1;
  const missing = spec.instances - roster.size;
  return new Map([...roster, ...Array.from({ length: missing }, (_, i): [number, 'join'] => [first + i, 'join'])]);
}

/** The highest number that is not the primary's. One at a time, so that commits never wait for many who have gone. */
function withoutOne(situation: Situation, roster: Roster): Roster {
  const leaving = [...roster.keys()]
    .sort((a, b) => b - a)
    .find((index) => {
      const member = situation.live.get(index);
      return member === undefined || !isPrimary(situation, member);
    });
  return new Map([...roster].filter(([index]) => index !== leaving));
}
