/** One RedisCluster under test: made, changed, asked, broken. */
import type { KubeObject } from '../../src/api/object.ts';
import { pods as podResource, secrets, services } from '../../src/api/resource.ts';
import type { Reply } from '../../src/engines/redis/client/resp.ts';
import type { RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import { ordinalOf, type Pod } from '../../src/resources/children.ts';
import { instanceLabel } from '../../src/resources/metadata.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { imageReference } from '../../src/sandbox/images/recipe.ts';
import { listAll } from './kubernetes.ts';
import { askRedis, connectRedis } from './redis-client.ts';
import { dataPort, expectWhole, type Found, primaryIn, type View, viewOf } from './redis-view.ts';
import { endpointSlices, redisClusters } from './resources.ts';
import { type Patience, until } from './until.ts';

/** Under this name the sandbox loads the image. */
export function imageOf(version: string): string {
  return imageReference(`redis:${version}`);
}

export interface Size {
  readonly data: number;
  readonly sentinels: number;
}

export interface TestCluster {
  readonly namespace: string;
  readonly name: string;
  object(): Promise<KubeObject>;
  /** Merges into the spec. */
  change(spec: RedisSpecInput): Promise<void>;
  remove(): Promise<void>;
  pods(): Promise<{ readonly data: readonly Pod[]; readonly sentinels: readonly Pod[] }>;
  pod(name: string): Promise<Pod>;
  password(): Promise<string>;
  /** Asks the process of a pod. An error reply rejects. */
  ask(pod: Pod, ...command: readonly string[]): Promise<Reply>;
  view(): Promise<View>;
  /** The pod whose process takes writes. */
  primary(): Promise<Pod>;
  /** Waits until nothing is missing anywhere; see `expectWhole`. */
  whole(size: Size, patience?: Patience): Promise<View>;
  /** Where clients write: the address of the `-primary` Service. */
  entrance(): Promise<{ readonly host: string; readonly port: number; readonly password: string }>;
  /** Writes `count` keys through the entrance, and resolves with what reads them back. */
  load(prefix: string, count: number): Promise<() => Promise<readonly string[]>>;
}

/** Without the endpoints that traffic is not led to yet, or no more. */
function onlyReady(slice: KubeObject): KubeObject {
  const endpoints = (slice.endpoints as readonly { readonly conditions?: { readonly ready?: boolean } }[] | null) ?? [];
  return { ...slice, endpoints: endpoints.filter(({ conditions }) => conditions?.ready !== false) };
}

export function testCluster(client: KubeClient, namespace: string, name: string): TestCluster {
  const ref = { resource: redisClusters, namespace, name };

  /** Read each time: a test may put another one there. */
  async function password(): Promise<string> {
    const found = await client.get({ resource: secrets, namespace, name: `${name}-auth` });
    return Buffer.from((found.data as Record<string, string>).password ?? '', 'base64').toString('utf8');
  }

  async function pods(): Promise<{ readonly data: readonly Pod[]; readonly sentinels: readonly Pod[] }> {
    const page = await client.list(podResource, { namespace, labelSelector: `${instanceLabel}=${name}` });
    const all = (page.items as Pod[]).sort((a, b) => ordinalOf(a) - ordinalOf(b));
    const isOf = (pod: Pod, component: string): boolean =>
      pod.metadata.labels?.['app.kubernetes.io/component'] === component;
    return {
      data: all.filter((pod) => !isOf(pod, 'sentinel') && !isOf(pod, 'proxy')),
      sentinels: all.filter((pod) => isOf(pod, 'sentinel')),
    };
  }

  async function find(): Promise<Found> {
    const [cluster, found, slices, known] = await Promise.all([
      client.get(ref),
      pods(),
      listAll(client, endpointSlices, namespace),
      password(),
    ]);
    const ofPrimary = slices.filter((s) => s.metadata.labels?.['kubernetes.io/service-name'] === `${name}-primary`);
    return { cluster, ...found, slices: ofPrimary.map(onlyReady), password: known };
  }

  const cluster: TestCluster = {
    namespace,
    name,
    password,
    pods,
    object: () => client.get(ref),
    async change(spec) {
      await client.mergePatch(ref, { spec });
    },
    async remove() {
      const { uid = '' } = (await client.get(ref)).metadata;
      await client.remove({ ...ref, uid });
    },
    pod: async (pod) => (await client.get({ resource: podResource, namespace, name: pod })) as Pod,
    async ask(pod, ...command) {
      const port = pod.metadata.name.includes('-sentinel-') ? 26379 : dataPort;
      return askRedis({ host: pod.status?.podIP ?? '', port, password: await password() }, ...command);
    },
    view: async () => viewOf(await find()),
    primary: () =>
      until(
        'exactly one primary',
        async () => {
          const name = primaryIn(await cluster.view());
          if (name === undefined) throw new Error('there is not exactly one primary');
          return cluster.pod(name);
        },
        { withinMs: 60_000 },
      ),
    whole: (size, patience) =>
      until(
        `${name} whole with ${size.data} data nodes and ${size.sentinels} sentinels`,
        async () => {
          const view = await cluster.view();
          expectWhole(view, name, size);
          return view;
        },
        patience,
      ),
    async entrance() {
      const service = await client.get({ resource: services, namespace, name: `${name}-primary` });
      return {
        host: (service.spec as { clusterIP: string }).clusterIP,
        port: dataPort,
        password: await password(),
      };
    },
    async load(prefix, count) {
      const keys = Array.from({ length: count }, (_, n) => `${prefix}:${n}`);
      // A Service is there before the nodes know its address.
      const connection = await until('the entrance answers', async () => connectRedis(await cluster.entrance(), 1000));
      try {
        await connection.command('MSET', ...keys.flatMap((key) => [key, `value of ${key}`]));
        const replicas = await connection.command('WAIT', '1', '1000');
        const isAlone = (await cluster.pods()).data.length === 1;
        if (replicas === 0 && !isAlone) throw new Error('no replica acknowledged the data');
      } finally {
        connection.close();
      }
      return async () => {
        const entrance = await cluster.entrance();
        const values = await until('the entrance answers', () => askRedis(entrance, 'MGET', ...keys));
        return keys.filter((key, n) => !Array.isArray(values) || values[n] !== `value of ${key}`);
      };
    },
  };
  return cluster;
}
