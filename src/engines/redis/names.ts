/** Every name, port and path of a Redis cluster's objects, in one place: selectors and volumes depend on them for ever. */
import type { KubeObject } from '../../api/object.ts';

export const dataPort = 6379;
export const sentinelPort = 26379;
/** On which the nodes of a Redis Cluster talk to each other. */
export const busPort = 16379;
/** Of the exporter, in each pod that has one. */
export const exporterPort = 9121;

/** Of the proxy: readiness, liveness and metrics. */
export const proxyHealthPort = 8404;
/** Inside a proxy pod: whether it may go on with the primary that it has. */
export const proxyDecisionPort = 8405;

export const proxyComponent = 'proxy';

/** Where the ConfigMap, the Secrets and the volumes are mounted. */
export const paths = {
  config: '/etc/clusterwright/config',
  auth: '/etc/clusterwright/auth',
  internal: '/etc/clusterwright/internal',
  data: '/data',
  /** Memory-backed: the composed configuration holds the password and must not outlive the pod. */
  run: '/run/redis',
  exporter: '/run/exporter',
} as const;

/** Exit code of a container whose image has no modules to load (`need_modules` in library.sh). `EX_OSFILE` of sysexits. */
export const noModulesCode = 72;

/** The volume with the password of the cluster's identity, in pods that know it. */
export const identityVolume = 'internal';

/** The replication source of a node whose primary is not decided: refused at once, by the node itself. */
export const unassigned = { address: '127.0.0.1', port: 1 } as const;

export const roleLabel = 'clusterwright.dev/role';

/**
 * On the claim of each node that has been primary: a number that grows with every change of primary. The claim with
 * the highest term is the last primary, also after the pods, the sentinels and the custom resource are gone.
 */
export const termAnnotation = 'clusterwright.dev/primary-term';

/**
 * On the claim of each node: the address that it had when the sentinels named a living primary last. When every address
 * is new, it tells whom they mean.
 */
export const addressAnnotation = 'clusterwright.dev/address';

/** In mode Cluster, on the claim of each node: the ID that the node on this volume has, once it is to be a member. */
export const nodeAnnotation = 'clusterwright.dev/cluster-node';

/**
 * On the claim of each primary of a new Redis Cluster, before anything else is done: the slots that it is given. On one that a restore has filled:
 * those that its shard had in the backup.
 */
export const slotsAnnotation = 'clusterwright.dev/cluster-slots';

/** On the claim of a shard that a restore has filled: how many of its keys do not expire, as far as that is known. */
export const restoredKeysAnnotation = 'clusterwright.dev/restored-keys';

/** On each claim of a Redis Cluster whose slots have all been given away once: they are never given away again. */
export const formedAnnotation = 'clusterwright.dev/cluster-formed';

/**
 * The directive in which a server carries the term of its volume. It means nothing without Redis Cluster, takes the word at run
 * time, and can be read by whoever may ask the server.
 */
export const termCarrier = 'cluster-announce-hostname';

/**
 * The `replica-priority` of a replica that is to be primary next: of two that have everything, Sentinel elects the one with the smaller number.
 * The others keep theirs, since with 0 they could not be elected at all.
 */
export const preferredPriority = 50;

/** How many replicas a primary needs to take writes. */
export const requiredReplicas = 'min-replicas-to-write';

/** Whether its pod has a server refuse writes (`shell/fence.sh`): it needs more replicas than there can be. */
export function isFenced(settings: Readonly<Partial<Record<string, string>>>): boolean {
  return settings[requiredReplicas] === '1000000';
}

/**
 * The directive by which a pod tells that its scripts see sentinels: it then has their port. It means nothing without Redis Cluster, as the
 * one above. A single node that gets sentinels sees them when its kubelet has changed the mounted file.
 */
export const sentinelsCarrier = 'cluster-announce-port';

/** On the custom resource: names the pod to make primary where nothing else can tell. */
export const choiceAnnotation = 'clusterwright.dev/choose-primary';

/**
 * On the custom resource: `verified@UID` where the source of an import answers and nobody writes to it any more, or `OFFSET@UID` where it is
 * gone for good, and the copy ends at that offset. See `plan/import.ts`.
 */
export const cutOverAnnotation = 'clusterwright.dev/cut-over';

/** On the claim of the first node: UID of the cluster for which a copy from elsewhere is made on it, before that begins. */
export const importAnnotation = 'clusterwright.dev/import';

/** On the claim of the first node: until when the present request to cut over is tried. In milliseconds since the epoch. */
export const cutOverUntilAnnotation = 'clusterwright.dev/cut-over-until';

/** What a person has chosen: `POD`, or `POD:UID` for that pod and no later one of its name. */
export function choiceOf({ metadata }: KubeObject): { readonly pod: string; readonly uid?: string } | undefined {
  const [pod, uid] = metadata.annotations?.[choiceAnnotation]?.split(':') ?? [];
  if (pod === undefined) return undefined;
  return uid === undefined ? { pod } : { pod, uid };
}

/** The longest derived name is a sentinel's pod with its revision label; see the limit on the kind's name. */
export interface RedisNames {
  /** Headless Service and StatefulSet of the data nodes. */
  readonly data: string;
  /** Headless Service and StatefulSet of the sentinels. */
  readonly sentinel: string;
  readonly primary: string;
  readonly replicas: string;
  /** StatefulSet and ConfigMap of the proxy. */
  readonly proxy: string;
  /** Service with all nodes that are ready, in mode Cluster. */
  readonly nodes: string;
  readonly config: string;
  readonly auth: string;
  /** Secret with the password of the cluster's own identity: see `identity.ts`. */
  readonly internal: string;
}

export function redisNames(cluster: string): RedisNames {
  return {
    data: cluster,
    sentinel: `${cluster}-sentinel`,
    primary: `${cluster}-primary`,
    replicas: `${cluster}-replicas`,
    proxy: `${cluster}-proxy`,
    nodes: `${cluster}-nodes`,
    config: `${cluster}-config`,
    auth: `${cluster}-auth`,
    internal: `${cluster}-internal`,
  };
}
