/**
 * What pods of a throw-away cluster need to start as those of the original do: its user, and the Secrets of its registries. Not its
 * labels: a Service that somebody else has made would send clients there.
 */
import { type Cluster, podsOf } from '../../api/cluster.ts';
import { defaultUid, type PodAdditions } from '../../api/pods.ts';

export function drillPods(original: Cluster): { readonly pods?: PodAdditions } {
  const { uid = defaultUid, imagePullSecrets = [] } = podsOf(original) ?? {};
  const pods = {
    ...(uid === defaultUid ? {} : { uid }),
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets }),
  };
  // Nothing where nothing is asked for: not every kind has the field.
  return Object.keys(pods).length === 0 ? {} : { pods };
}
