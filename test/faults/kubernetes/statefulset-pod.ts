/** The pod and the claims of one ordinal, as a StatefulSet's templates describe them. */
import type { KubeObject, OwnerReference } from '../../../src/api/object.ts';
import { type Fields, fieldsIn, itemsIn } from './fields.ts';

export const revisionLabel = 'controller-revision-hash';

export function claimName(set: KubeObject, template: Fields, ordinal: number): string {
  return `${fieldsIn(template.metadata).name}-${set.metadata.name}-${ordinal}`;
}

export function claimOf(
  set: KubeObject,
  template: Fields,
  ordinal: number,
  owners: readonly OwnerReference[],
): KubeObject {
  const { labels, annotations } = fieldsIn(template.metadata);
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(set, template, ordinal),
      namespace: set.metadata.namespace ?? '',
      labels: { ...fieldsIn(labels), ...fieldsIn(fieldsIn(fieldsIn(set.spec).selector).matchLabels) } as Record<
        string,
        string
      >,
      ...(annotations === undefined ? {} : { annotations: annotations as Record<string, string> }),
      ...(owners.length === 0 ? {} : { ownerReferences: owners }),
    },
    spec: template.spec,
  };
}

export function podOf(set: KubeObject, ordinal: number, revision: string, owner: OwnerReference): KubeObject {
  const spec = fieldsIn(set.spec);
  const template = fieldsIn(spec.template);
  const { labels, annotations } = fieldsIn(template.metadata);
  const podSpec = fieldsIn(template.spec);
  const name = `${set.metadata.name}-${ordinal}`;
  const claims = itemsIn(spec.volumeClaimTemplates).map((claim) => ({
    name: fieldsIn(claim.metadata).name,
    persistentVolumeClaim: { claimName: claimName(set, claim, ordinal) },
  }));
  const isClaim = (volume: Fields): boolean => claims.some((claim) => claim.name === volume.name);
  const volumes = [...claims, ...itemsIn(podSpec.volumes).filter((volume) => !isClaim(volume))];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: set.metadata.namespace ?? '',
      labels: {
        ...(labels as Record<string, string>),
        'apps.kubernetes.io/pod-index': String(ordinal),
        [revisionLabel]: revision,
        'statefulset.kubernetes.io/pod-name': name,
      },
      ...(annotations === undefined ? {} : { annotations: annotations as Record<string, string> }),
      ownerReferences: [owner],
    },
    spec: {
      ...podSpec,
      hostname: name,
      ...(spec.serviceName === undefined ? {} : { subdomain: spec.serviceName }),
      ...(volumes.length === 0 ? {} : { volumes }),
    },
  };
}
