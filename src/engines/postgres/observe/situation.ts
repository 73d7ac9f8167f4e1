/** What the custom resource, its children and the answers of the members mean together: built once in each reconcile. */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { restoredAnnotation } from '../../../engine/backup-support.ts';
import { isVolumeGoing } from '../../../plan/going-volumes.ts';
import type { Children, Claim, Pod, StatefulSet } from '../../../resources/children.ts';
import { memberLabel } from '../../../resources/metadata.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import {
  claimName,
  holdsAnnotation,
  indexInName,
  indexInPodName,
  podName,
  postgresNames,
  retiredAnnotation,
  stateNames,
  walClaimName,
} from '../names.ts';
import { filledKey, type Roster, readRoster, requestKey } from '../resources/roster.ts';
import { type ReadRecord, readRecord, type UpgradeRecord } from '../resources/upgrade-record.ts';
import { answering, type LiveMember, type PostgresObserved } from './observed.ts';
import { runningCluster } from './running-version.ts';

/** What the ConfigMaps of Patroni say. */
export interface StoreState {
  /** Names of those that are not there. */
  readonly missing: readonly string[];
  /** Of the database that this store is about; absent before there is one. */
  readonly systemId?: string;
  /** A member has begun to make the database, and not finished it. */
  readonly isBegun?: true;
  /** A member has had the lock: commits may have been acknowledged, also before the store has the identifier. */
  readonly hasLed?: true;
  /** The pod that holds the lock. */
  readonly leader?: string;
  /** When it got the lock, and when it renewed it last, by its clock. In milliseconds. */
  readonly acquired?: number;
  readonly renewed?: number;
  /** Who may be elected; absent where nobody has written it. */
  readonly sync?: SyncState;
  /** Where earlier timelines ended. */
  readonly history: readonly TimelineEnd[];
}

/** Patroni promotes one of these, by as many votes of others of them as `quorum` says. */
export interface SyncState {
  /** The primary that has written it. */
  readonly leader: string;
  /** Pods, the leader's among them. */
  readonly voters: readonly string[];
  readonly quorum: number;
}

export interface TimelineEnd {
  readonly timeline: number;
  /** Position in the log, in bytes. */
  readonly end: number;
}

export interface Situation {
  /** With the version that its data has, and the image that runs that. */
  readonly cluster: Cluster<PostgresSpec>;
  readonly spec: PostgresSpec;
  /** As the custom resource has it. */
  readonly wanted: PostgresSpec;
  /** How far a major upgrade is. */
  readonly upgrade?: UpgradeRecord;
  readonly isRecordUnreadable: boolean;
  readonly children: Children;
  readonly observed: PostgresObserved;
  readonly roster: Roster;
  /** By the member's number. */
  readonly sets: ReadonlyMap<number, StatefulSet>;
  readonly pods: ReadonlyMap<number, Pod>;
  /** Those that are not retired. */
  readonly claims: ReadonlyMap<number, Claim>;
  /** The same of the volumes that have the log alone. */
  readonly walClaims: ReadonlyMap<number, Claim>;
  readonly live: ReadonlyMap<number, LiveMember>;
  /** Numbers of which a trace is left: a new member gets none of them. */
  readonly taken: ReadonlySet<number>;
  readonly store: StoreState;
  /** What a person has asked for, and the operator has begun: see `plan/recovery.ts`. */
  readonly request?: string;
  /** It is written down that the first database has been filled. */
  readonly wasFilled?: true;
  /** Takes writes and holds the lock. */
  readonly primary?: LiveMember;
  /** What would happen where nobody may be interrupted for what can wait. */
  readonly mayNotInterrupt?: true;
}

export function situationOf(wanted: Cluster<PostgresSpec>, children: Children, observed: PostgresObserved): Situation {
  const { metadata } = wanted;
  const isOurs = (object: KubeObject): boolean =>
    metadata.uid !== undefined &&
    (object.metadata.ownerReferences ?? []).some((owner) => owner.controller === true && owner.uid === metadata.uid);
  const labelled = (object: KubeObject): number | undefined =>
    indexInName(metadata.name, object.metadata.labels?.[memberLabel]);
  const record = children.get('ConfigMap', postgresNames(metadata.name).roster);
  const written: Readonly<Record<string, string>> =
    record !== undefined && isOurs(record) ? ((record.data ?? {}) as Readonly<Record<string, string>>) : {};
  const roster: Roster = readRoster(metadata.name, written);
  const upgrade: ReadRecord = readRecord(written);
  const request = written[requestKey];
  const sets = children.objects.filter(
    (object): object is StatefulSet => object.kind === 'StatefulSet' && isOurs(object),
  );
  const claimsNamed = (nameOf: typeof claimName): Claim[] =>
    children.claims.filter((claim) => {
      const index = labelled(claim);
      return index !== undefined && claim.metadata.name === nameOf(metadata.name, index);
    });
  const isKept = (claim: Claim): boolean => claim.metadata.annotations?.[retiredAnnotation] === undefined;
  const claims = claimsNamed(claimName);
  const walClaims = claimsNamed(walClaimName);
  const kept = claims.filter(isKept);
  const cluster = runningCluster(wanted, { written, upgrade, sets, claims: kept });
  const { spec } = cluster;
  const live = answering(observed.members);
  const store = storeOf(cluster, children);
  const primary = live.find(({ pod, role }) => role === 'primary' && pod === store.leader);
  return {
    cluster,
    spec,
    wanted: wanted.spec,
    ...(upgrade.state === 'read' ? { upgrade: upgrade.record } : {}),
    isRecordUnreadable: upgrade.state === 'unreadable',
    children,
    observed,
    roster,
    sets: numbered(sets, (set) => indexInName(metadata.name, set.metadata.name)),
    pods: numbered(children.pods, (pod) => indexInPodName(metadata.name, pod.metadata.name)),
    claims: numbered(kept, labelled),
    walClaims: numbered(walClaims.filter(isKept), labelled),
    live: numbered(live, ({ pod }) => indexInPodName(metadata.name, pod)),
    taken: new Set([
      ...roster.keys(),
      ...[sets, claims, walClaims].flatMap((objects) => [...numbered<KubeObject>(objects, labelled).keys()]),
    ]),
    store,
    ...(request === undefined ? {} : { request }),
    ...(written[filledKey] === undefined ? {} : { wasFilled: true }),
    ...(primary === undefined ? {} : { primary }),
  };
}

function numbered<T>(values: readonly T[], numberOf: (value: T) => number | undefined): Map<number, T> {
  return new Map(
    values.flatMap((value): [number, T][] => {
      const index = numberOf(value);
      return index === undefined ? [] : [[index, value]];
    }),
  );
}

/** What only a member that gets the lock writes on it. `relabel.py` has the same rule. */
const ofLeaders = ['leader', 'acquireTime', 'renewTime', 'optime'] as const;

/** They have no owner: a cluster of the same name that is made later finds them, as it finds the volumes. */
function storeOf({ metadata }: Cluster<PostgresSpec>, children: Children): StoreState {
  const { config, leader, sync } = postgresNames(metadata.name).state;
  const missing = stateNames(metadata.name).filter((name) => children.get('ConfigMap', name) === undefined);
  const said = (name: string) => children.get('ConfigMap', name)?.metadata.annotations ?? {};
  const { initialize: systemId, history = '' } = said(config);
  const lock = said(leader);
  const { leader: holder = '', acquireTime = '', renewTime = '' } = lock;
  const [acquired, renewed] = [Date.parse(acquireTime), Date.parse(renewTime)];
  const elected = syncState(said(sync));
  const hasLed = said(sync).leader !== undefined || ofLeaders.some((name) => lock[name] !== undefined);
  return {
    missing,
    history: timelineEnds(history),
    ...(systemId === undefined || !/^\d{1,20}$/.test(systemId) ? {} : { systemId }),
    ...(systemId === '' ? { isBegun: true } : {}),
    ...(hasLed ? { hasLed: true } : {}),
    ...(holder === '' ? {} : { leader: holder }),
    ...(Number.isNaN(acquired) ? {} : { acquired }),
    ...(Number.isNaN(renewed) ? {} : { renewed }),
    ...(elected === undefined ? {} : { sync: elected }),
  };
}

/** Until it names a leader, it limits nothing. */
function syncState({ leader = '', sync_standby = '', quorum = '' }: Readonly<Record<string, string>>) {
  if (leader === '') return undefined;
  const standbys = sync_standby.split(',').filter((name) => name !== '');
  const votes = /^\d{1,3}$/.test(quorum) ? Number(quorum) : 0;
  return { leader, voters: [...new Set([leader, ...standbys])], quorum: votes };
}

/** As Patroni writes it: `[[1, 67109192, "no recovery target specified", …], …]`. Anything else is no history. */
function timelineEnds(text: string): TimelineEnd[] {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown): TimelineEnd[] => {
    const [timeline, end] = Array.isArray(entry) ? (entry as readonly unknown[]) : [];
    return Number.isSafeInteger(timeline) && Number.isSafeInteger(end)
      ? [{ timeline: timeline as number, end: end as number }]
      : [];
  });
}

/** All volumes of a member: that with its data, and that of its log where it has one. */
export function volumesOf({ claims, walClaims }: Situation, index: number): readonly Claim[] {
  return [claims, walClaims].flatMap((map) => map.get(index) ?? []);
}

/** Somebody has deleted a volume that the pod of the member has mounted: it goes when the pod stops. */
export function isGoing({ pods, claims, walClaims, spec }: Situation, index: number): boolean {
  const pod = pods.get(index);
  const hasOwnLog = spec.walStorage !== undefined;
  return isVolumeGoing(pod, claims.get(index)) || (hasOwnLog && isVolumeGoing(pod, walClaims.get(index)));
}

/** The system identifier of the data that a claim holds; undefined where it holds nobody's. */
export function heldBy(claim: Claim | undefined): string | undefined {
  return claim?.metadata.annotations?.[holdsAnnotation];
}

/** It holds the data of a backup, and may have had no member yet. */
export function isRestored(claim: Claim | undefined): boolean {
  return claim?.metadata.annotations?.[restoredAnnotation] !== undefined;
}

/** Something was written once: it is not for the operator to begin anew. */
export function hasHeldData({ cluster, claims, live, store }: Situation): boolean {
  const isHeld = [...claims.values()].some((claim) => heldBy(claim) !== undefined);
  // A volume is marked only after its member has told.
  const isTold = [...live.values()].some(({ systemId }) => systemId !== undefined);
  const isKnown = cluster.status?.initialized === true || store.systemId !== undefined;
  return isKnown || store.hasLed === true || isHeld || isTold;
}

export function isPrimary({ primary }: Situation, { pod }: Pick<LiveMember, 'pod'>): boolean {
  return primary?.pod === pod;
}

/** The number of a member. */
export function indexOf({ cluster }: Situation, { pod }: Pick<LiveMember, 'pod'>): number | undefined {
  return indexInPodName(cluster.metadata.name, pod);
}

export function podOf({ cluster }: Situation, index: number): string {
  return podName(cluster.metadata.name, index);
}
