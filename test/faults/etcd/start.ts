/**
 * How a process comes to its data, from what its environment says and what its volume holds: as etcd does it, with its
 * last words where it refuses.
 */
import { blankDisk, type Disk, diskOn, keep } from './disk.ts';
import type { Entry, MemberRow } from './entry.ts';
import type { Host } from './host.ts';
import { clusterIdOf, memberIdOf } from './identity.ts';
import type { Origin, Processes } from './processes.ts';
import { minorIn, versionRefusal } from './versions.ts';

export type Start = { readonly disk: Disk; readonly origin: Origin } | { readonly lastWords: string };

interface Named {
  readonly name: string;
  readonly url: string;
}

export function startOn(host: Host): Start {
  const { env } = host;
  const volume = host.volume();
  if (volume === undefined) return { lastWords: 'cannot access data directory' };
  const held = diskOn(volume);
  if (held !== undefined) {
    if (held.damage !== undefined) return { lastWords: lastWordsOf(held.damage) };
    const refused = versionRefusal(minorIn(host.version), held.state);
    if (refused !== undefined) return { lastWords: refused };
    if (env.ETCD_FORCE_NEW_CLUSTER !== 'true') return { disk: held, origin: 'resumed' };
    forgetOthers(held);
    return { disk: held, origin: 'alone' };
  }
  const cluster = namedIn(env.ETCD_INITIAL_CLUSTER ?? '');
  const own = cluster.find(({ name }) => name === env.ETCD_NAME);
  if (own === undefined) {
    return { lastWords: `couldn't find local name "${env.ETCD_NAME}" in the initial cluster configuration` };
  }
  const start = env.ETCD_INITIAL_CLUSTER_STATE === 'new' ? formed(host, cluster, own) : joined(host, cluster, own);
  if ('disk' in start) keep(volume, start.disk);
  return start;
}

function lastWordsOf(damage: 'log' | 'database'): string {
  return damage === 'log' ? 'failed to read WAL: wal: crc mismatch' : 'failed to open database';
}

function namedIn(text: string): Named[] {
  return text.split(',').flatMap((pair) => {
    const [name = '', url] = pair.split('=');
    return url === undefined ? [] : [{ name, url }];
  });
}

/** All come to the same numbers, and begin with the same entries. */
function formed({ env, processes, reachable }: Host, cluster: readonly Named[], own: Named): Start {
  const token = env.ETCD_INITIAL_CLUSTER_TOKEN ?? '';
  const rows = cluster
    .map(({ name, url }): MemberRow => {
      return { id: memberIdOf([url], token), peerUrls: [url], isLearner: false, name, clientUrls: [] };
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const id = memberIdOf([own.url], token);
  const others = cluster.filter(({ name }) => name !== own.name).flatMap(({ url }) => reachable(url) ?? []);
  if (others.some(({ disk }) => (disk.state.members.get(id)?.clientUrls.length ?? 0) > 0)) {
    return { lastWords: `member ${BigInt(id).toString(16)} has already been bootstrapped` };
  }
  const disk = blankDisk(clusterIdOf(rows.map((row) => row.id)), id);
  disk.log.push(...firstEntries(processes, disk.clusterId, rows));
  disk.term = 1;
  disk.commit = disk.log.length;
  return { disk, origin: 'formed' };
}

/** One object each for all members, since entries are compared as such. */
const beginnings = new WeakMap<Processes, Map<string, readonly Entry[]>>();

function firstEntries(processes: Processes, clusterId: string, rows: readonly MemberRow[]): readonly Entry[] {
  const known = beginnings.get(processes) ?? new Map<string, readonly Entry[]>();
  beginnings.set(processes, known);
  const entries =
    known.get(clusterId) ?? rows.map((member): Entry => ({ term: 1, change: { type: 'addMember', member } }));
  known.set(clusterId, entries);
  return entries;
}

/** Whoever answers first is believed: no majority is asked. */
function joined({ reachable }: Host, cluster: readonly Named[], own: Named): Start {
  const [peer] = cluster.filter(({ name }) => name !== own.name).flatMap(({ url }) => reachable(url) ?? []);
  if (peer === undefined) {
    return {
      lastWords: 'cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs',
    };
  }
  if (peer.state.downgradeTarget !== undefined) return { lastWords: 'incompatible with current running cluster' };
  const rows = [...peer.disk.state.members.values()];
  if (rows.length !== cluster.length) {
    return { lastWords: 'error validating peerURLs: member count is unequal' };
  }
  const known = (url: string): MemberRow | undefined => rows.find(({ peerUrls }) => peerUrls.includes(url));
  const row = known(own.url);
  if (row === undefined || cluster.some(({ url }) => known(url) === undefined)) {
    return { lastWords: 'error validating peerURLs: unmatched member while checking PeerURLs' };
  }
  return { disk: blankDisk(peer.disk.clusterId, row.id), origin: 'joined' };
}

/** By which those entries can be told that nobody has agreed on. */
export const forgotten = 'forgotten';

/** What was not agreed on goes, and so does every other member. */
function forgetOthers(disk: Disk): void {
  disk.log.length = disk.commit;
  const others = [...disk.state.members.keys()].filter((id) => id !== disk.memberId);
  disk.term++;
  const entries = others.map(
    (id): Entry => ({ term: disk.term, change: { type: 'removeMember', id }, request: forgotten }),
  );
  disk.log.push(...entries);
  disk.commit = disk.log.length;
}
