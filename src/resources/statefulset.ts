/**
 * StatefulSets the way every engine here uses them: pods start in parallel, since the database orders itself, and a
 * changed template restarts nothing by itself (`OnDelete`), since only the planner knows whose turn it is.
 * Claims are never deleted by the StatefulSet.
 */
import type { KubeObject, ObjectMeta } from '../api/object.ts';
import type { PodAdditions } from '../api/pods.ts';
import type { PodSpec } from './plain.ts';
import { podMetadata } from './pod-base.ts';

export interface StatefulSetOptions {
  readonly metadata: ObjectMeta;
  readonly selector: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly replicas: number;
  readonly podAnnotations?: Readonly<Record<string, string>>;
  readonly podSpec: PodSpec;
  /** What the spec adds to the metadata of the pods. */
  readonly pods?: PodAdditions | undefined;
  readonly claims: readonly ClaimTemplate[];
}

export interface ClaimTemplate {
  /** Always one of these: growth, deletion and backups know the claims of a cluster by their names. `data` comes first. */
  readonly name: 'data' | 'wal';
  readonly labels: Readonly<Record<string, string>>;
  readonly size: string;
  readonly storageClassName?: string;
}

export function statefulSet(options: StatefulSetOptions): KubeObject {
  const { metadata, selector, serviceName, replicas, podAnnotations: annotations, podSpec, pods, claims } = options;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: {
      serviceName,
      replicas,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      revisionHistoryLimit: 3,
      selector: { matchLabels: selector },
      template: {
        metadata: podMetadata(
          { labels: metadata.labels ?? {}, ...(annotations === undefined ? {} : { annotations }) },
          pods,
        ),
        spec: podSpec,
      },
      ...(claims.length === 0
        ? {}
        : {
            persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
            volumeClaimTemplates: claims.map((claim) => ({
              metadata: { name: claim.name, labels: claim.labels },
              spec: {
                accessModes: ['ReadWriteOnce'],
                resources: { requests: { storage: claim.size } },
                ...(claim.storageClassName === undefined ? {} : { storageClassName: claim.storageClassName }),
              },
            })),
          }),
    },
  };
}
