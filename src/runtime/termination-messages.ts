/**
 * What the pods of a Job said at their end, where the Job has ended and the watch of pods has not told: asked of the API
 * server. A Job is over only once its pods are, so what it knows by then is all that will ever be known.
 */
import { pods } from '../api/resource.ts';
import { jobsAwaitingResult } from '../jobs/job-state.ts';
import type { Children } from '../resources/children.ts';
import type { Cache, ClusterKey } from './cache.ts';
import type { KubeClient } from './client.ts';

const jobNameLabel = 'batch.kubernetes.io/job-name';

/** The children as the cache has them. `now` in milliseconds. */
export async function withTerminationMessages(
  key: ClusterKey,
  cache: Pick<Cache, 'children' | 'observeRead'>,
  client: Pick<KubeClient, 'list'>,
  now: number,
  signal: AbortSignal,
): Promise<Children> {
  const children = cache.children(key);
  const unheard = jobsAwaitingResult(children, now);
  if (unheard.length === 0) return children;
  for (const { metadata } of unheard) {
    const { name, namespace } = metadata;
    const { items } = await client.list(pods, { namespace, labelSelector: `${jobNameLabel}=${name}`, signal });
    for (const pod of items) cache.observeRead(pod);
  }
  return cache.children(key);
}
