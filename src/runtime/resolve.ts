/** Which cluster a custom resource describes, and which one it is about: decided from what the cache holds. */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { validateCluster } from '../api/validate.ts';
import type { KindHandler } from '../engine/engine.ts';
import { memoize } from '../plan/memoize.ts';
import type { Outcome } from '../plan/plan.ts';
import type { Cache } from './cache.ts';
import { isOutline, tooLarge } from './outline.ts';
import { deletionSpec, invalidSpec } from './partial-spec.ts';

type Blocked = Extract<Outcome, { state: 'blocked' }>;

export type Resolved =
  /** Neither its spec is known nor its status. */
  | { readonly state: 'tooLarge'; readonly outcome: Blocked }
  | { readonly state: 'invalid'; readonly outcome: Blocked }
  /** It is being deleted; of an invalid spec, what its deletion needs is read alone. */
  | { readonly state: 'ending'; readonly cluster: Cluster<CommonSpec> }
  | { readonly state: 'valid'; readonly cluster: Cluster<CommonSpec> };

export interface Resolver {
  resolve(engine: KindHandler, object: KubeObject): Resolved;
  /** The cluster that a resource is about; undefined where there is none, or its spec is not valid. */
  referred(engine: KindHandler, cluster: Cluster): Cluster | undefined;
  /** Other resources of the same kind that are about the same cluster, as they are written; none of a kind that does not ask its target. */
  peers(engine: KindHandler, cluster: Cluster): readonly KubeObject[];
}

/** `engines`: where a resource of one kind may be about one of another. */
export function createResolver(
  cache: Pick<Cache, 'cluster' | 'keysByTargetRef'>,
  engines: readonly KindHandler[],
): Resolver {
  const verdictOn = memoize(({ kind }: KindHandler) =>
    memoize((object: KubeObject) => validateCluster(kind, object, { unknown: 'prune' })),
  );
  return {
    resolve(engine, object) {
      if (isOutline(object)) return { state: 'tooLarge', outcome: tooLarge(object) };
      const verdict = verdictOn(engine)(object);
      const isEnding = object.metadata.deletionTimestamp !== undefined;
      if (verdict.ok) {
        const cluster = verdict.cluster as Cluster<CommonSpec>;
        return { state: isEnding ? 'ending' : 'valid', cluster };
      }
      const last = isEnding ? deletionSpec(engine.kind, object) : undefined;
      return last === undefined
        ? { state: 'invalid', outcome: invalidSpec(verdict.violations) }
        : { state: 'ending', cluster: last };
    },
    referred(engine, cluster) {
      const referral = engine.targetRef?.(cluster);
      const other = engines.find(({ kind }) => kind.resource.kind === referral?.kind);
      if (referral === undefined || other === undefined) return undefined;
      const object = cache.cluster(other, cluster.metadata.namespace, referral.name);
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
      if (isOutline(object)) throw new Error(tooLarge(object).message);
      const verdict = verdictOn(other)(object);
      return verdict.ok ? verdict.cluster : undefined;
    },
    peers(engine, { metadata, ...cluster }) {
      const referral = engine.asksTarget === true ? engine.targetRef?.({ metadata, ...cluster }) : undefined;
      const other = engines.find(({ kind }) => kind.resource.kind === referral?.kind);
      if (referral === undefined || other === undefined) return [];
      const { namespace, name } = metadata;
      return cache.keysByTargetRef(other, namespace, referral.name).flatMap((key) => {
        const [kind, , peer = ''] = key.split('/');
        const object = kind === engine.name && peer !== name ? cache.cluster(engine, namespace, peer) : undefined;
        return object ?? [];
      });
    },
  };
}
