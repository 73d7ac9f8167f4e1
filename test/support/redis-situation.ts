/**
 * Situations of a Redis cluster, for tables of stories.
 *
 * A story says in what the world differs from a cluster `db` that is whole: three data nodes with the primary on
 * ordinal 0, three sentinels that agree, every child as the builders want it. Node i has the address 10.0.0.i, sentinel
 * i 10.0.1.i.
 */
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { validateCluster } from '../../src/api/validate.ts';
import type { Formers } from '../../src/engines/redis/action.ts';
import { type RedisSpec, type RedisSpecInput, redisKind } from '../../src/engines/redis/kind/schema.ts';
import { addressAnnotation, redisNames, roleLabel, termAnnotation } from '../../src/engines/redis/names.ts';
import type {
  DataNode,
  Lack,
  RedisObserved,
  SentinelNode,
  SentinelView,
  SilentNode,
} from '../../src/engines/redis/observe/observed.ts';
import { withoutCertificate, withoutIdentity } from '../../src/engines/redis/plan/held-template.ts';
import { sentinelSettings } from '../../src/engines/redis/resources/config.ts';
import { redisResources } from '../../src/engines/redis/resources/resources.ts';
import { settingsToHold } from '../../src/engines/redis/resources/settings.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { atSize } from '../../src/plan/objects.ts';
import { type Children, childrenOf } from '../../src/resources/children.ts';
import { selectorLabels } from '../../src/resources/metadata.ts';
import { stored } from '../../src/testing/stored-object.ts';

/**
 * `silent`: the pod runs and does not answer. `gone`: there is no pod. `unassigned`: it holds data and follows nobody.
 * `blank`: an empty volume, and it follows nobody.
 */
export type NodeChange = 'silent' | 'gone' | 'unassigned' | 'blank' | Partial<DataNode>;
/** `forgot`: it answers and watches nobody. */
export type SentinelChange = 'silent' | 'gone' | 'forgot' | Partial<SentinelView>;
/** `stuck`: outdated, and its container cannot start. `killed`: outdated, and its container is about to start again. `elsewhere`: it runs at 10.9.0.0. `primary`, `replica`, `unlabelled`: so its role label says, whatever it is. */
export type PodChange =
  | 'outdated'
  | 'stuck'
  | 'killed'
  | 'terminating'
  | 'unready'
  | 'unschedulable'
  | 'elsewhere'
  | 'primary'
  | 'replica'
  | 'unlabelled';

export interface Story {
  readonly spec?: RedisSpecInput;
  /** The spec that the children and the settings are from, where it has changed since. */
  readonly before?: RedisSpecInput;
  readonly metadata?: Partial<ObjectMeta>;
  readonly status?: ClusterStatus;
  /** Sizes of the two StatefulSets; by default those of the spec. */
  readonly size?: number;
  readonly sentinelSize?: number;
  /** Ordinal of the primary, `nobody` where every node follows nobody. Default 0. */
  readonly primary?: number | 'nobody';
  /** By ordinal; `all` first. */
  readonly nodes?: Readonly<Record<number, NodeChange>> & { readonly all?: NodeChange };
  readonly sentinels?: Readonly<Record<number, SentinelChange>> & { readonly all?: SentinelChange };
  /** By the pod's name. */
  readonly pods?: Readonly<Record<string, PodChange>>;
  /** Memory limits of data pods, by name. By default that of `before`, or of the spec. */
  readonly memory?: Readonly<Record<string, string>>;
  /** Terms on the claims, by ordinal. By default 1 on that of the primary. */
  readonly terms?: Readonly<Record<number, number>>;
  /** Addresses on the claims, by ordinal. By default those of the nodes. */
  readonly addresses?: Readonly<Record<number, string>>;
  /** Ordinals of further claims, whose nodes have been scaled away. */
  readonly keptClaims?: readonly number[];
  /** The StatefulSets were made before clusters had an identity, and before pods mounted a certificate. */
  readonly older?: true;
  /** Of every sentinel. */
  readonly sentinelLacks?: readonly Lack[];
  /** Of every sentinel. */
  readonly sentinelFormers?: Formers;
  /** Last word on the children. */
  readonly children?: (objects: readonly KubeObject[]) => readonly KubeObject[];
  readonly observed?: Partial<RedisObserved>;
}

export interface World {
  readonly cluster: Cluster<RedisSpec>;
  readonly children: Children;
  readonly observed: RedisObserved;
}

export const nodeAddress = (ordinal: number): string => `10.0.0.${ordinal}`;
export const sentinelAddress = (ordinal: number): string => `10.0.1.${ordinal}`;

/** What a node's volume says. */
export const termed = (role: 'primary' | 'replica', number: number): Partial<DataNode> => ({
  term: { number, wasPrimary: role === 'primary' },
});

/** What a sentinel says about these nodes and these peers. */
export const knownReplicas = (...ordinals: readonly number[]): SentinelView['replicas'] =>
  ordinals.map((i) => ({ address: nodeAddress(i), priority: 100, down: false }));
export const knownPeers = (...ordinals: readonly number[]): SentinelView['peers'] =>
  ordinals.map((i) => ({ address: sentinelAddress(i), down: false }));

/** A valid, defaulted cluster `db`. Throws where the spec is not valid. */
export function redisCluster(
  spec: RedisSpecInput = {},
  metadata: Partial<ObjectMeta> = {},
  status?: ClusterStatus,
): Cluster<RedisSpec> {
  const verdict = validateCluster(redisKind, {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'RedisCluster',
    metadata: { name: 'db', namespace: 'apps', uid: 'uid-db', generation: 1, resourceVersion: '1', ...metadata },
    spec,
    ...(status === undefined ? {} : { status }),
  });
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return verdict.cluster as Cluster<RedisSpec>;
}

const ordinals = (size: number): number[] => Array.from({ length: size }, (_, i) => i);

export function redisWorld(story: Story = {}): World {
  const cluster = redisCluster(story.spec, story.metadata, story.status);
  const standalone = cluster.spec.mode === 'Standalone';
  const built = story.before === undefined ? cluster : redisCluster(story.before);
  const size = story.size ?? built.spec.replicas;
  const sentinelSize = standalone ? 0 : (story.sentinelSize ?? built.spec.sentinel.replicas);
  const objects = [
    ...childObjects(story, built, size, sentinelSize),
    ...ordinals(size).flatMap((i) => dataPod(story, built, i)),
    ...ordinals(sentinelSize).flatMap((i) => sentinelPod(story, built, i)),
    ...(cluster.spec.storage.ephemeral
      ? []
      : [...ordinals(size), ...(story.keptClaims ?? [])].map(claim(story, built))),
  ];
  return {
    cluster,
    children: childrenOf(story.children?.(objects) ?? objects),
    observed: {
      data: ordinals(size).flatMap((i) => dataNode(story, built, size, i)),
      sentinels: ordinals(sentinelSize).flatMap((i) => sentinelNode(story, built, size, sentinelSize, i)),
      ...story.observed,
    },
  };
}

function childObjects(story: Story, cluster: Cluster<RedisSpec>, size: number, sentinelSize: number): KubeObject[] {
  const names = redisNames(cluster.metadata.name);
  return redisResources(cluster).flatMap(({ object, generate }) => {
    if (generate !== undefined) return [];
    if (object.kind !== 'StatefulSet') return [stored(fingerprinted(object))];
    const { replicas: asked } = object.spec as { readonly replicas: number };
    const sizes: Readonly<Record<string, number>> = { [names.data]: size, [names.sentinel]: sentinelSize };
    const replicas = sizes[object.metadata.name] ?? asked;
    const status = { observedGeneration: 1, replicas, readyReplicas: replicas, updateRevision: 'new' };
    const made = story.older === true ? withoutCertificate(withoutIdentity(object)) : object;
    return [{ ...stored(fingerprinted(atSize(made, replicas))), status }];
  });
}

function changeOf<Change>(
  changes: (Readonly<Record<number, Change>> & { readonly all?: Change }) | undefined,
  ordinal: number,
): Change | undefined {
  return changes?.[ordinal] ?? changes?.all;
}

function pod(story: Story, cluster: Cluster<RedisSpec>, name: string, component: string, role?: string): KubeObject[] {
  const change = story.pods?.[name];
  const ordinal = Number(name.slice(name.lastIndexOf('-') + 1));
  const own = component === 'data' ? nodeAddress(ordinal) : sentinelAddress(ordinal);
  const isReady = change === undefined || !['unready', 'unschedulable', 'stuck', 'killed'].includes(change);
  const isOutdated = change !== undefined && ['outdated', 'stuck', 'killed'].includes(change);
  const waiting = change === 'stuck' ? 'ErrImagePull' : change === 'killed' ? 'CrashLoopBackOff' : undefined;
  return [
    stored({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: cluster.metadata.namespace,
        labels: {
          ...selectorLabels(cluster, { engine: 'redis', component }),
          'controller-revision-hash': isOutdated ? 'old' : 'new',
          ...roleOn(change, role),
        },
        ...(change === 'terminating' ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {}),
      },
      spec: {
        nodeName: `node-${ordinal}`,
        containers: [
          {
            name: component === 'data' ? 'redis' : 'sentinel',
            resources: { limits: { memory: story.memory?.[name] ?? cluster.spec.resources.limits.memory } },
          },
        ],
      },
      status:
        change === 'unschedulable'
          ? {
              phase: 'Pending',
              conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }],
            }
          : {
              phase: change === 'stuck' ? 'Pending' : 'Running',
              podIP: change === 'elsewhere' ? '10.9.0.0' : own,
              conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
              ...(waiting === undefined
                ? {}
                : { containerStatuses: [{ restartCount: 1, state: { waiting: { reason: waiting } } }] }),
            },
    }),
  ];
}

function roleOn(change: PodChange | undefined, role: string | undefined): Readonly<Record<string, string>> {
  if (change === 'primary' || change === 'replica') return { [roleLabel]: change };
  return role === undefined || change === 'unlabelled' ? {} : { [roleLabel]: role };
}

function dataPod(story: Story, cluster: Cluster<RedisSpec>, ordinal: number): KubeObject[] {
  if (changeOf(story.nodes, ordinal) === 'gone') return [];
  const { primary = 0 } = story;
  const role = primary === 'nobody' ? undefined : primary === ordinal ? 'primary' : 'replica';
  return pod(story, cluster, `db-${ordinal}`, 'data', role);
}

function sentinelPod(story: Story, cluster: Cluster<RedisSpec>, ordinal: number): KubeObject[] {
  if (changeOf(story.sentinels, ordinal) === 'gone') return [];
  return pod(story, cluster, `db-sentinel-${ordinal}`, 'sentinel');
}

function claim(story: Story, cluster: Cluster<RedisSpec>) {
  return (ordinal: number): KubeObject => {
    const { primary = 0 } = story;
    const term = story.terms === undefined ? (primary === ordinal ? 1 : undefined) : story.terms[ordinal];
    const isKept = story.keptClaims?.includes(ordinal) === true || cluster.spec.mode === 'Standalone';
    const address = (story.addresses ?? (isKept ? {} : { [ordinal]: nodeAddress(ordinal) }))[ordinal];
    const annotations = {
      ...(term === undefined ? {} : { [termAnnotation]: String(term) }),
      ...(address === undefined ? {} : { [addressAnnotation]: address }),
    };
    return stored({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: `data-db-${ordinal}`,
        namespace: cluster.metadata.namespace,
        labels: selectorLabels(cluster, { engine: 'redis', component: 'data' }),
        annotations,
      },
      spec: { resources: { requests: { storage: cluster.spec.storage.size } } },
      status: { phase: 'Bound' },
    });
  };
}

function silent(name: string, address: string): SilentNode {
  return { state: 'silent', pod: name, address, why: 'no answer' };
}

function dataNode(story: Story, cluster: Cluster<RedisSpec>, size: number, i: number): (DataNode | SilentNode)[] {
  const change = changeOf(story.nodes, i);
  const { primary = 0 } = story;
  const [name, address] = [`db-${i}`, nodeAddress(i)];
  if (change === 'gone') return [];
  if (change === 'silent') return [silent(name, address)];
  const isPrimary = primary === i;
  const claimsRole = typeof change === 'object' && change.role === 'primary';
  const assigned = !isPrimary && !claimsRole && primary !== 'nobody' && change !== 'blank' && change !== 'unassigned';
  const others = ordinals(size).filter((other) => other !== i);
  const inSync = others.filter((other) => {
    const state = changeOf(story.nodes, other);
    return (
      state === undefined ||
      (typeof state === 'object' && (state.follows ?? address) === address && state.role !== 'primary')
    );
  });
  const node: DataNode = {
    state: 'answering',
    pod: name,
    address,
    version: '8.0.1',
    role: isPrimary ? 'primary' : 'replica',
    ...(assigned ? { follows: nodeAddress(primary) } : {}),
    linkUp: isPrimary || assigned,
    copyRefused: false,
    fullSyncs: 0,
    isStale: false,
    offset: 1000,
    replicas: isPrimary ? inSync.map(nodeAddress) : [],
    failoverEligible: change !== 'blank',
    empty: change === 'blank',
    ...(change === 'blank' ? {} : termOn(story, i)),
    settings: settingsToHold(cluster),
    asksSentinels: true,
    usedMemory: 0,
    findings: [],
  };
  return [typeof change === 'object' ? { ...node, ...change } : node];
}

/** The volumes say what the claims say. */
function termOn({ terms, primary = 0 }: Story, i: number): Pick<DataNode, 'term'> {
  const known = terms ?? (primary === 'nobody' ? {} : { [primary]: 1 });
  const number = Math.max(0, ...Object.values(known));
  return number === 0 ? {} : { term: { number, wasPrimary: known[i] === number } };
}

function sentinelNode(
  story: Story,
  cluster: Cluster<RedisSpec>,
  size: number,
  sentinelSize: number,
  i: number,
): (SentinelNode | SilentNode)[] {
  const change = changeOf(story.sentinels, i);
  const { primary = 0 } = story;
  const [name, address] = [`db-sentinel-${i}`, sentinelAddress(i)];
  if (change === 'gone') return [];
  if (change === 'silent') return [silent(name, address)];
  const { sentinelLacks, sentinelFormers } = story;
  const lacks = {
    ...(sentinelLacks === undefined ? {} : { lacks: sentinelLacks }),
    ...(sentinelFormers === undefined ? {} : { formers: sentinelFormers }),
  };
  if (change === 'forgot' || (primary === 'nobody' && change === undefined)) {
    return [{ state: 'answering', pod: name, address, ...lacks }];
  }
  const watched = primary === 'nobody' ? 0 : primary;
  const view: SentinelView = {
    primary: nodeAddress(watched),
    epoch: 1,
    primaryDown: false,
    seesPrimary: true,
    authenticated: true,
    failingOver: false,
    settings: { ...sentinelSettings(cluster) },
    replicas: knownReplicas(...ordinals(size).filter((other) => other !== watched)),
    peers: knownPeers(...ordinals(sentinelSize).filter((other) => other !== i)),
    ...change,
  };
  return [{ state: 'answering', pod: name, address, view, ...lacks }];
}
