/**
 * One thing that the API server or a controller of Kubernetes does, told so that it can be asked of a real server and of
 * the simulated one alike: requests in, answers out, nothing of either side's insides.
 */
import { customResourceDefinition } from '../../../../src/api/crd.ts';
import type { KindDefinition } from '../../../../src/api/kind.ts';
import { apiVersionOf, type KubeObject } from '../../../../src/api/object.ts';
import { redisKind } from '../../../../src/engines/redis/kind/schema.ts';
import type { Method } from '../../../../src/runtime/transport.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly status: number;
  readonly body: Json;
}

export interface CallOptions {
  /** An object, or a JSON patch. */
  readonly body?: object;
  readonly query?: Readonly<Record<string, string>>;
  /** Default JSON. */
  readonly type?: 'apply' | 'merge' | 'json-patch';
}

export interface WatchFrame {
  readonly type: string;
  readonly object: KubeObject;
}

export interface OpenWatch {
  readonly status: number;
  /** Every frame so far, bookmarks included. */
  readonly frames: readonly WatchFrame[];
  /** Waits until the frames without bookmarks are that many, and answers with `TYPE NAME` of each. */
  seen(count: number): Promise<readonly string[]>;
  readonly hasEnded: boolean;
  close(): void;
}

/** A namespace of its own on the server under test. */
export interface Scene {
  readonly namespace: string;
  /** Of a container that runs until it is told to end, and says yes to a probe of `true`. */
  readonly container: Json;
  /** `path` from the root: `/api/v1/...`. */
  call(method: Method, path: string, options?: CallOptions): Promise<Answer>;
  watch(path: string, query?: Readonly<Record<string, string>>): Promise<OpenWatch>;
  /** Asks again until it does not throw, for half a minute of the server's time. */
  until<T>(what: string, ask: () => Promise<T> | T): Promise<T>;
  /** Lets that many milliseconds pass. */
  pause(ms: number): Promise<void>;
}

export interface ConformanceCase {
  readonly story: string;
  /** Whether nodes are needed that run pods. */
  readonly pods?: true;
  readonly play: (scene: Scene) => Promise<void>;
}

/** `/api/v1/namespaces/a/configmaps/b`. */
export function pathIn(scene: Scene, collection: string, name?: string, subresource?: string): string {
  const [plural, root] = collection.split('.', 2).length === 2 ? splitGroup(collection) : [collection, '/api/v1'];
  const parts = [root, 'namespaces', scene.namespace, plural, name, subresource];
  return parts.filter((part) => part !== undefined).join('/');
}

/** `statefulsets.apps/v1`: the plural, and the root of its group. */
function splitGroup(collection: string): [string, string] {
  const at = collection.indexOf('.');
  return [collection.slice(0, at), `/apis/${collection.slice(at + 1)}`];
}

/** A custom resource under a group of its own, so that no controller acts on it. */
const kind: KindDefinition = {
  ...redisKind,
  resource: { ...redisKind.resource, group: 'conformance.clusterwright.dev' },
  shortNames: [],
};

export const definition: KubeObject = customResourceDefinition(kind);

export const statefulSets = 'statefulsets.apps/v1';
export const jobs = 'jobs.batch/v1';
export const clusters = `redisclusters.${apiVersionOf(kind.resource)}`;
export const budgets = 'poddisruptionbudgets.policy/v1';
export const leases = 'leases.coordination.k8s.io/v1';

export function configMap(name: string, data: Json = { key: 'value' }, metadata: Json = {}): Json {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

export function cluster(name: string, spec: Json = {}, metadata: Json = {}): Json {
  return {
    apiVersion: apiVersionOf(kind.resource),
    kind: kind.resource.kind,
    metadata: { name, ...metadata },
    spec: { version: '8.0', paused: true, ...spec },
  };
}

/** No pod of it can run where there is no node, which most cases do not mind. */
export function statefulSet(scene: Scene, name: string, spec: Json = {}, podSpec: Json = {}): Json {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, labels: { app: name } },
    spec: {
      replicas: 1,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { terminationGracePeriodSeconds: 1, containers: [scene.container], ...podSpec },
      },
      ...spec,
    },
  };
}

export const claimTemplate: Json = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
};

/** A field selector: every namespace of a real cluster has one ConfigMap that nobody of ours made. */
export const ours = 'metadata.name!=kube-root-ca.crt';

export const metadataOf = (answer: Answer | { readonly body: Json }): KubeObject['metadata'] =>
  answer.body.metadata as KubeObject['metadata'];

/** Makes an object and answers with it. Throws with the server's words when it is refused. */
export async function made(scene: Scene, collection: string, object: Json): Promise<KubeObject> {
  return accepted(await scene.call('POST', pathIn(scene, collection), { body: object }));
}

export function accepted(answer: Answer): KubeObject {
  if (answer.status >= 300) throw new Error(`${answer.status}: ${String(answer.body.message)}`);
  return answer.body as unknown as KubeObject;
}

export async function read(scene: Scene, collection: string, name: string): Promise<KubeObject> {
  return accepted(await scene.call('GET', pathIn(scene, collection, name)));
}

export async function listed(
  scene: Scene,
  collection: string,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly KubeObject[]> {
  const { body } = await scene.call('GET', pathIn(scene, collection), { query });
  return (body.items ?? []) as readonly KubeObject[];
}

export const namesOf = (objects: readonly KubeObject[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name);

/** Status and reason: what a client decides by. */
export const verdict = ({ status, body }: Answer): string => (status < 300 ? 'ok' : `${status} ${String(body.reason)}`);
