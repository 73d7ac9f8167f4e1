/** A PersistentVolumeClaim and who uses it, asked of the API server: claims and pods of others are in no cache. */

import type { KubeObject, Resource } from '../api/object.ts';
import { persistentVolumeClaims, pods as podResource, statefulSets } from '../api/resource.ts';
import type { ClaimUse } from '../engine/engine-context.ts';
import type { PodSpec } from '../resources/plain.ts';
import { isNotFound } from './api-error.ts';
import type { KubeClient } from './client.ts';

export type ClaimReader = (namespace: string, name: string, signal: AbortSignal) => Promise<ClaimUse | undefined>;

const pageSize = 250;

export function claimReader(client: Pick<KubeClient, 'get' | 'list'>): ClaimReader {
  /** Pages are let go one after the other: a namespace may have thousands of pods. */
  async function matching(
    resource: Resource,
    namespace: string,
    signal: AbortSignal,
    keep: (object: KubeObject) => boolean,
  ): Promise<readonly KubeObject[]> {
    const found: KubeObject[] = [];
    let next: string | undefined;
    do {
      const page = await client.list(resource, { namespace, limit: pageSize, continue: next, signal });
      found.push(...page.items.filter(keep));
      next = page.continue;
    } while (next !== undefined);
    return found;
  }

  return async (namespace, name, signal) => {
    try {
      const claim = await client.get({ resource: persistentVolumeClaims, namespace, name }, { signal });
      const mounts = (pod: KubeObject): boolean => !hasEnded(pod) && claimsOf(pod).includes(name);
      const [pods, sets] = await Promise.all([
        matching(podResource, namespace, signal, mounts),
        matching(statefulSets, namespace, signal, () => true),
      ]);
      return { claim, pods, sets };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
}

function hasEnded({ status }: KubeObject): boolean {
  const { phase } = (status ?? {}) as { readonly phase?: string };
  return phase === 'Succeeded' || phase === 'Failed';
}

function claimsOf({ spec }: KubeObject): readonly string[] {
  const { volumes = [] } = (spec ?? {}) as PodSpec;
  return volumes.flatMap(({ persistentVolumeClaim: source }) => (source === undefined ? [] : [source.claimName]));
}
