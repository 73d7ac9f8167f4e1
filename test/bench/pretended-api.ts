/** As much of an API server as the controller's cache asks of one: complete sets by watches, and what is added later. */
import { apiVersionOf, type KubeObject, type Resource } from '../../src/api/object.ts';
import { collectionPath } from '../../src/runtime/resource-path.ts';
import type { Transport, TransportRequest } from '../../src/runtime/transport.ts';

export interface PretendedApi {
  readonly transport: Transport;
  add(resource: Resource, name: string, spec?: object): void;
}

const namespace = 'bench';

export function createPretendedApi(): PretendedApi {
  const collections = new Map<string, KubeObject[]>();
  const watchers = new Map<string, (event: string) => void>();
  let version = 1;

  async function* watch({ path, signal }: TransportRequest): AsyncGenerator<Uint8Array> {
    const metadata = { resourceVersion: String(version), annotations: { 'k8s.io/initial-events-end': 'true' } };
    const events = [
      ...(collections.get(path) ?? []).map(addedEvent),
      JSON.stringify({ type: 'BOOKMARK', object: { metadata } }),
    ];
    let wake: () => void = () => undefined;
    signal?.addEventListener('abort', () => wake(), { once: true });
    watchers.set(path, (event) => {
      events.push(event);
      wake();
    });
    while (signal?.aborted !== true) {
      for (const event of events.splice(0)) yield Buffer.from(`${event}\n`);
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (signal?.aborted === true) resolve();
      });
    }
  }

  return {
    transport: {
      request: () => Promise.reject(new Error('nothing but watches is served')),
      stream: async (request) => ({ status: 200, headers: {}, body: watch(request) }),
      close: async () => undefined,
    },
    add(resource, name, spec = {}) {
      const path = collectionPath(resource, undefined);
      const metadata = { name, namespace, uid: `uid-${++version}`, generation: 1, resourceVersion: String(version) };
      const object: KubeObject = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, spec };
      collections.set(path, [...(collections.get(path) ?? []), object]);
      watchers.get(path)?.(addedEvent(object));
    },
  };
}

function addedEvent(object: KubeObject): string {
  return JSON.stringify({ type: 'ADDED', object });
}
