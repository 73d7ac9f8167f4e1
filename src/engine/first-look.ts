/**
 * What is known of a cluster that has just been created, without a request: the operator has made no Secret for it.
 *
 * A Secret that is there all the same, of an earlier cluster of the name or of somebody else, is met when the operator makes its own: that
 * fails, the failure is written to the status, and from then on the Secrets are read.
 */
import type { Cluster } from '../api/cluster.ts';
import type { Children } from '../resources/children.ts';
import type { EngineContext } from './engine-context.ts';

/** `io` as it is, but for a cluster with neither a managed resource nor a condition: then its own Secrets are absent. */
export function firstLook(cluster: Cluster, children: Pick<Children, 'objects'>, io: EngineContext): EngineContext {
  const isNew = children.objects.length === 0 && cluster.status?.conditions === undefined;
  if (!isNew) return io;
  return {
    ...io,
    secret: (name, whose, told) =>
      typeof whose === 'object' && whose.of === cluster.metadata.name
        ? Promise.resolve(undefined)
        : io.secret(name, whose, told),
  };
}
