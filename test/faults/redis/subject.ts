/** RedisCluster as the harness sees it: its processes' own word on how whole it is, its clients, its accidents. */
import type { KubeObject } from '../../../src/api/object.ts';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { redisKind } from '../../../src/engines/redis/kind/schema.ts';
import { addressOf, podComplaints, podsOf, revisionOfSet, statusComplaints } from '../readiness.ts';
import type { Findings, ProcessFault, SimulatedWorld, Subject, SubjectKit } from '../subject.ts';
import { redisDatabase } from './backup.ts';
import type { DataNode } from './data-node.ts';
import { entrances, isEntrance } from './entrance.ts';
import { simulatedRedis } from './images.ts';
import { namedBySentinels, openConnection, openSimulatedLedger, passwordIn } from './ledger.ts';
import { leaveWithoutIdentity } from './older.ts';
import type { Processes } from './processes.ts';
import type { Sentinel } from './sentinel.ts';
import { userComplaints } from './user-complaints.ts';

const roleLabel = 'clusterwright.dev/role';

export function redisKit(): SubjectKit {
  const { images, processes } = simulatedRedis();
  return { images, subject: subjectOf(processes), database: redisDatabase(processes) };
}

function subjectOf(processes: Processes): Subject {
  const primaryOf = (world: SimulatedWorld): string | undefined => {
    const found = [...podsOf(world, 'data')].filter(
      ([, pod]) => processes.data(addressOf(pod))?.replication.isPrimary === true,
    );
    return found.length === 1 ? found[0]?.[0] : undefined;
  };
  return {
    resource: redisKind.resource,
    primary: primaryOf,
    contents(world) {
      const name = primaryOf(world);
      const pod = name === undefined ? undefined : podsOf(world, 'data').get(name);
      const keys = processes.data(addressOf(pod))?.dataset.keys;
      return keys === undefined ? undefined : new Map(keys);
    },
    complaints: (world, cluster) => [
      ...statusComplaints(cluster),
      ...ofPods(world, cluster),
      ...ofProcesses(world, processes),
      ...userComplaints(world, cluster, (address) => processes.data(address)?.users),
    ],
    openLedger: (world, discovery) =>
      openSimulatedLedger(world, discovery === 'database' ? () => namedBySentinels(world) : undefined),
    guard: (world) => guard(world, processes),
    async empty(world) {
      const name = primaryOf(world);
      const address = addressOf(name === undefined ? undefined : podsOf(world, 'data').get(name));
      const connection = await openConnection(world, address, 6379);
      await connection.command('FLUSHALL');
      connection.close();
    },
    loseUnflushed: (world, pod) => processes.data(addressOf(podsOf(world, 'data').get(pod)))?.loseUnflushed(),
    makeOlder: (world, client) => leaveWithoutIdentity(world, processes, client),
    afflict(world, fault) {
      const name = fault.member === 'primary' ? primaryOf(world) : `${world.cluster}-${fault.member}`;
      const pod = name === undefined ? undefined : podsOf(world, 'data').get(name);
      if (pod !== undefined) afflict(world, processes, pod, fault);
    },
  };
}

/** Names, readiness, template and labels of the pods that the spec asks for. */
function ofPods(world: SimulatedWorld, { spec }: KubeObject): string[] {
  const {
    mode,
    replicas = 3,
    sentinel,
  } = (spec ?? {}) as {
    readonly mode?: string;
    readonly replicas?: number;
    readonly sentinel?: { readonly replicas?: number };
  };
  const { cluster } = world;
  const parts = [
    { part: 'data', set: cluster, size: replicas },
    { part: 'sentinel', set: `${cluster}-sentinel`, size: mode === 'Standalone' ? 0 : (sentinel?.replicas ?? 3) },
  ] as const;
  return parts.flatMap(({ part, set, size }) => {
    const names = Array.from({ length: size }, (_, n) => `${set}-${n}`);
    const revision = revisionOfSet(world, set);
    return podComplaints(podsOf(world, part), names, () => revision);
  });
}

/** Who follows whom, and what the sentinels know. */
function ofProcesses(world: SimulatedWorld, processes: Processes): string[] {
  const pods = podsOf(world, 'data');
  const nodes = [...pods].map(([name, pod]) => ({ name, pod, node: processes.data(addressOf(pod)) }));
  const primaries = nodes.filter(({ node }) => node?.replication.isPrimary === true);
  const [primary] = primaries;
  if (primary === undefined || primaries.length > 1) {
    return [`primaries: ${primaries.map(({ name }) => name).join(', ') || 'none'}`];
  }
  const replicas = nodes.filter((other) => other !== primary);
  const addresses = replicas.map(({ pod }) => addressOf(pod)).sort();
  const sentinels = [...podsOf(world, 'sentinel')].map(([name, pod]) => ({
    name,
    sentinel: processes.sentinel(addressOf(pod)),
  }));
  return [
    ...ofIdentity(world, nodes, sentinels),
    ...ofPasswords(world, nodes, sentinels),
    ...replicas.flatMap(({ name, node }) =>
      node?.replication.isUp === true && node.replication.source?.host === addressOf(primary.pod)
        ? []
        : [`${name} does not follow ${primary.name}`],
    ),
    ...(primary.pod.metadata.labels?.[roleLabel] === 'primary' ? [] : [`${primary.name} is not labelled primary`]),
    ...replicas.flatMap(({ name, pod }) =>
      pod.metadata.labels?.[roleLabel] === 'replica' ? [] : [`${name} is not labelled replica`],
    ),
    ...sentinels.flatMap(({ name, sentinel }) =>
      ofSentinel(name, sentinel, addressOf(primary.pod), addresses, sentinels.length),
    ),
  ];
}

/** Once a cluster has an identity, every process of it knows and uses it. */
function ofIdentity(
  { kubernetes, namespace, cluster }: SimulatedWorld,
  nodes: readonly { readonly name: string; readonly node: DataNode | undefined }[],
  sentinels: readonly { readonly name: string; readonly sentinel: Sentinel | undefined }[],
): string[] {
  const internal = `${cluster}-internal`;
  if (!kubernetes.objects().some(({ kind, metadata }) => kind === 'Secret' && metadata.name === internal)) return [];
  const user = `clusterwright/${namespace}/${cluster}`;
  return [
    ...nodes.flatMap(({ name, node }) =>
      node?.users.all.has(user) === true && node.settings.text('masteruser') === user
        ? []
        : [`${name} does not copy as the cluster`],
    ),
    ...sentinels.flatMap(({ name, sentinel }) =>
      sentinel?.users.all.has(user) === true && [...sentinel.watches.values()].every((w) => w.settings.user === user)
        ? []
        : [`${name} does not watch as the cluster`],
    ),
    ...sentinels.flatMap(({ name, sentinel }) =>
      sentinel?.peerUser === user ? [] : [`${name} does not meet the other sentinels as the cluster`],
    ),
  ];
}

/** Clients log in with what the Secret says, and with nothing else. */
function ofPasswords(
  world: SimulatedWorld,
  nodes: readonly { readonly name: string; readonly node: DataNode | undefined }[],
  sentinels: readonly { readonly name: string; readonly sentinel: Sentinel | undefined }[],
): string[] {
  const password = passwordIn(world);
  if (password === '') return [];
  const servers = [
    ...nodes.map(({ name, node }) => ({ name, users: node?.users })),
    ...sentinels.map(({ name, sentinel }) => ({ name, users: sentinel?.users })),
  ];
  return servers.flatMap(({ name, users }) =>
    users === undefined || users.accepted.join() === hashOf(password)
      ? []
      : [`${name} lets clients in with others than the password in the Secret`],
  );
}

function ofSentinel(
  name: string,
  sentinel: Sentinel | undefined,
  primary: string,
  replicas: readonly string[],
  peers: number,
): string[] {
  const watch = [...(sentinel?.watches.values() ?? [])][0];
  if (watch === undefined) return [`${name} watches nobody`];
  const known = [...watch.replicas.values()].map(({ ip }) => ip).sort();
  return [
    ...(watch.primary.ip === primary ? [] : [`${name} watches ${watch.primary.ip}`]),
    ...(known.join() === replicas.join() ? [] : [`${name} knows the replicas ${known.join(', ') || 'none'}`]),
    ...(watch.peers.size === peers - 1 ? [] : [`${name} knows ${watch.peers.size} peers`]),
  ];
}

/** Clients never meet two primaries behind the Service, and never one that takes writes beside another that does. */
function guard(world: SimulatedWorld, processes: Processes): () => Findings {
  const found = new Set<string>();
  world.kubernetes.onCommit(({ after }) => {
    if (after === undefined || !isEntrance(after, world.cluster)) return;
    const open = entrances(world);
    if (open.length > 1)
      found.add(`${open.length} endpoints behind the primary's Service at ${world.time.monotonic()} ms`);
    for (const address of open) {
      const node = processes.data(address);
      if (node !== undefined && open.length > 1 && writable(node))
        found.add(`${address} takes writes beside another endpoint`);
    }
  });
  return () => ({ membership: [...found], unsafe: [] });
}

const writable = (node: DataNode): boolean => node.replication.isPrimary && !node.isPaused;

/** The volume is full, whichever process of the member comes and goes on it. */
function fillDisk(world: SimulatedWorld, processes: Processes, name: string, forMs: number): void {
  const { time } = world;
  const until = time.monotonic() + forMs;
  const look = (): void => {
    const node = processes.data(addressOf(podsOf(world, 'data').get(name)));
    const isFull = time.monotonic() < until;
    if (node !== undefined) node.isDiskFull = isFull;
    if (isFull) time.after(100, look);
  };
  look();
}

function afflict(world: SimulatedWorld, processes: Processes, pod: KubeObject, fault: ProcessFault): void {
  const { kubernetes, namespace, network, time } = world;
  const address = addressOf(pod);
  const node = processes.data(address);
  const forMs = fault.forMs ?? 10_000;
  switch (fault.do) {
    case 'kill':
      if (node === undefined) return;
      kubernetes.killContainer(namespace, pod.metadata.name);
      return;
    case 'freeze':
      node?.freeze();
      time.after(forMs, () => node?.thaw());
      return;
    case 'isolate': {
      const present = (['data', 'sentinel'] as const).flatMap((part) =>
        [...podsOf(world, part).values()].map(addressOf),
      );
      const others = fault.from === 'present' ? present.filter((other) => other !== address && other !== '') : 'all';
      const heal = network.cut([address], others);
      time.after(forMs, heal);
      return;
    }
    case 'fillDisk':
      fillDisk(world, processes, pod.metadata.name, forMs);
      return;
    default:
      fault.do satisfies never;
  }
}
