/** One EtcdCluster under test: made, changed, asked, broken. */
import { expect } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { persistentVolumeClaims, pods as podResource, statefulSets } from '../../src/api/resource.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import type { EtcdSpecInput } from '../../src/engines/etcd/kind/schema.ts';
import { type Claim, type Pod, podIsReady } from '../../src/resources/children.ts';
import { agentComponent, componentLabel, instanceLabel } from '../../src/resources/metadata.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { type Answer, type AskEtcd, askEtcd } from './etcd-client.ts';
import { etcdClusters } from './resources.ts';
import { type Patience, until } from './until.ts';

export interface LogMessage {
  readonly at: number;
  readonly text: string;
}

export interface EtcdTestCluster {
  readonly namespace: string;
  readonly name: string;
  readonly ask: AskEtcd;
  object(): Promise<KubeObject>;
  status(): Promise<ClusterStatus>;
  /** Status and reason of `Ready`: `False QuorumLost`. */
  ready(): Promise<string>;
  change(spec: EtcdSpecInput): Promise<void>;
  remove(): Promise<void>;
  pods(): Promise<readonly Pod[]>;
  pod(name: string): Promise<Pod>;
  /** What the process of a pod has said, a line each. Rejects where there is none. */
  log(pod: string): Promise<readonly string[]>;
  /** The messages among that since a moment, in milliseconds. */
  messages(pod: string, since: number): Promise<readonly LogMessage[]>;
  /** The UIDs of what must not be touched: volumes and StatefulSets, by name. */
  view(): Promise<Readonly<Record<string, string | undefined>>>;
  claims(): Promise<readonly Claim[]>;
  /** Of the pods that run and are not about to end. */
  addresses(): Promise<readonly string[]>;
  leader(): Promise<Pod>;
  /** Waits until this many members vote and are ready, etcd lists nobody else, and all hold the same data (E12). */
  whole(size: number, patience?: Patience): Promise<readonly Pod[]>;
  /** Of all keys with their history up to one moment: a single one where all members hold the same (E12). */
  hashes(): Promise<ReadonlySet<unknown>>;
}

/** `ask` is how a client of this cluster asks; default: without certificate and password. */
export function etcdTestCluster(
  client: KubeClient,
  namespace: string,
  name: string,
  ask: AskEtcd = askEtcd,
): EtcdTestCluster {
  const ref = { resource: etcdClusters, namespace, name };
  const byName = (a: KubeObject, b: KubeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);
  const listed = async (resource: typeof podResource): Promise<readonly KubeObject[]> =>
    [...(await client.list(resource, { namespace, labelSelector: `${instanceLabel}=${name}` })).items].sort(byName);

  /** Of all members at one revision, taken while others may write. */
  async function hashesOf(addresses: readonly string[]): Promise<ReadonlySet<unknown>> {
    const { header } = await ask(addresses[0] ?? '', 'kv/range', { key: 'AA==' });
    const { revision } = header as { readonly revision: string };
    const found = await Promise.all(addresses.map((host) => ask(host, 'maintenance/hashkv', { revision })));
    // The hash is of what is left of the history, which not every member drops in the same moment.
    const compacted = new Set(found.map(({ compact_revision }) => compact_revision));
    if (compacted.size > 1) throw new Error(`the members are compacted up to ${[...compacted].join(', ')}`);
    return new Set(found.map(({ hash }) => hash));
  }

  const cluster: EtcdTestCluster = {
    namespace,
    name,
    ask,
    object: () => client.get(ref),
    status: async () => ((await client.get(ref)).status ?? {}) as ClusterStatus,
    async ready() {
      const found = (await cluster.status()).conditions?.find(({ type }) => type === 'Ready');
      return `${found?.status} ${found?.reason}`;
    },
    async view() {
      const objects = [...(await listed(persistentVolumeClaims)), ...(await listed(statefulSets))];
      return Object.fromEntries(objects.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.uid]));
    },
    async change(spec) {
      await client.mergePatch(ref, { spec });
    },
    async remove() {
      const { uid = '' } = (await client.get(ref)).metadata;
      await client.remove({ ...ref, uid });
    },
    pods: async () => {
      const isMember = ({ metadata }: KubeObject): boolean => metadata.labels?.[componentLabel] !== agentComponent;
      return (await listed(podResource)).filter(isMember) as readonly Pod[];
    },
    pod: async (pod) => (await client.get({ resource: podResource, namespace, name: pod })) as Pod,
    async log(pod) {
      return (await client.getText(`/api/v1/namespaces/${namespace}/pods/${pod}/log`)).trimEnd().split('\n');
    },
    async messages(pod, since) {
      const lines = (await cluster.log(pod)).filter((line) => line.startsWith('{'));
      return lines
        .map((line) => JSON.parse(line) as { readonly ts: string; readonly msg: string })
        .map(({ ts, msg }) => ({ at: Date.parse(ts), text: msg }))
        .filter(({ at }) => at >= since);
    },
    claims: async () => (await listed(persistentVolumeClaims)) as readonly Claim[],
    addresses: async () =>
      (await cluster.pods()).flatMap(({ status, metadata }) =>
        status?.podIP === undefined || metadata.deletionTimestamp !== undefined ? [] : [status.podIP],
      ),
    hashes: async () => hashesOf(await cluster.addresses()),
    async leader() {
      for (const pod of await cluster.pods()) {
        const { podIP } = pod.status ?? {};
        if (podIP === undefined) continue;
        const { leader, header } = await ask(podIP, 'maintenance/status').catch((): Answer => ({}));
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
          const { members } = await ask(addresses[0] ?? '', 'cluster/member/list', { linearizable: true });
          const voting = (members as Answer[]).filter(({ isLearner }) => isLearner !== true);
          expect([(members as Answer[]).length, voting.length]).toEqual([size, size]);
          expect((await hashesOf(addresses)).size).toBe(1);
          return pods;
        },
        patience,
      ),
  };
  return cluster;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Writes `count` keys that begin with `prefix`. Resolves with how many were acknowledged. */
export async function writeKeys(cluster: EtcdTestCluster, prefix: string, count: number): Promise<number> {
  const { status } = await until('somebody leads', () => cluster.leader());
  for (let n = 0; n < count; n++) {
    const pair = { key: base64(`${prefix}/${n}`), value: base64(`${n}`) };
    await until(`${prefix}/${n} taken`, () => cluster.ask(status?.podIP ?? '', 'kv/put', pair));
  }
  return count;
}

/** How many keys with the prefix the leader has. */
export async function readKeys(cluster: EtcdTestCluster, prefix: string): Promise<number> {
  const host = (await cluster.leader()).status?.podIP ?? '';
  const range = { key: base64(`${prefix}/`), range_end: base64(`${prefix}0`), count_only: true };
  return Number((await cluster.ask(host, 'kv/range', range)).count ?? 0);
}
