/**
 * What a Redis cluster looks like from outside, asked of the processes and the API server and never of the operator's
 * status alone: plain words, so that a comparison shows what is wrong.
 */
import { deepEqual } from 'node:assert/strict';
import type { KubeObject } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import type { Pod } from '../../src/resources/children.ts';
import { askRedis, pairsOf } from './redis-client.ts';

export interface View {
  /** The Ready condition for the generation that is there now. */
  readonly ready: string;
  /** Pod to role: `primary` or `follows POD`. */
  readonly data: Readonly<Record<string, string>>;
  /** Pod to the label that Services select by. */
  readonly labels: Readonly<Record<string, string>>;
  /** Pod to what it knows: `primary POD; replicas POD POD; peers POD POD; quorum`. Whoever is gone shows as an address. */
  readonly sentinels: Readonly<Record<string, string>>;
  /** Pods behind the `-primary` Service. */
  readonly endpoints: readonly string[];
}

export interface Found {
  readonly cluster: KubeObject;
  readonly data: readonly Pod[];
  readonly sentinels: readonly Pod[];
  readonly slices: readonly KubeObject[];
  readonly password: string;
}

export const dataPort = 6379;
export const sentinelPort = 26379;

/** Addresses in the slices of one Service. */
export function addressesOf(slices: readonly KubeObject[]): string[] {
  return slices.flatMap((slice) =>
    ((slice.endpoints as readonly { readonly addresses: readonly string[] }[] | null) ?? []).flatMap(
      (e) => e.addresses,
    ),
  );
}

export function statusOf(cluster: KubeObject): ClusterStatus {
  return (cluster.status as ClusterStatus | undefined) ?? {};
}

function readinessOf(cluster: KubeObject): string {
  const { conditions, observedGeneration } = statusOf(cluster);
  const ready = conditions?.find((condition) => condition.type === 'Ready');
  if (observedGeneration !== cluster.metadata.generation) return 'outdated';
  return ready?.status === 'True' ? 'True' : `${ready?.status} ${ready?.reason}: ${ready?.message}`;
}

export async function viewOf(found: Found): Promise<View> {
  const { cluster, data, sentinels, slices, password } = found;
  const names = new Map([...data, ...sentinels].map((pod) => [pod.status?.podIP, pod.metadata.name]));
  const nameOf = (address: string | undefined): string => names.get(address) ?? address ?? 'nobody';
  const asked = (pods: readonly Pod[], ask: (address: string) => Promise<string>) =>
    Promise.all(
      pods.map(async (pod): Promise<[string, string]> => {
        const address = pod.status?.podIP;
        if (pod.metadata.deletionTimestamp !== undefined) return [pod.metadata.name, 'is stopping'];
        if (address === undefined) return [pod.metadata.name, 'has no address'];
        return [pod.metadata.name, await ask(address).catch((error: Error) => `silent: ${error.message}`)];
      }),
    );
  const role = async (host: string): Promise<string> => {
    const answer = await askRedis({ host, port: dataPort, password }, 'ROLE');
    const [kind, primary, , link] = Array.isArray(answer) ? answer.map(String) : [];
    if (kind === 'master') return 'primary';
    return link === 'connected' ? `follows ${nameOf(primary)}` : `follows ${nameOf(primary)}: ${link}`;
  };
  const knows = async (host: string): Promise<string> => {
    const say = (...words: string[]) =>
      askRedis({ host, port: sentinelPort, password }, 'SENTINEL', ...words, cluster.metadata.name);
    const [primary, replicas, peers, quorum] = await Promise.all([
      say('MASTER'),
      say('REPLICAS'),
      say('SENTINELS'),
      say('CKQUORUM').catch((error: Error) => error.message),
    ]);
    const list = (reply: typeof replicas): string =>
      (Array.isArray(reply) ? reply : [])
        .map((row) => nameOf(pairsOf(row).ip))
        .sort()
        .join(' ');
    const quorate = /^OK \d+ usable Sentinels/.test(String(quorum)) ? 'quorum' : String(quorum);
    return `primary ${nameOf(pairsOf(primary).ip)}; replicas ${list(replicas)}; peers ${list(peers)}; ${quorate}`;
  };
  const [roles, knowledge] = await Promise.all([asked(data, role), asked(sentinels, knows)]);
  return {
    ready: readinessOf(cluster),
    data: Object.fromEntries(roles),
    labels: Object.fromEntries(
      data.map((pod) => [pod.metadata.name, pod.metadata.labels?.['clusterwright.dev/role'] ?? 'none']),
    ),
    sentinels: Object.fromEntries(knowledge),
    endpoints: addressesOf(slices).map(nameOf),
  };
}

/** The name of the one node that says that it is primary; undefined when it is none or several. */
export function primaryIn(view: Pick<View, 'data'>): string | undefined {
  const [only, ...others] = Object.entries(view.data).filter(([, role]) => role === 'primary');
  return others.length === 0 ? only?.[0] : undefined;
}

/** Fails with the differences unless the cluster is whole: every process knows every other, and nobody who is gone. */
export function expectWhole(
  view: View,
  name: string,
  size: { readonly data: number; readonly sentinels: number },
): void {
  const primary = primaryIn(view) ?? 'some pod';
  const pods = Array.from({ length: size.data }, (_, i) => `${name}-${i}`);
  const sentinels = Array.from({ length: size.sentinels }, (_, i) => `${name}-sentinel-${i}`);
  const replicas = pods.filter((pod) => pod !== primary);
  const sentinel = (own: string): string =>
    `primary ${primary}; replicas ${replicas.join(' ')}; peers ${sentinels.filter((s) => s !== own).join(' ')}; quorum`;
  const whole: View = {
    ready: 'True',
    data: Object.fromEntries(pods.map((pod) => [pod, pod === primary ? 'primary' : `follows ${primary}`])),
    labels: Object.fromEntries(pods.map((pod) => [pod, pod === primary ? 'primary' : 'replica'])),
    sentinels: Object.fromEntries(sentinels.map((pod) => [pod, sentinel(pod)])),
    endpoints: [primary],
  };
  deepEqual(view, whole);
}
