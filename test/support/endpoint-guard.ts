/**
 * Watches the endpoints of a `-primary` Service the whole time: there must never be two, and never two that take writes.
 *
 * At every change of the EndpointSlice and every 50 ms its addresses are asked for their role. Where two say that they
 * are primary, both are written to at once: a paused primary, or one that lost its replicas, takes no writes. The pods
 * that the Service selects are watched as well: two of them may become one before the EndpointSlice is written.
 */
import type { KubeObject, Resource } from '../../src/api/object.ts';
import { pods } from '../../src/api/resource.ts';
import type { RedisConnection } from '../../src/engines/redis/client/connection.ts';
import { instanceLabel } from '../../src/resources/metadata.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { connectRedis, within } from './redis-client.ts';
import { addressesOf, dataPort } from './redis-view.ts';
import { endpointSlices } from './resources.ts';

const sweepMs = 50;
const answerMs = 150;

export interface GuardReport {
  readonly sweeps: number;
  /** Most endpoints at once. */
  readonly mostEndpoints: number;
  /** Most pods at once that bore the primary's label. */
  readonly mostLabelled: number;
  /** Moments with two endpoints that took a write, in words. */
  readonly violations: readonly string[];
}

export interface EndpointGuard {
  close(): Promise<GuardReport>;
}

export interface GuardOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** The cluster's name. */
  readonly name: string;
  readonly password: string;
}

export function guardEndpoints(options: GuardOptions): EndpointGuard {
  const { client, namespace, name, password } = options;
  const stopping = new AbortController();
  const slices = new Map<string, KubeObject>();
  const labelled = new Map<string, KubeObject>();
  const connections = new Map<string, RedisConnection>();
  const violations: string[] = [];
  let sweeps = 0;
  let mostEndpoints = 0;
  let mostLabelled = 0;
  let wake = (): void => undefined;

  /** Keeps `found` as the server has it, and tells of each single change. */
  async function watch(
    resource: Resource,
    labelSelector: string,
    found: Map<string, KubeObject>,
    changed: () => void,
  ): Promise<void> {
    const events = await client.watch(resource, {
      namespace,
      labelSelector,
      timeoutSeconds: 3600,
      sendInitialEvents: true,
      signal: stopping.signal,
    });
    for await (const event of events) {
      if (event.type === 'ERROR' || event.type === 'BOOKMARK') continue;
      const { uid = '' } = event.object.metadata;
      if (event.type === 'DELETED') found.delete(uid);
      else found.set(uid, event.object);
      changed();
    }
    if (!stopping.signal.aborted) throw new Error(`the watch of ${resource.plural} has ended`);
  }

  async function ask(host: string, ...command: readonly string[]): Promise<string> {
    try {
      const connection = connections.get(host) ?? (await connectRedis({ host, port: dataPort, password }, answerMs));
      connections.set(host, connection);
      const reply = await within(answerMs, connection.command(...command));
      return String(Array.isArray(reply) ? reply[0] : reply);
    } catch (error) {
      connections.get(host)?.close();
      connections.delete(host);
      return (error as Error).message;
    }
  }

  async function sweep(): Promise<void> {
    const addresses = addressesOf([...slices.values()]);
    const roles = await Promise.all(addresses.map((host) => ask(host, 'ROLE')));
    sweeps += 1;
    const primaries = addresses.filter((_, i) => roles[i] === 'master');
    if (primaries.length < 2) return;
    const answers = await Promise.all(primaries.map((host) => ask(host, 'SET', 'clusterwright:guard', String(sweeps))));
    const writable = primaries.filter((_, i) => answers[i] === 'OK');
    if (writable.length > 1) violations.push(`${new Date().toISOString()}: ${writable.join(' and ')} took writes`);
  }

  async function sweepOn(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sweep();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, sweepMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  const watching = Promise.all([
    watch(endpointSlices, `kubernetes.io/service-name=${name}-primary`, slices, () => {
      mostEndpoints = Math.max(mostEndpoints, addressesOf([...slices.values()]).length);
      wake();
    }),
    watch(pods, `${instanceLabel}=${name},clusterwright.dev/role=primary`, labelled, () => {
      mostLabelled = Math.max(mostLabelled, labelled.size);
    }),
  ]).catch((error: unknown) => {
    if (!stopping.signal.aborted) violations.push(`the endpoints could not be watched: ${String(error)}`);
  });
  const sweeping = sweepOn();

  return {
    async close() {
      stopping.abort();
      wake();
      await Promise.all([watching, sweeping]);
      for (const connection of connections.values()) connection.close();
      return { sweeps, mostEndpoints, mostLabelled, violations };
    },
  };
}
