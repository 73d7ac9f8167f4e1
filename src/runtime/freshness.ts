/** Whether a plan rests on something that is not what the cache says: asked of the API server where it matters. */
import type { Cluster } from '../api/cluster.ts';
import type { LabelSelector } from '../api/label-selector.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import { isObserved } from '../api/observed-generation.ts';
import { resourceOf } from '../api/resource.ts';
import { ownerOf } from '../plan/objects.ts';
import type { Plan } from '../plan/plan.ts';
import { type ExactRef, refOf } from '../plan/ref.ts';
import type { Children } from '../resources/children.ts';
import { isNotFound } from './api-error.ts';
import type { Cache } from './cache.ts';
import type { KubeClient } from './client.ts';
import { countedOn, countsOnOthers, isStopping, requestsOn, requiresLiveRead, stateOf } from './fresh-look.ts';

/** What a plan was made from. */
export interface Seen {
  readonly cluster: Cluster;
  /** Of the cluster's kind. */
  readonly resource: Resource;
  readonly children: Children;
}

export interface Freshness {
  isStale(seen: Seen, plan: Plan, signal: AbortSignal): Promise<boolean>;
}

export function createFreshness(
  client: Pick<KubeClient, 'get'>,
  cache: Pick<Cache, 'observeRead' | 'observeDelete'>,
  selector?: LabelSelector,
): Freshness {
  /** What is there by now is learned on the way: the watch that has not told of it may never do so. */
  async function refresh(ref: ExactRef, signal: AbortSignal): Promise<KubeObject | undefined> {
    try {
      const live = await client.get(ref, { signal });
      cache.observeRead(live);
      return live;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      cache.observeDelete(ref);
      return undefined;
    }
  }

  /** The custom resource is gone or another one, says something else than it did, or is for another operator by now. */
  async function hasChanged({ cluster, resource }: Seen, signal: AbortSignal): Promise<boolean> {
    const { name, namespace, uid, generation } = cluster.metadata;
    try {
      const live = await client.get({ resource, namespace, name }, { signal });
      if (live.metadata.uid === uid) cache.observeRead(live);
      if (live.metadata.uid !== uid || live.metadata.generation !== generation) return true;
      if (selector?.matches(live.metadata.labels) === false) return true;
      return requestsOn(live) !== requestsOn(cluster);
    } catch (error) {
      if (isNotFound(error)) return true;
      throw error;
    }
  }

  async function isAsSeen(object: KubeObject, signal: AbortSignal): Promise<boolean> {
    const ref = refOf(object, resourceOf(object));
    const now = ref === undefined ? undefined : await refresh(ref, signal);
    return now !== undefined && now.metadata.uid === object.metadata.uid && stateOf(now) === stateOf(object);
  }

  return {
    async isStale(seen, plan, signal) {
      const { cluster, children } = seen;
      const isNew = !isObserved(cluster.status) && cluster.metadata.deletionTimestamp === undefined;
      if (plan.destructive !== true && (isNew || !plan.steps.some(requiresLiveRead))) return false;
      if (await hasChanged(seen, signal)) return true;
      const precondition = plan.steps.flatMap((step) => (step.type === 'act' ? (step.precondition ?? []) : []));
      const found = await Promise.all(precondition.map((ref) => refresh(ref, signal)));
      if (found.some((live, i) => live?.metadata.uid !== precondition[i]?.uid)) return true;
      const going = plan.steps.flatMap((step) => (isStopping(step) ? [step.ref] : []));
      // One that no watch shows has been told of by its pod.
      const isSame = async (ref: ExactRef): Promise<boolean> => {
        const before = children.statefulSet(ref.name);
        return before === undefined || ownerOf(await refresh(ref, signal)) === ownerOf(before);
      };
      if ((await Promise.all(going.map(isSame))).includes(false)) return true;
      if (plan.destructive !== true && !plan.steps.some(countsOnOthers)) return false;
      return (await Promise.all(countedOn(children).map((object) => isAsSeen(object, signal)))).includes(false);
    },
  };
}
