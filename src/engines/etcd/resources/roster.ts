/**
 * The roster: which members there shall be, and how each one's process is to start. It lives in a ConfigMap that the
 * pods take two variables from, each time that a process starts.
 *
 * `form` bootstraps a new cluster and is written once, when nothing of this cluster exists. `join` starts a member that
 * has been added, and is told who else there is. `resume` starts on what the volume holds and on nothing else: it names
 * no peer, so a member whose volume is blank refuses to start. Without that it would come back under its old identity,
 * having forgotten what it has acknowledged, and a majority could lose a write. A member resumes from the moment on in
 * which it has been seen running (safety rules G8 and E3).
 */
import { memberName, type Place, peerUrl } from '../names.ts';

export interface Start {
  /** As in `initial-cluster-state`. */
  readonly state: 'new' | 'existing';
  /** As in `initial-cluster`: `NAME=URL`, separated by commas. */
  readonly cluster: string;
  /** Forgets all other members: only where a person has asked for it, and only while the others are stopped. */
  readonly forceNewCluster?: true;
  /** That request of a person, as it was written: see `recovery.ts`. The others are being stopped for it, or have been. */
  readonly request?: string;
}

/** By the member's number. */
export type Roster = ReadonlyMap<number, Start>;

function line(cluster: Place, indexes: readonly number[]): string {
  const { name } = cluster.metadata;
  return indexes.map((index) => `${memberName(name, index)}=${peerUrl(cluster, index)}`).join(',');
}

/** A new cluster of `size` members, numbered from `first` on. */
export function forming(cluster: Place, size: number, first = 0): Roster {
  const indexes = Array.from({ length: size }, (_, place) => first + place);
  return new Map(indexes.map((index) => [index, { state: 'new', cluster: line(cluster, indexes) }]));
}

/** `members`: everybody in etcd's own list, with the joining one, by number. */
export function joining(cluster: Place, members: readonly number[]): Start {
  return { state: 'existing', cluster: line(cluster, members) };
}

export function resuming(cluster: Place, index: number): Start {
  return { state: 'existing', cluster: line(cluster, [index]) };
}

export function isResuming(cluster: Place, index: number, start: Start): boolean {
  return (
    start.state === 'existing' &&
    start.cluster === line(cluster, [index]) &&
    start.forceNewCluster !== true &&
    start.request === undefined
  );
}

export interface RosterKeys {
  readonly state: string;
  readonly cluster: string;
  readonly forceNewCluster: string;
  readonly request: string;
}

export function rosterKeys(cluster: Place, index: number): RosterKeys {
  const name = memberName(cluster.metadata.name, index);
  return {
    state: `${name}.state`,
    cluster: `${name}.cluster`,
    forceNewCluster: `${name}.alone`,
    request: `${name}.request`,
  };
}

/** The ConfigMap's data. */
export function rosterData(cluster: Place, roster: Roster): Record<string, string> {
  return Object.fromEntries(
    [...roster]
      .sort(([a], [b]) => a - b)
      .flatMap(([index, start]) => {
        const keys = rosterKeys(cluster, index);
        return [
          [keys.state, start.state],
          [keys.cluster, start.cluster],
          ...(start.forceNewCluster === true ? [[keys.forceNewCluster, 'true']] : []),
          ...(start.request === undefined ? [] : [[keys.request, start.request]]),
        ];
      }),
  );
}

/** What a ConfigMap's data says; entries that are not whole are no entries. */
export function readRoster(cluster: Place, data: Readonly<Record<string, string>>): Roster {
  const indexes = Object.keys(data).flatMap((key) => {
    const index = Number(/-(\d+)\.state$/.exec(key)?.[1] ?? Number.NaN);
    return Number.isInteger(index) && key === rosterKeys(cluster, index).state ? [index] : [];
  });
  return new Map(
    indexes
      .sort((a, b) => a - b)
      .flatMap((index): [number, Start][] => {
        const keys = rosterKeys(cluster, index);
        const [state, members, request] = [data[keys.state], data[keys.cluster], data[keys.request]];
        if ((state !== 'new' && state !== 'existing') || members === undefined) return [];
        const forceNewCluster = data[keys.forceNewCluster] === 'true' ? ({ forceNewCluster: true } as const) : {};
        return [
          [index, { state, cluster: members, ...forceNewCluster, ...(request === undefined ? {} : { request }) }],
        ];
      }),
  );
}
