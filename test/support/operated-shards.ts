/**
 * A Redis Cluster of real servers on the loopback network, with the little of Kubernetes around it that the engine looks at: claims, StatefulSets,
 * pods. One `step` is one pass of the operator: it observes, plans, and does what the plan says. Each pod has an address of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import type { StatusReport } from '../../src/engine/engine.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import type { RedisAction } from '../../src/engines/redis/action.ts';
import { type RedisConnection, redisConnection } from '../../src/engines/redis/client/connection.ts';
import { aclRule, identityUser } from '../../src/engines/redis/client/identity.ts';
import type { Reply } from '../../src/engines/redis/client/resp.ts';
import { redis } from '../../src/engines/redis/index.ts';
import type { RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import { shardsOf } from '../../src/engines/redis/kind/shards.ts';
import { redisConf } from '../../src/engines/redis/resources/config.ts';
import { redisResources } from '../../src/engines/redis/resources/resources.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { atSize } from '../../src/plan/objects.ts';
import type { Plan, Step } from '../../src/plan/plan.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { selectorLabels, shardLabel } from '../../src/resources/metadata.ts';
import { stored } from '../../src/testing/stored-object.ts';
import { realContext } from './real-context.ts';
import type { ServerProgram } from './redis-program.ts';
import { redisCluster } from './redis-situation.ts';

const password = 'secret';
const identityPassword = 'identity-of-this-cluster';

/** Whatever ends the tests early, their servers end with them. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

interface Node {
  readonly pod: string;
  address: string;
  readonly directory: string;
  child?: ChildProcess;
  /** Of which template. */
  revision: string;
}

let networks = 0;

interface StartOptions {
  readonly elsewhere?: true;
  readonly blank?: true;
  /** A directory that is copied to the new volume. */
  readonly copyOf?: string;
}

export interface ShardsUnderTest {
  spec: RedisSpecInput;
  /** What the last pass has said. */
  status: ClusterStatus;
  /** Annotations of the claims, by pod. */
  readonly claims: Map<string, Record<string, string>>;
  readonly nodes: Map<string, Node>;
  /** One pass. `only`: of its steps, how many are done before the operator dies. */
  step(only?: number): Promise<Plan<RedisAction>>;
  /** Passes until one has this phase. Resolves with the summaries of all actions, in order. */
  until(
    phase: string,
    isDone?: () => Promise<boolean> | boolean,
    only?: number,
    between?: () => Promise<void>,
  ): Promise<string[]>;
  ask(pod: string, ...command: readonly string[]): Promise<Reply>;
  /** As a client: at the node that serves the key, which is the first argument. */
  client(...command: readonly string[]): Promise<Reply>;
  /** Pod of the primary of each shard, as the status says. */
  primaries(): string[];
  readonly failures: readonly string[];
  /** The next pass sees another template. */
  retemplate(): void;
  kill(pod: string): void;
  /** Likewise. Resolves when it has ended. */
  killed(pod: string): Promise<void>;
  signal(pod: string, signal: NodeJS.Signals): void;
  /** Directory of the volume of a pod, also before there is one. */
  volume(pod: string): string;
  /** User and password of the cluster itself. */
  readonly identity: readonly [string, string];
  /** `elsewhere`: at another address. `blank`: on a new volume. */
  /** `from`: on a copy of the volume of that pod, of any cluster. */
  start(pod: string, how?: StartOptions): void;
  close(): void;
}

export function shardsOn(
  { engine, version, server: program }: ServerProgram,
  first: RedisSpecInput = {},
): ShardsUnderTest {
  networks++;
  const prefix = `127.${20 + (process.pid % 200)}.${((process.pid >> 8) * 16 + networks) % 250}`;
  const root = mkdtempSync(join(tmpdir(), 'redis-shards-'));
  const nodes = new Map<string, Node>();
  const claims = new Map<string, Record<string, string>>();
  const sizes = new Map<string, number>();
  const real = realContext({ 'db-auth': { password }, 'db-internal': { password: identityPassword } });
  // Its patience is that of a machine under load.
  const io: EngineContext = { ...real, sleep: (ms, signal) => real.sleep(ms * 10, signal) };
  let hosts = 0;
  let revision = '1';

  const clusterOf = (spec: RedisSpecInput) => redisCluster({ mode: 'Cluster', engine, version, ...spec });
  const clusterNow = () => redisCluster({ mode: 'Cluster', engine, version, ...world.spec }, {}, world.status);

  function start(pod: string, how: StartOptions = {}): void {
    const cluster = clusterNow();
    const before = nodes.get(pod);
    const address = before === undefined || how.elsewhere === true ? `${prefix}.${++hosts}` : before.address;
    const directory = join(root, pod);
    if (how.blank === true) {
      rmSync(directory, { recursive: true, force: true });
      claims.set(pod, {});
      if (how.copyOf !== undefined) cpSync(how.copyOf, directory, { recursive: true });
    }
    if (!claims.has(pod)) claims.set(pod, {});
    mkdirSync(directory, { recursive: true });
    const conf = redisConf(cluster).replace(/^(bind|dir) .*$/gm, '');
    const user = identityUser(cluster);
    writeFileSync(
      join(root, `${pod}.conf`),
      [
        conf,
        `bind ${address}`,
        `dir ${directory}`,
        'cluster-enabled yes',
        'cluster-config-file nodes.conf',
        `cluster-announce-ip ${address}`,
        `replica-announce-ip ${address}`,
        `cluster-announce-hostname ${pod}.db.apps.svc`,
        `requirepass ${password}`,
        `user ${aclRule({ user, password: identityPassword })
          .filter((word) => word !== 'reset')
          .join(' ')}`,
        `masteruser ${user}`,
        `masterauth ${identityPassword}`,
        'cluster-node-timeout 2000',
        '',
      ].join('\n'),
    );
    const [command, ...args] = program;
    const child = spawn(command, [...args, join(root, `${pod}.conf`)], { stdio: 'ignore' });
    running.add(child);
    child.once('exit', () => running.delete(child));
    nodes.set(pod, { pod, address, directory, child, revision });
  }

  function kill(pod: string): void {
    nodes.get(pod)?.child?.kill('SIGKILL');
  }

  function objects(): KubeObject[] {
    const cluster = clusterNow();
    // What there is stays until somebody deletes it, whatever the spec asks for.
    const shards = Math.max(shardsOf(cluster.spec), sizes.size);
    const sets = redisResources({ ...cluster, spec: { ...cluster.spec, shards } }).flatMap(
      ({ object, generate }): KubeObject[] => {
        if (generate !== undefined) return [];
        const size = sizes.get(object.metadata.name);
        if (object.kind !== 'StatefulSet') return [stored(fingerprinted(object))];
        if (size === undefined) return [];
        const status = { observedGeneration: 1, replicas: size, readyReplicas: size, updateRevision: revision };
        return [{ ...stored(fingerprinted(atSize(object, size))), status }];
      },
    );
    const labels = (pod: string) => ({
      ...selectorLabels(cluster, { engine: 'redis', component: 'data' }),
      [shardLabel]: pod.replace(/-\d+$/, ''),
    });
    return [
      ...sets,
      ...[...nodes.values()].map((node, i) =>
        stored({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: {
            name: node.pod,
            namespace: 'apps',
            labels: { ...labels(node.pod), 'controller-revision-hash': node.revision },
          },
          spec: {
            nodeName: `node-${i % 3}`,
            containers: [{ name: 'redis', resources: { limits: { memory: cluster.spec.resources.limits.memory } } }],
          },
          status: { phase: 'Running', podIP: node.address, conditions: [{ type: 'Ready', status: 'True' }] },
        }),
      ),
      ...[...claims].map(([pod, annotations]) =>
        stored({
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: `data-${pod}`, namespace: 'apps', labels: labels(pod), annotations },
          spec: { resources: { requests: { storage: cluster.spec.storage.size } } },
          status: { phase: 'Bound' },
        }),
      ),
    ];
  }

  function resize(set: string, size: number): void {
    sizes.set(set, size);
    for (let i = 0; i < size; i++) if (!nodes.has(`${set}-${i}`)) start(`${set}-${i}`);
    for (const { pod } of [...nodes.values()]) {
      if (!pod.startsWith(`${set}-`) || Number(pod.slice(set.length + 1)) < size) continue;
      kill(pod);
      nodes.delete(pod);
    }
  }

  async function carryOut(step: Step<RedisAction>): Promise<void> {
    if (step.type === 'act') return redis.act(step.action, clusterNow(), io);
    if ((step.type === 'create' || step.type === 'apply') && step.object.kind === 'StatefulSet') {
      resize(step.object.metadata.name, Number((step.object.spec as { replicas: number }).replicas));
    }
    if (step.type === 'patch' && step.ref.name.startsWith('data-')) {
      const pod = step.ref.name.slice('data-'.length);
      const { annotations = {} } = (step.patch.metadata ?? {}) as { annotations?: Record<string, string | null> };
      const merged = Object.entries({ ...claims.get(pod), ...annotations }).filter(
        (entry): entry is [string, string] => entry[1] !== null,
      );
      claims.set(pod, Object.fromEntries(merged));
    }
    if (step.type === 'delete' && step.ref.resource.kind === 'StatefulSet') {
      resize(step.ref.name, 0);
      sizes.delete(step.ref.name);
      return;
    }
    if (step.type === 'delete') {
      const [node] = [...nodes.values()].filter(({ pod }) => pod === step.ref.name);
      if (node === undefined) return;
      kill(node.pod);
      await new Promise((resolve) => node.child?.once('exit', resolve));
      start(node.pod, { elsewhere: true });
    }
  }

  async function step(only = Number.POSITIVE_INFINITY): Promise<Plan<RedisAction>> {
    const cluster = clusterNow();
    const children = childrenOf(objects());
    const observed = await redis.observe(cluster, children, io);
    const situation = redis.situation(cluster, children, observed);
    const plan = redis.plan(situation, () => undefined);
    const report: StatusReport = redis.status(situation, plan);
    for (const each of plan.steps.slice(0, only)) {
      try {
        await carryOut(each);
      } catch (error) {
        world.failures.push((error as Error).message);
        break;
      }
    }
    world.status = {
      ...report,
      observedGeneration: 1,
      conditions: report.conditions.map((one) => ({
        ...one,
        observedGeneration: 1,
        lastTransitionTime: '2030-01-01T00:00:00Z',
      })),
    };
    return plan;
  }

  async function talk(
    pod: string,
    login: readonly string[],
    command: readonly string[],
    isAsking = false,
  ): Promise<Reply> {
    const node = nodes.get(pod);
    const connection = await dial(node?.address ?? '');
    try {
      await connection.command('AUTH', ...login);
      if (isAsking) await connection.command('ASKING');
      return await connection.command(...command);
    } finally {
      connection.close();
    }
  }

  const world = {
    spec: first,
    status: {} as ClusterStatus,
    failures: [] as string[],
    claims,
    nodes,
    step,
    async until(
      phase: string,
      isDone: () => Promise<boolean> | boolean = () => true,
      only?: number,
      between: () => Promise<void> = () => Promise.resolve(),
    ): Promise<string[]> {
      const done: string[] = [];
      const deadline = performance.now() + 300_000;
      let last: Plan<RedisAction> | undefined;
      while (performance.now() < deadline) {
        last = await step(only);
        done.push(...last.steps.flatMap((each) => (each.type === 'act' ? [each.summary] : [])));
        if (world.status.phase === phase && (await isDone())) return done;
        await between();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const words = JSON.stringify({
        outcome: last?.outcome,
        done: done.slice(-20),
        failures: world.failures.slice(-5),
      });
      throw new Error(`not ${phase} but ${world.status.phase}: ${words}`);
    },
    ask: (pod: string, ...command: readonly string[]) =>
      talk(pod, [identityUser(clusterNow()), identityPassword], command),
    primaries: () => (world.status.members ?? []).filter(({ role }) => role === 'primary').map(({ name }) => name),
    async client(...command: readonly string[]): Promise<Reply> {
      let [pod = ''] = [...nodes.keys()];
      let isAsking = false;
      for (let hop = 0; hop < 9; hop++) {
        try {
          return await talk(pod, [password], command, isAsking);
        } catch (error) {
          const [, how, address] = /^(MOVED|ASK) \d+ (.*):6379$/.exec((error as Error).message) ?? [];
          const next = [...nodes.values()].find((node) => node.address === address);
          if (next === undefined) throw error;
          pod = next.pod;
          isAsking = how === 'ASK';
        }
      }
      throw new Error('redirected too often');
    },
    kill,
    async killed(pod: string): Promise<void> {
      const child = nodes.get(pod)?.child;
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      await new Promise<void>((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      });
    },
    volume: (pod: string) => join(root, pod),
    signal: (pod: string, signal: NodeJS.Signals) => void nodes.get(pod)?.child?.kill(signal),
    identity: [identityUser(clusterOf(first)), identityPassword] as const,
    start,
    /** The next pass sees another template. */
    retemplate(): void {
      revision = String(Number(revision) + 1);
    },
    close(): void {
      for (const { child } of nodes.values()) child?.kill('SIGKILL');
      rmSync(root, { recursive: true, force: true, maxRetries: 10 });
    },
  };
  return world;
}

function dial(host: string): Promise<RedisConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: 6379 });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(redisConnection(socket, 262_144));
    });
  });
}
