/**
 * Pods of our StatefulSets whose labels somebody has changed, so that no watch of ours shows them: asked of the API server,
 * where a StatefulSet has fewer pods than it wants. It cannot make another one while a pod of the name is there, and no
 * Service leads to that.
 */
import type { KubeObject } from '../api/object.ts';
import { pods as podResource } from '../api/resource.ts';
import { type Children, childrenOf, type StatefulSet } from '../resources/children.ts';
import type { Clock } from '../system/clock.ts';
import { isNotFound } from './api-error.ts';
import type { CallOptions, KubeClient } from './client.ts';
import { keyOf } from './store.ts';
import { podSummary } from './transform.ts';

/** By which Kubernetes tells the pods of a StatefulSet apart. One that somebody else has made does not have it. */
const podNameLabel = 'statefulset.kubernetes.io/pod-name';

/** No StatefulSet of ours has more; somebody may have written any number. */
const mostPods = 16;

interface Missing {
  readonly name: string;
  readonly namespace: string;
  readonly selector: Readonly<Record<string, string>>;
}

/** One that is not there is not asked for again for so long: a quota may keep it from being made. */
const absentMs = 10_000;

/** Resolves with the children and those pods, as the cache would have them. */
export type UnseenPods = (children: Children, options: CallOptions) => Promise<Children>;

export function createUnseenPods(client: Pick<KubeClient, 'get'>, clock: Pick<Clock, 'monotonic'>): UnseenPods {
  /** When it was found that there is none. What was found last stands last. */
  const absent = new Map<string, number>();

  function forgetOld(now: number): void {
    for (const [key, at] of absent) {
      if (now - at < absentMs) return;
      absent.delete(key);
    }
  }

  return async (children, options) => {
    forgetOld(clock.monotonic());
    const missing = children.objects
      .flatMap((object) => (object.kind === 'StatefulSet' ? missingFrom(object, children) : []))
      .filter((one) => !absent.has(keyOf(one)));
    if (missing.length === 0) return children;
    const found = await Promise.all(missing.map((one) => unseen(one, client, options)));
    for (const [i, one] of missing.entries()) if (found[i] === undefined) absent.set(keyOf(one), clock.monotonic());
    const pods = found.flatMap((pod) => pod ?? []);
    return pods.length === 0 ? children : childrenOf([...children.objects, ...pods]);
  };
}

function missingFrom(set: StatefulSet, children: Children): Missing[] {
  const { name, namespace = '', generation } = set.metadata;
  const { replicas: wanted = 0, selector = {} } = set.spec ?? {};
  const { replicas: has = 0, observedGeneration } = set.status ?? {};
  if (observedGeneration !== generation || has >= wanted) return [];
  return Array.from({ length: Math.min(wanted, mostPods) }, (_, i) => `${name}-${i}`)
    .filter((pod) => children.get('Pod', pod) === undefined)
    .map((pod) => ({ name: pod, namespace, selector: selector.matchLabels ?? {} }));
}

async function unseen(
  { name, namespace, selector }: Missing,
  client: Pick<KubeClient, 'get'>,
  options: CallOptions,
): Promise<KubeObject | undefined> {
  try {
    const pod = await client.get({ resource: podResource, namespace, name }, options);
    const { labels = {}, ownerReferences = [] } = pod.metadata;
    const isSelected = Object.entries(selector).every(([label, value]) => labels[label] === value);
    // One that is selected is on its way to us by the watch.
    return isSelected || labels[podNameLabel] !== name || ownerReferences.length > 0 ? undefined : podSummary(pod);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
