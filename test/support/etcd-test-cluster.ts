/** One EtcdCluster under test: made, changed, asked, broken. */
import { expect } from 'vitest';
import type { EtcdSpecInput } from '../../src/api/etcd.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { persistentVolumeClaims, pods as podResource } from '../../src/api/resource.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { type Claim, type Pod, podIsReady } from '../../src/resources/children.ts';
import { instanceLabel } from '../../src/resources/metadata.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { dialTcp } from '../../src/runtime/engine-io.ts';
import { exchangeOver } from '../../src/runtime/http-exchange.ts';
import { etcdClusters } from './kubernetes.ts';
import { type Patience, until } from './until.ts';

type Answer = Readonly<Record<string, unknown>>;

export interface EtcdTestCluster {
  readonly namespace: string;
  readonly name: string;
  object(): Promise<KubeObject>;
  status(): Promise<ClusterStatus>;
  change(spec: EtcdSpecInput): Promise<void>;
  remove(): Promise<void>;
  pods(): Promise<readonly Pod[]>;
  claims(): Promise<readonly Claim[]>;
  leader(): Promise<Pod>;
  /** Waits until this many members vote and are ready, etcd lists nobody else, and all hold the same data (E12). */
  whole(size: number, patience?: Patience): Promise<readonly Pod[]>;
}

/** Asks one process through its gateway; a refusal rejects. */
export async function askEtcd(host: string, path: string, body: object = {}, withinMs = 2000): Promise<Answer> {
  const signal = AbortSignal.timeout(withinMs);
  const request = {
    host,
    port: 2379,
    method: 'POST',
    path: `/v3/${path}`,
    body: JSON.stringify(body),
    signal,
  } as const;
  const { status, body: text } = await exchangeOver(dialTcp, request);
  if (status !== 200) throw new Error(`${path}: ${text}`);
  return JSON.parse(text) as Answer;
}

export function etcdTestCluster(client: KubeClient, namespace: string, name: string): EtcdTestCluster {
  const ref = { resource: etcdClusters, namespace, name };
  const byName = (a: KubeObject, b: KubeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);
  const listed = async (resource: typeof podResource): Promise<readonly KubeObject[]> =>
    [...(await client.list(resource, { namespace, labelSelector: `${instanceLabel}=${name}` })).items].sort(byName);

  const cluster: EtcdTestCluster = {
    namespace,
    name,
    object: () => client.get(ref),
    status: async () => ((await client.get(ref)).status ?? {}) as ClusterStatus,
    async change(spec) {
      await client.mergePatch(ref, { spec });
    },
    async remove() {
      const { uid = '' } = (await client.get(ref)).metadata;
      await client.remove({ ...ref, uid });
    },
    pods: async () => (await listed(podResource)) as readonly Pod[],
    claims: async () => (await listed(persistentVolumeClaims)) as readonly Claim[],
    async leader() {
      for (const pod of await cluster.pods()) {
        const { podIP } = pod.status ?? {};
        if (podIP === undefined) continue;
        const { leader, header } = await askEtcd(podIP, 'maintenance/status').catch((): Answer => ({}));
        if (leader !== undefined && leader === (header as Answer).member_id) return pod;
      }
      throw new Error('nobody leads');
    },
    whole: (size, patience) =>
      until(
        `${name} whole with ${size} members`,
        async () => {
          const { metadata, status } = await cluster.object();
          const { conditions, observedGeneration } = (status ?? {}) as ClusterStatus;
          expect(conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
          expect(observedGeneration).toBe(metadata.generation);
          const pods = await cluster.pods();
          expect(pods.filter((pod) => !podIsReady(pod)).map((pod) => pod.metadata.name)).toEqual([]);
          expect(pods.length).toBe(size);
          const addresses = pods.map((pod) => pod.status?.podIP ?? '');
          const { members } = await askEtcd(addresses[0] ?? '', 'cluster/member/list', { linearizable: true });
          const voting = (members as Answer[]).filter(({ isLearner }) => isLearner !== true);
          expect([(members as Answer[]).length, voting.length]).toEqual([size, size]);
          expect((await hashes(addresses)).size).toBe(1);
          return pods;
        },
        patience,
      ),
  };
  return cluster;
}

/** Of all members at one revision, taken while others may write. */
async function hashes(addresses: readonly string[]): Promise<ReadonlySet<unknown>> {
  const { header } = await askEtcd(addresses[0] ?? '', 'kv/range', { key: 'AA==' });
  const { revision } = header as { readonly revision: string };
  const found = await Promise.all(
    addresses.map(async (host) => (await askEtcd(host, 'maintenance/hashkv', { revision })).hash),
  );
  return new Set(found);
}
