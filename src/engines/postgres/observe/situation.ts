/** What the custom resource, its children and the answers of the members mean together: built once in each reconcile. */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { restoredAnnotation } from '../../../engine/backup-support.ts';
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
} from '../names.ts';
import { type Roster, readRoster } from '../resources/roster.ts';
import { answering, type LiveMember, type PostgresObserved } from './observed.ts';

/** What the ConfigMaps of Patroni say. */
export interface StoreState {
  /** Names of those that are not there. */
  readonly missing: readonly string[];
  /** Of the database that this store is about; absent before there is one. */
  readonly systemId?: string;
  /** The pod that holds the lock. */
  readonly leader?: string;
}

export interface Situation {
  readonly cluster: Cluster<PostgresSpec>;
  readonly spec: PostgresSpec;
  readonly children: Children;
  readonly observed: PostgresObserved;
  readonly roster: Roster;
  /** By the member's number. */
  readonly sets: ReadonlyMap<number, StatefulSet>;
  readonly pods: ReadonlyMap<number, Pod>;
  /** Those that are not retired. */
  readonly claims: ReadonlyMap<number, Claim>;
  readonly live: ReadonlyMap<number, LiveMember>;
  /** Numbers of which a trace is left: a new member gets none of them. */
  readonly taken: ReadonlySet<number>;
  readonly store: StoreState;
  /** Takes writes and holds the lock. */
  readonly primary?: LiveMember;
}

export function situationOf(cluster: Cluster<PostgresSpec>, children: Children, observed: PostgresObserved): Situation {
  const { metadata, spec } = cluster;
  const isOurs = (object: KubeObject): boolean =>
    metadata.uid !== undefined &&
    (object.metadata.ownerReferences ?? []).some((owner) => owner.controller === true && owner.uid === metadata.uid);
  const labelled = (object: KubeObject): number | undefined =>
    indexInName(metadata.name, object.metadata.labels?.[memberLabel]);
  const record = children.get('ConfigMap', postgresNames(metadata.name).roster);
  const roster: Roster =
    record !== undefined && isOurs(record)
      ? readRoster(metadata.name, (record.data ?? {}) as Readonly<Record<string, string>>)
      : new Map();
  const sets = children.objects.filter(
    (object): object is StatefulSet => object.kind === 'StatefulSet' && isOurs(object),
  );
  const claims = children.claims.filter((claim) => {
    const index = labelled(claim);
    return index !== undefined && claim.metadata.name === claimName(metadata.name, index);
  });
  const live = answering(observed.members);
  const store = storeOf(cluster, children);
  const primary = live.find(({ pod, role }) => role === 'primary' && pod === store.leader);
  return {
    cluster,
    spec,
    children,
    observed,
    roster,
    sets: numbered(sets, (set) => indexInName(metadata.name, set.metadata.name)),
    pods: numbered(children.pods, (pod) => indexInPodName(metadata.name, pod.metadata.name)),
    claims: numbered(
      claims.filter((claim) => claim.metadata.annotations?.[retiredAnnotation] === undefined),
      labelled,
    ),
    live: numbered(live, ({ pod }) => indexInPodName(metadata.name, pod)),
    taken: new Set([...roster.keys(), ...numbered(sets, labelled).keys(), ...numbered(claims, labelled).keys()]),
    store,
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

/** They are of no owner: whoever comes after a cluster that was deleted finds them, as it finds the volumes. */
function storeOf({ metadata }: Cluster<PostgresSpec>, children: Children): StoreState {
  const { config, leader } = postgresNames(metadata.name).state;
  const missing = stateNames(metadata.name).filter((name) => children.get('ConfigMap', name) === undefined);
  const systemId = children.get('ConfigMap', config)?.metadata.annotations?.initialize;
  const holder = children.get('ConfigMap', leader)?.metadata.annotations?.leader;
  return {
    missing,
    ...(systemId === undefined || !/^\d{1,20}$/.test(systemId) ? {} : { systemId }),
    ...(holder === undefined ? {} : { leader: holder }),
  };
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
  return cluster.status?.initialized === true || store.systemId !== undefined || isHeld || isTold;
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
