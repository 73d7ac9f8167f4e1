/** A cluster that a command talks to: the one that a kubeconfig names, never one that is merely there. */
import type { KubeObject, Resource } from '../api/object.ts';
import { createClient, type KubeClient } from '../runtime/client.ts';
import type { Credentials } from '../runtime/credentials.ts';
import { inClusterCredentials, inClusterNamespace, isInCluster } from '../runtime/incluster.ts';
import { loadKubeconfig } from '../runtime/kubeconfig.ts';
import { createTransport, userAgent } from '../runtime/undici-transport.ts';
import { systemClock } from '../system/clock.ts';
import { version } from '../system/version.ts';
import { type PodDialer, portForwarder } from './port-forward.ts';

export interface Target {
  /** A kubeconfig file. Default: those of `KUBECONFIG`, else `~/.kube/config`; in a pod, its service account. */
  readonly kubeconfig?: string | undefined;
  /** Default: the current context. */
  readonly context?: string | undefined;
  /** The resource of an object where the built-in table does not do. */
  readonly resourceOf?: ((object: KubeObject) => Resource) | undefined;
}

export interface Connection {
  readonly client: KubeClient;
  /** In words, for messages: `context kind-dev`. */
  readonly cluster: string;
  /** The context's namespace. */
  readonly namespace: string;
  readonly credentials: Credentials;
  /** To a port of a pod, through the API server. */
  readonly forward: PodDialer;
  close(): Promise<void>;
}

/** @throws CredentialsError when there are no credentials. Whether the cluster answers shows with the first call. */
export type Connect = (target: Target) => Promise<Connection>;

/** A person waits: a server that accepts no connection for this long is taken as gone. */
const connectTimeoutMs = 3000;

export async function connect(target: Target, env: NodeJS.ProcessEnv): Promise<Connection> {
  const clock = systemClock;
  const { credentials, namespace, cluster } = await identify(target, env);
  const transport = createTransport({ credentials, userAgent: userAgent(version, 'cli'), clock, connectTimeoutMs });
  const client = createClient({ transport, clock, random: Math.random, resourceOf: target.resourceOf });
  return {
    client,
    credentials,
    forward: portForwarder(credentials, client),
    namespace,
    cluster,
    close: () => transport.close(),
  };
}

type Identified = Pick<Connection, 'credentials' | 'namespace' | 'cluster'>;

async function identify({ kubeconfig, context }: Target, env: NodeJS.ProcessEnv): Promise<Identified> {
  const clock = systemClock;
  const named = kubeconfig !== undefined || context !== undefined || env.KUBECONFIG !== undefined;
  if (!named && isInCluster(env)) {
    const credentials = inClusterCredentials({ env, clock });
    return { credentials, namespace: await inClusterNamespace({ clock }), cluster: 'the cluster of this pod' };
  }
  const loaded = await loadKubeconfig({ env, clock, path: kubeconfig, context });
  return { ...loaded, cluster: `context ${loaded.context}` };
}
