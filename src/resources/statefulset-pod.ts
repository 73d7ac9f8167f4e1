/** The pod that Kubernetes makes from a StatefulSet's template. */
import type { KubeObject } from '../api/object.ts';
import type { PodSpec, StatefulSetSpec } from './plain.ts';

/** As the StatefulSet controller sends it to the API server, apart from its revision, which is not known before. */
export function podOfSet(set: KubeObject, ordinal: number): KubeObject {
  const { name: setName, namespace, uid } = set.metadata;
  const { template, serviceName, volumeClaimTemplates = [] } = set.spec as StatefulSetSpec;
  const { labels, annotations } = template.metadata ?? {};
  const name = `${setName}-${ordinal}`;
  const claimed = volumeClaimTemplates.map(({ metadata }) => {
    const volume = metadata?.name ?? '';
    return { name: volume, persistentVolumeClaim: { claimName: `${volume}-${name}` } };
  });
  const names = new Set(claimed.map((volume) => volume.name));
  const podSpec = template.spec as PodSpec;
  const volumes = [...claimed, ...(podSpec.volumes ?? []).filter((volume) => !names.has(volume.name))];
  // Without `blockOwnerDeletion`, which takes another right on some clusters.
  const owner = { apiVersion: set.apiVersion, kind: set.kind, name: setName, controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: {
        ...labels,
        'apps.kubernetes.io/pod-index': String(ordinal),
        'statefulset.kubernetes.io/pod-name': name,
      },
      ...(annotations === undefined ? {} : { annotations }),
      ...(uid === undefined ? {} : { ownerReferences: [{ ...owner, uid }] }),
    },
    spec: {
      ...podSpec,
      hostname: name,
      ...(serviceName === undefined ? {} : { subdomain: serviceName }),
      ...(volumes.length === 0 ? {} : { volumes }),
    },
  };
}
