/**
 * Cuts pods off from each other, or from the API server: packets between their addresses are dropped, both ways, established
 * connections too.
 *
 * A cut is of the addresses that the pods have now, and is named after the pods: it can be healed when they are gone.
 */
import { apiClient } from '../apiserver.ts';
import { SandboxError } from '../error.ts';
import { type Layout, layoutOf, ports } from '../layout.ts';
import { addRules, type Rule, removeRules, ruleTags, tagPrefix } from '../netfilter.ts';
import { requireRunning } from '../state.ts';
import { findPod, type PodRef, podName } from './pod.ts';

const cutPrefix = `${tagPrefix}cut:`;

/** The comment of a cut's rules: the same whichever pod is named first. */
export function cutTag(one: PodRef, other: PodRef): string {
  return cutPrefix + [podName(one), podName(other)].toSorted().join(',');
}

export function cutRules(tag: string, one: string, other: string): readonly Rule[] {
  const drop = (from: string, to: string): Rule => ({
    chain: 'FORWARD',
    match: `-s ${from} -d ${to} -j DROP`,
    tag,
    place: 'first',
  });
  return [drop(one, other), drop(other, one)];
}

/** Cuts two pods off from each other, on one node or on two. A cut that is there is renewed for the addresses of now. */
export async function cutPods(one: PodRef, other: PodRef, layout: Layout = layoutOf(process.env)): Promise<void> {
  const tag = cutTag(one, other);
  if (podName(one) === podName(other)) throw new SandboxError('a pod cannot be cut off from itself: name two');
  const state = await requireRunning(layout);
  const api = await apiClient(layout, state.nodes);
  try {
    const [first, second] = await Promise.all([findPod(api, one), findPod(api, other)]);
    await removeRules((each) => each === tag);
    await addRules(cutRules(tag, first.address, second.address));
  } finally {
    api.close();
  }
}

/** The API server in the tag of a cut: no pod is named without its namespace. */
const apiServer = 'the API server';

/** `refuse`: connections are reset, as if no process listened. `hang`: nothing answers, as if the machine were gone. */
export type ApiOutage = 'refuse' | 'hang';

export function apiTag(pod: PodRef): string {
  return `${cutPrefix}${podName(pod)},${apiServer.replaceAll(' ', '_')}`;
}

/** Its Service leads to the machine itself. */
export function apiRules(tag: string, address: string, outage: ApiOutage): readonly Rule[] {
  const rule = (chain: Rule['chain'], match: string): Rule => ({ chain, match, tag, place: 'first' });
  const to = `-s ${address} -p tcp --dport ${ports.apiserver}`;
  switch (outage) {
    case 'refuse':
      return [rule('INPUT', `${to} -j REJECT --reject-with tcp-reset`)];
    case 'hang':
      return [
        rule('INPUT', `${to} -j DROP`),
        rule('OUTPUT', `-d ${address} -p tcp --sport ${ports.apiserver} -j DROP`),
      ];
    default:
      return outage satisfies never;
  }
}

/** Keeps pods from the API server. Kubelets and everybody else still reach it. */
export async function cutFromApi(
  pods: readonly PodRef[],
  outage: ApiOutage,
  layout: Layout = layoutOf(process.env),
): Promise<void> {
  const state = await requireRunning(layout);
  const api = await apiClient(layout, state.nodes);
  try {
    const found = await Promise.all(pods.map((pod) => findPod(api, pod)));
    const tags = pods.map(apiTag);
    await removeRules((each) => tags.includes(each));
    await addRules(found.flatMap(({ ref, address }) => apiRules(apiTag(ref), address, outage)));
  } finally {
    api.close();
  }
}

/** Ends what `cutFromApi` began. */
export async function healFromApi(pods: readonly PodRef[], layout: Layout = layoutOf(process.env)): Promise<void> {
  await requireRunning(layout);
  const tags = pods.map(apiTag);
  await removeRules((each) => tags.includes(each));
}

/** Heals the cut between two pods, or every cut. Returns how many cuts were healed. */
export async function healPods(
  pods?: readonly [PodRef, PodRef],
  layout: Layout = layoutOf(process.env),
): Promise<number> {
  await requireRunning(layout);
  const wanted = pods === undefined ? undefined : cutTag(...pods);
  const healed = await removeRules((tag) => (wanted === undefined ? tag.startsWith(cutPrefix) : tag === wanted));
  return healed.length;
}

/** The cuts in force, as pairs of `namespace/name`, or of one and the API server. */
export async function listCuts(): Promise<readonly (readonly [string, string])[]> {
  return (await ruleTags()).flatMap((tag) => {
    const [one, other] = tag.startsWith(cutPrefix) ? tag.slice(cutPrefix.length).split(',') : [];
    return one !== undefined && other !== undefined ? [[one, other.replaceAll('_', ' ')] as const] : [];
  });
}
