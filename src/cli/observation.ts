/**
 * Asking the database processes from a command line.
 *
 * Where they cannot be asked from here, that is told apart from a database that is down: such silence says nothing about
 * the database, so nothing that an engine concludes from it may be shown.
 */
import type { Duplex } from 'node:stream';
import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import type { Assessment, KindHandler } from '../engine/engine.ts';
import type { EngineContext } from '../engine/engine-context.ts';
import { type Children, type Pod, podIsReady } from '../resources/children.ts';
import { ApiError } from '../runtime/api-error.ts';
import { claimReader } from '../runtime/claim-use.ts';
import type { KubeClient } from '../runtime/client.ts';
import { createSecretReader, engineIO } from '../runtime/engine-context.ts';
import { accountReader } from '../runtime/service-account.ts';
import { type Clock, systemClock } from '../system/clock.ts';
import type { Dial } from '../system/dial.ts';
import { type PodDialer, RefusedByPod } from './port-forward.ts';

/** `forward`: through the API server. `direct`: at the addresses of the pods, as the controller does. */
export type Way = 'forward' | 'direct' | 'never';

export interface ObserveOptions {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly way: Way;
  readonly forward: PodDialer;
  readonly dial: Dial;
  /** Default: the system's. */
  readonly clock?: Clock;
}

export interface Observed {
  readonly assessment: Assessment;
  /** Why the processes were not heard, in words; undefined when they were, or when there was none to ask. */
  readonly unheard?: string;
}

/** Of a resource about a cluster of another kind: whom that cluster consists of, and what else is about it. */
export interface About {
  readonly children: Children;
  readonly peers: readonly KubeObject[];
}

export async function observe(
  engine: KindHandler,
  cluster: Cluster,
  children: Children,
  options: ObserveOptions,
  referred?: Cluster,
  about: About = { children, peers: [] },
): Promise<Observed> {
  const unheard = async (why: string): Promise<Observed> => ({
    assessment: await engine.assess(cluster, children, deafIO(cluster, options.client), referred, about.peers),
    unheard: why,
  });
  const { way, client } = options;
  if (way === 'never') return unheard('the database processes were not asked');
  const road = way === 'direct' ? directRoad(options.dial) : forwardRoad(options.forward, cluster, about.children);
  try {
    const io = askingIO(cluster, client, road, options.clock);
    const assessment = await engine.assess(cluster, children, io, referred, about.peers);
    const obstacle = road.obstacle();
    return obstacle === undefined ? { assessment } : { assessment, unheard: obstacle };
  } catch (error) {
    if (!isForbidden(error, '/secrets/')) throw error;
    return unheard('you may not read the Secret with the password');
  }
}

function isForbidden(error: unknown, path: string): boolean {
  return error instanceof ApiError && error.status === 403 && error.path.includes(path);
}

/** To ask the processes of a cluster through the API server, or at their addresses. */
export function ioTo(
  cluster: Cluster,
  children: Children,
  { way, client, forward, dial, clock }: ObserveOptions,
): EngineContext {
  const road = way === 'direct' ? directRoad(dial) : forwardRoad(forward, cluster, children);
  return askingIO(cluster, client, road, clock);
}

/** A way to the processes, which knows in the end whether it led anywhere. */
interface Road {
  readonly dial: Dial;
  /** How many times the time that a neighbour would need. */
  readonly patience: number;
  /** What lay between here and all of them; undefined where somebody was reached, or nobody was dialled. */
  obstacle(): string | undefined;
}

function directRoad(dial: Dial): Road {
  let tried = false;
  let reached = false;
  return {
    patience: 1,
    async dial(host, port, signal) {
      tried = true;
      try {
        const socket = await dial(host, port, signal);
        reached = true;
        return socket;
      } catch (error) {
        // A host that refuses is a host.
        const { code } = error as { readonly code?: unknown };
        if (code === 'ECONNREFUSED' || code === 'ECONNRESET') reached = true;
        throw error;
      }
    },
    obstacle: () => (tried && !reached ? 'the pod network cannot be reached from this machine' : undefined),
  };
}

/** One that Kubernetes calls ready and that is not heard on this road says more about the road than about itself. */
function forwardRoad(forward: PodDialer, { metadata }: Cluster, children: Children): Road {
  let forbidden = false;
  const dialled = new Set<Pod>();
  const heard = new Set<Pod>();
  return {
    patience: 5,
    async dial(host, port, signal) {
      const pod = children.pods.find((candidate) => candidate.status?.podIP === host);
      if (pod === undefined) throw new Error(`no pod has the address ${host}`);
      dialled.add(pod);
      try {
        const socket = await forward(metadata.namespace, pod.metadata.name, port, signal);
        return whenHeard(socket, () => heard.add(pod));
      } catch (error) {
        forbidden ||= isForbidden(error, '/portforward');
        throw error;
      }
    },
    obstacle() {
      if (forbidden) return 'you may not forward ports to the pods';
      const unheard = [...dialled].filter((pod) => podIsReady(pod) && !heard.has(pod));
      if (unheard.length === 0) return undefined;
      const names = unheard.map((pod) => pod.metadata.name).sort();
      return `nothing came through the API server from ${names.join(', ')}, which Kubernetes calls ready`;
    },
  };
}

/** Calls at the first word from the pod, which may be that nobody listens there. */
function whenHeard(socket: Duplex, call: () => void): Duplex {
  const push = socket.push.bind(socket);
  socket.push = (chunk: unknown, encoding) => {
    if (chunk !== null) call();
    return push(chunk, encoding);
  };
  socket.on('error', (error) => {
    if (error instanceof RefusedByPod) call();
  });
  return socket;
}

function askingIO(
  { metadata }: Cluster,
  client: Pick<KubeClient, 'get' | 'list'>,
  { dial, patience }: Road,
  clock: Clock = systemClock,
): EngineContext {
  const secrets = createSecretReader({ client, clock, onValue: () => undefined });
  const signal = new AbortController().signal;
  const io = engineIO({
    namespace: metadata.namespace,
    secrets,
    claims: claimReader(client),
    accounts: accountReader(client),
    dial,
    clock,
    signal,
  });
  return { ...io, sleep: (ms, until) => io.sleep(ms * patience, until) };
}

/** Nobody is dialled, so nobody sees what stands in for the password. */
function deafIO({ metadata }: Cluster, client: Pick<KubeClient, 'get' | 'list'>): EngineContext {
  const values: Record<string, string> = new Proxy({}, { get: () => 'unread' });
  const secrets = {
    read: () => Promise.resolve({ values, isOurs: true }),
    learn: () => undefined,
    readNow: () => Promise.resolve(undefined),
    refuse: () => undefined,
    outdate: () => undefined,
    forget: () => undefined,
  };
  const dial: Dial = () => Promise.reject(new Error('not asked'));
  const signal = new AbortController().signal;
  const claims = claimReader(client);
  return engineIO({
    namespace: metadata.namespace,
    secrets,
    claims,
    accounts: accountReader(client),
    dial,
    clock: systemClock,
    signal,
  });
}
