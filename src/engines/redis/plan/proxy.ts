/** When clients are led to the proxy, restarts of its pods, and whether they are as the spec says. */
import type { KubeObject } from '../../../api/object.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { podProblem } from '../../../plan/pod-problem.ts';
import { outdatedPods, restartSteps } from '../../../plan/rollout.ts';
import { type Pod, podIsReady } from '../../../resources/children.ts';
import { componentLabel } from '../../../resources/metadata.ts';
import { proxyComponent, redisNames } from '../names.ts';
import type { Situation } from '../observe/situation.ts';
import { isProxyPod } from '../resources/members.ts';
import { primarySelector } from '../resources/proxy.ts';

const selectorOf = (object: KubeObject): Readonly<Record<string, string>> =>
  (object.spec as { readonly selector?: Readonly<Record<string, string>> }).selector ?? {};

const isProxied = (object: KubeObject): boolean => selectorOf(object)[componentLabel] === proxyComponent;

/**
 * A Service leads to the proxy once its pods have found a primary. From then on it stays, also where they are not ready: they may be so for
 * the reason that there is none, and who leads clients back and forth ends their connections.
 */
export function heldEntrance(wanted: KubeObject, situation: Situation): KubeObject {
  if (wanted.kind !== 'Service' || !isProxied(wanted)) return wanted;
  const live = situation.children.get('Service', wanted.metadata.name);
  if ((live !== undefined && isProxied(live)) || proxyProblem(situation) === undefined) return wanted;
  return { ...wanted, spec: { ...(wanted.spec as object), selector: primarySelector(situation.cluster, false) } };
}

/** Why clients may not be served by all of the proxies; undefined where all are well, or none is wanted. */
export function proxyProblem({ cluster, spec, children }: Situation): string | undefined {
  if (spec.proxy === undefined) return undefined;
  const pods = children.pods.filter(isProxyPod);
  const problem = pods.flatMap((pod) => podProblem(pod) ?? [])[0];
  if (problem !== undefined) return problem;
  const ready = pods.filter(podIsReady).length;
  const wanted = spec.proxy.replicas;
  const { proxy } = redisNames(cluster.metadata.name);
  return ready >= wanted ? undefined : `${ready} of ${wanted} pods of ${proxy} are ready`;
}

/** One pod at a time, so that clients find another one. One that serves nobody goes at once. */
export function proxyRestart({ cluster, spec, children }: Situation): ObjectStep[] {
  if (spec.proxy === undefined) return [];
  const pods = children.pods.filter(isProxyPod);
  const outdated = outdatedPods(children.statefulSet(redisNames(cluster.metadata.name).proxy), pods);
  const idle = outdated.find((pod) => !podIsReady(pod));
  const isWhole = pods.length >= spec.proxy.replicas && pods.every(isServing);
  const next = idle ?? (isWhole ? outdated[0] : undefined);
  return next === undefined ? [] : restartSteps(next);
}

function isServing(pod: Pod): boolean {
  return podIsReady(pod) && pod.metadata.deletionTimestamp === undefined;
}
