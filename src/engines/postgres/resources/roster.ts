/**
 * The roster: which members the cluster has, and how each one's process is to start. It is in a ConfigMap that the pods mount.
 *
 * `form` bootstraps a new cluster, and only its first member has it. `restore` begins with the data that a restore has put on its volume, and makes
 * no database where there is none. `import` copies a PostgreSQL that runs elsewhere before. `join` copies the leader's data, or goes on with what the volume holds. `resume` goes on with what the volume
 * holds, and does not start on a blank one: commits may have been acknowledged because this member had them, and under its name nobody may come
 * who does not. Nobody but a member that forms makes a database, so a cluster whose volumes are all lost stays without one until a person decides.
 */
import { memberName } from '../names.ts';

/** How the first member of a new cluster begins. */
export type Beginning = 'form' | 'restore' | 'import';
export type Start = Beginning | 'join' | 'resume';

/** By the member's number. */
export type Roster = ReadonlyMap<number, Start>;

/** A new cluster of `size` members, with the numbers from `first` on. */
export function forming(size: number, first = 0, beginning: Beginning = 'form'): Roster {
  return new Map(Array.from({ length: size }, (_, i): [number, Start] => [first + i, i === 0 ? beginning : 'join']));
}

/** Of a new cluster whose data comes from elsewhere: the others join once it is there. */
export function importing(size: number, first = 0): Roster {
  return size === 0 ? new Map() : forming(1, first, 'import');
}

/** Key of what only a member that begins a cluster reads. */
export function bootstrapKey(cluster: string, index: number): string {
  return `${memberName(cluster, index)}.bootstrap.yml`;
}

export function startKey(cluster: string, index: number): string {
  return `${memberName(cluster, index)}.start`;
}

/** Key of the request of a person for which the roster has been reduced to one member: see `plan/recovery.ts`. */
export const requestKey = 'recover-from';

/** Key of what lasts: the first database has been filled once. */
export const filledKey = 'first-database';
export const filledData = { [filledKey]: 'filled' } as const;

/** The ConfigMap's data. `bootstrap`: Patroni's configuration of a new cluster. */
export function rosterData(
  cluster: string,
  roster: Roster,
  bootstrap: (beginning: Beginning) => string,
  request?: string,
): Record<string, string> {
  return Object.fromEntries([
    ...[...roster]
      .sort(([a], [b]) => a - b)
      .flatMap(([index, start]) => [
        [startKey(cluster, index), start],
        ...(start === 'join' || start === 'resume' ? [] : [[bootstrapKey(cluster, index), bootstrap(start)]]),
      ]),
    ...(request === undefined ? [] : [[requestKey, request]]),
  ]);
}

/**
 * What a ConfigMap's data says. Where somebody has written something else into the entry of a member, it is a member all the same, and does
 * not start on a blank volume: without its entry it would have left.
 */
export function readRoster(cluster: string, data: Readonly<Record<string, string>>): Roster {
  const entries = Object.entries(data).flatMap(([key, start]): [number, Start][] => {
    const index = Number(/-(\d+)\.start$/.exec(key)?.[1] ?? Number.NaN);
    const isOurs = Number.isInteger(index) && key === startKey(cluster, index);
    return isOurs ? [[index, isStart(start) ? start : 'resume']] : [];
  });
  return new Map(entries.sort(([a], [b]) => a - b));
}

function isStart(text: string): text is Start {
  return text === 'form' || text === 'restore' || text === 'import' || text === 'join' || text === 'resume';
}
