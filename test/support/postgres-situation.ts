/**
 * Situations of a PostgreSQL cluster, for tables of stories.
 *
 * A story says in what the world differs from a cluster `db` that is whole: three members, number 0 is the primary and holds the lock,
 * every other one streams from it and is synchronous, every child is as the builders want it, every volume is marked. Member i has the
 * address 10.0.0.i; the database has the system identifier 7001.
 */
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { restoredAnnotation } from '../../src/engine/backup-support.ts';
import { type PostgresSpec, type PostgresSpecInput, postgresKind } from '../../src/engines/postgres/kind/schema.ts';
import {
  claimName,
  component,
  exporterComponent,
  exporterName,
  holdsAnnotation,
  memberName,
  podName,
  poolerComponent,
  postgresNames,
  retiredAnnotation,
  roleLabel,
  versionAnnotation,
  walClaimName,
} from '../../src/engines/postgres/names.ts';
import type { LiveMember, PostgresObserved } from '../../src/engines/postgres/observe/observed.ts';
import { firstAuthorities } from '../../src/engines/postgres/resources/authorities.ts';
import { parameterNames } from '../../src/engines/postgres/resources/parameters.ts';
import { configDigest, sharedConfig } from '../../src/engines/postgres/resources/patroni-config.ts';
import { newState, postgresChildren } from '../../src/engines/postgres/resources/resources.ts';
import type { Roster, Start } from '../../src/engines/postgres/resources/roster.ts';
import { startValues } from '../../src/engines/postgres/resources/start-values.ts';
import type { UpgradeRecord } from '../../src/engines/postgres/resources/upgrade-record.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { type Children, childrenOf, type StatefulSet } from '../../src/resources/children.ts';
import { memberLabel, selectorLabels } from '../../src/resources/metadata.ts';
import { stored } from '../../src/testing/stored-object.ts';
import { certificatesSeen } from './postgres-certificates.ts';
import { askedAgain, poolerAddress, poolersSeen } from './postgres-seen.ts';

/** `silent`: the pod runs, and its Patroni does not answer. `gone`: there is no pod. */
export type MemberChange = 'silent' | 'gone' | Partial<LiveMember>;
/** `blank`: it has no mark. `restored`: it has no mark but that of a backup. `going`: somebody has deleted it, and its pod is there. */
export type ClaimChange = 'none' | 'blank' | 'restored' | 'retired' | 'foreign' | 'going';
export type PodChange = 'outdated' | 'unready' | 'stopping' | 'crashing' | 'outdated and crashing';
type ByNumber<Change> = Readonly<Record<number, Change>> & { readonly all?: Change };

/** Of Patroni's ConfigMaps. */
export type StateName = 'config' | 'leader' | 'failover' | 'sync';

export interface Story {
  readonly spec?: PostgresSpecInput;
  /** The spec that the children and Patroni's configuration are from, where it has changed since. */
  readonly before?: PostgresSpecInput;
  readonly metadata?: Partial<ObjectMeta>;
  readonly status?: ClusterStatus;
  /** Numbers of the members. By default as many as the spec that the children are from has. */
  readonly numbers?: readonly number[];
  /** False: it is not written down that the first database has been filled. */
  readonly filled?: false;
  /** Numbers that are in the roster, where those are others. */
  readonly rostered?: readonly number[];
  /** Number of the primary. Default: the first. */
  readonly primary?: number | 'nobody';
  readonly members?: ByNumber<MemberChange>;
  readonly pods?: ByNumber<PodChange>;
  readonly claims?: ByNumber<ClaimChange>;
  /** Of the volumes that have the log alone. They have no marks but that of a member that has left. */
  readonly walClaims?: ByNumber<'none' | 'retired' | 'going'>;
  /** How each member is to start, as it is written down. By default it resumes. */
  readonly starts?: ByNumber<Start>;
  /** A major upgrade that is under way, and who of the members runs. */
  readonly record?: UpgradeRecord;
  readonly running?: readonly number[];
  /** ConfigMaps of Patroni that are gone. */
  readonly missing?: readonly StateName[];
  /** What Patroni has written of who may be elected. By default it names who holds the lock. */
  readonly sync?: Readonly<Record<string, string>>;
  /** What Patroni has written besides on the lock. */
  readonly lock?: Readonly<Record<string, string>>;
  /** What Patroni has written of earlier timelines. */
  readonly history?: string;
  /** Number of who holds the lock, where that is not the primary. */
  readonly leader?: number | 'nobody';
  /** Numbers of those whose pods have the label of the primary. Default: the primary. */
  readonly labelled?: readonly number[];
  /** Last word on the children. */
  readonly children?: (objects: readonly KubeObject[]) => readonly KubeObject[];
  readonly observed?: Partial<PostgresObserved>;
}

export interface World {
  readonly cluster: Cluster<PostgresSpec>;
  readonly children: Children;
  readonly observed: PostgresObserved;
}

export const now = Date.parse('2030-06-01T12:00:00Z');
export const systemId = '7001';
export const memberAddress = (number: number): string => `10.0.0.${number}`;

/** A valid, defaulted cluster `db`. Throws where the spec is not valid. */
export function postgresCluster(
  spec: PostgresSpecInput = {},
  metadata: Partial<ObjectMeta> = {},
  status?: ClusterStatus,
): Cluster<PostgresSpec> {
  const verdict = validateCluster(postgresKind, {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'PostgresCluster',
    metadata: { name: 'db', namespace: 'apps', uid: 'uid-db', generation: 1, resourceVersion: '1', ...metadata },
    spec,
  });
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return { ...(verdict.cluster as Cluster<PostgresSpec>), ...(status === undefined ? {} : { status }) };
}

export function postgresWorld(story: Story = {}): World {
  const cluster = postgresCluster(story.spec, story.metadata, story.status ?? { initialized: true });
  const built = story.before === undefined ? cluster : postgresCluster(story.before);
  const numbers = story.numbers ?? Array.from({ length: built.spec.instances }, (_, number) => number);
  const start = (number: number): [number, Start] => [number, changeOf(story.starts, number) ?? 'resume'];
  const roster: Roster = new Map((story.rostered ?? numbers).map(start));
  const primary = story.primary === 'nobody' ? undefined : (story.primary ?? numbers[0]);
  // Those that have left still have what is theirs.
  const left = numbers.filter((number) => !roster.has(number));
  const ofLeft = postgresChildren(built, new Map(left.map(start)), () => firstAuthorities)
    .map(({ object }) => object)
    .filter(({ kind, metadata }) => kind === 'StatefulSet' && metadata.labels?.[memberLabel] !== undefined);
  const objects = [
    ...stateOf(story, built, primary),
    ...[
      ...postgresChildren(built, roster, () => firstAuthorities, {
        record: story.record,
        ...(story.filled === false ? {} : { filled: true }),
        isRunning: (number) => story.running?.includes(number) !== false,
      }).map(({ object }) => object),
      ...ofLeft,
    ].map(child),
    ...numbers.flatMap((number) => podOf(story, built, number, primary)),
    ...numbers.flatMap((number) => claimOf(story, built, number)),
    ...numbers.flatMap((number) => walClaimOf(story, built, number)),
    ...besidePodsOf(built, numbers),
  ];
  const members = askedAgain(numbers.flatMap((number) => liveOf(story, built, numbers, primary, number)));
  const isAsked = members.some(({ state }) => state === 'answering');
  return {
    cluster,
    children: childrenOf(story.children?.(objects) ?? objects),
    observed: {
      members,
      at: now,
      certificates: certificatesSeen(built, now),
      authorities: firstAuthorities,
      ...(isAsked ? { config: sharedConfig(built) } : {}),
      ...(built.spec.pooler === undefined ? {} : { poolers: poolersSeen(built.spec.pooler.instances) }),
      ...(primary === undefined
        ? {}
        : { application: { state: 'seen', facts: { hasOwner: true, owner: 'app' }, isPasswordWrong: false } }),
      ...story.observed,
    },
  };
}

function changeOf<Change>(changes: ByNumber<Change> | undefined, number: number): Change | undefined {
  return changes?.[number] ?? changes?.all;
}

function child(object: KubeObject): KubeObject {
  const made = stored(fingerprinted(object));
  return object.kind === 'StatefulSet'
    ? {
        ...made,
        status: {
          observedGeneration: 1,
          replicas: (made as StatefulSet).spec?.replicas ?? 0,
          readyReplicas: 1,
          updateRevision: 'new',
        },
      }
    : made;
}

/** As Patroni has written them. */
function stateOf(story: Story, cluster: Cluster<PostgresSpec>, primary?: number): KubeObject[] {
  const { missing = [], leader } = story;
  const { config, leader: lock, sync, failover } = postgresNames(cluster.metadata.name).state;
  const names: Readonly<Record<string, StateName>> = { [config]: 'config', [lock]: 'leader', [sync]: 'sync' };
  const holder = leader === 'nobody' ? undefined : (leader ?? primary);
  const pod = holder === undefined ? {} : { leader: podName(cluster.metadata.name, holder) };
  const times = { acquireTime: new Date(now - 3_600_000).toISOString(), renewTime: new Date(now - 2000).toISOString() };
  const written: Readonly<Record<StateName, Readonly<Record<string, string>>>> = {
    config: { config: JSON.stringify(sharedConfig(cluster)), initialize: systemId, history: story.history ?? '[]' },
    leader: { ...pod, ...times, ...story.lock },
    sync: story.sync ?? pod,
    failover: {},
  };
  return newState(cluster).flatMap(({ object }) => {
    const name = object.metadata.name === failover ? 'failover' : (names[object.metadata.name] ?? 'failover');
    if (missing.includes(name)) return [];
    return [stored({ ...object, metadata: { ...object.metadata, annotations: written[name] } })];
  });
}

function podOf(story: Story, cluster: Cluster<PostgresSpec>, number: number, primary?: number): KubeObject[] {
  if (changeOf(story.members, number) === 'gone') return [];
  const change = changeOf(story.pods, number);
  const { name, namespace } = cluster.metadata;
  const isOutdated = change === 'outdated' || change === 'outdated and crashing';
  const isCrashing = change === 'crashing' || change === 'outdated and crashing';
  const isReady = change !== 'unready' && !isCrashing && changeOf(story.members, number) !== 'silent';
  const isLabelled = (story.labelled ?? [primary]).includes(number);
  return [
    stored({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: podName(name, number),
        namespace,
        labels: {
          ...selectorLabels(cluster, { engine: 'postgres', component }),
          [memberLabel]: memberName(name, number),
          [roleLabel]: isLabelled ? 'primary' : 'replica',
          'controller-revision-hash': isOutdated ? 'old' : 'new',
        },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'StatefulSet',
            name: memberName(name, number),
            uid: `uid-StatefulSet-${memberName(name, number)}`,
            controller: true,
          },
        ],
        ...(change === 'stopping' ? { deletionTimestamp: new Date(now).toISOString() } : {}),
      },
      spec: { nodeName: `node-${number}` },
      status: {
        phase: 'Running',
        podIP: memberAddress(number),
        conditions: [
          { type: 'PodScheduled', status: 'True' },
          { type: 'Ready', status: isReady ? 'True' : 'False' },
        ],
        ...(isCrashing
          ? {
              containerStatuses: [
                { name: 'postgres', restartCount: 9, state: { waiting: { reason: 'CrashLoopBackOff' } } },
              ],
            }
          : {}),
      },
    }),
  ];
}

/** Those of the pooler and of the exporters, each of which runs and is ready. */
function besidePodsOf(cluster: Cluster<PostgresSpec>, numbers: readonly number[]): KubeObject[] {
  const { metadata, spec } = cluster;
  const { pooler } = postgresNames(metadata.name);
  const size = spec.instances === 0 ? 0 : (spec.pooler?.instances ?? 0);
  const poolers = Array.from({ length: size }, (_, ordinal) => podBeside(cluster, poolerComponent, pooler, ordinal));
  const monitored = spec.monitoring === undefined ? [] : numbers;
  return [
    ...poolers,
    ...monitored.map((number) => {
      const own = { [memberLabel]: memberName(metadata.name, number) };
      return podBeside(cluster, exporterComponent, exporterName(metadata.name, number), 0, own);
    }),
  ];
}

function podBeside(
  cluster: Cluster<PostgresSpec>,
  of: string,
  set: string,
  ordinal: number,
  own: Readonly<Record<string, string>> = {},
): KubeObject {
  const labels = selectorLabels(cluster, { engine: 'postgres', component: of });
  return stored({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${set}-${ordinal}`,
      namespace: cluster.metadata.namespace,
      labels: { ...labels, ...own, 'controller-revision-hash': 'new' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: set, uid: `uid-StatefulSet-${set}`, controller: true },
      ],
    },
    status: {
      phase: 'Running',
      podIP: poolerAddress(ordinal),
      conditions: [
        { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status: 'True' },
      ],
    },
  });
}

function claimOf(story: Story, cluster: Cluster<PostgresSpec>, number: number): KubeObject[] {
  const change = changeOf(story.claims, number);
  if (change === 'none') return [];
  const { name, namespace } = cluster.metadata;
  return [
    stored({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: claimName(name, number),
        namespace,
        labels: {
          ...selectorLabels(cluster, { engine: 'postgres', component }),
          [memberLabel]: memberName(name, number),
        },
        annotations: {
          ...(change === 'blank' || change === 'restored'
            ? {}
            : {
                [holdsAnnotation]: change === 'foreign' ? '9009' : systemId,
                [versionAnnotation]: cluster.spec.version,
              }),
          ...(change === 'restored' ? { [restoredAnnotation]: 'apps/PostgresCluster/uid-old/id' } : {}),
          ...(change === 'retired' ? { [retiredAnnotation]: 'true' } : {}),
        },
        ...(change === 'going' ? { deletionTimestamp: new Date(now).toISOString() } : {}),
      },
      spec: { resources: { requests: { storage: cluster.spec.storage.size } } },
      status: { phase: 'Bound', capacity: { storage: cluster.spec.storage.size } },
    }),
  ];
}

function walClaimOf(story: Story, cluster: Cluster<PostgresSpec>, number: number): KubeObject[] {
  const change = changeOf(story.walClaims, number);
  const size = cluster.spec.walStorage?.size;
  if (size === undefined || change === 'none') return [];
  const { name, namespace } = cluster.metadata;
  return [
    stored({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: walClaimName(name, number),
        namespace,
        labels: {
          ...selectorLabels(cluster, { engine: 'postgres', component }),
          [memberLabel]: memberName(name, number),
        },
        annotations: change === 'retired' ? { [retiredAnnotation]: 'true' } : {},
        ...(change === 'going' ? { deletionTimestamp: new Date(now).toISOString() } : {}),
      },
      spec: { resources: { requests: { storage: size } } },
      status: { phase: 'Bound', capacity: { storage: size } },
    }),
  ];
}

function liveOf(
  story: Story,
  cluster: Cluster<PostgresSpec>,
  numbers: readonly number[],
  primary: number | undefined,
  number: number,
): PostgresObserved['members'] {
  const change = changeOf(story.members, number);
  const { name } = cluster.metadata;
  const pod = podName(name, number);
  if (change === 'gone') return [];
  if (change === 'silent') return [{ state: 'silent', pod, why: 'no answer' }];
  const isPrimary = number === primary;
  const streams = !isPrimary && primary !== undefined;
  const live: LiveMember = {
    state: 'answering',
    pod,
    address: memberAddress(number),
    postgres: 'running',
    role: isPrimary ? 'primary' : 'replica',
    version: `${cluster.spec.version}.12`,
    systemId,
    timeline: 1,
    lsn: 1000,
    isStreaming: streams,
    isSynchronous: streams && cluster.spec.synchronous.count > 0,
    restartPending: false,
    awaitsPrimary: false,
    standbys: isPrimary ? numbers.filter((other) => other !== number).map((other) => podName(name, other)) : [],
    isUnlocked: primary === undefined,
    failsafe: false,
    isPaused: false,
    server: {
      state: 'seen',
      facts: {
        inRecovery: !isPrimary,
        config: configDigest(cluster),
        pending: 0,
        configAgeMs: 60_000,
        upMs: 3_600_000,
        waitsFor: isPrimary && numbers.length > 1 && cluster.spec.synchronous.count > 0 ? 'ANY 1 ("db-1-0")' : '',
        prepared: 0,
      },
      settings: [...new Set([...parameterNames(cluster.spec), ...startValues(cluster).keys()])].map((name) => ({
        name,
        value: cluster.spec.parameters[name] ?? `${startValues(cluster).get(name)}`,
        isDefault: false,
        isText: false,
        isPending: false,
      })),
    },
  };
  return [{ ...live, ...change }];
}
