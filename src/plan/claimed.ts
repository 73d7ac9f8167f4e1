/**
 * Claims that the pods of a StatefulSet would take. Kubernetes gives a pod the claim of that name, whoever has left it:
 * `data-db-0-0` is of the first member of etcd `db`, and of the first node of Redis `db-0`. A claim that outlives its
 * cluster has no owner any more, only labels.
 */
import type { KubeObject } from '../api/object.ts';
import { instanceLabel, managedBy, managedByLabel, memberLabel, nameLabel, shardLabel } from '../resources/metadata.ts';
import { conflictText } from './conflict.ts';
import type { Step } from './plan.ts';

/** How the volumes of a member are called in every StatefulSet of ours: that with its data, and one for its log alone. */
export const claimTemplates = ['data', 'wal'] as const;
export type ClaimTemplateName = (typeof claimTemplates)[number];

interface SetSpec {
  readonly replicas?: number;
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
}

/** Of the pods that the step adds; with the labels of the StatefulSet. */
export function claimsFor(step: Step): KubeObject[] {
  const set =
    step.type === 'create' || step.type === 'apply' ? step.object : step.type === 'patch' ? step.scaled : undefined;
  if (set?.kind !== 'StatefulSet') return [];
  const { metadata, spec } = set;
  const { replicas: size = 1, volumeClaimTemplates = [] } = spec as SetSpec;
  const change = 'changes' in step ? step.changes.find(({ path }) => path === 'spec.replicas') : undefined;
  const replicas = change === undefined ? size : Number(change.to);
  const first = step.type === 'create' ? 0 : change === undefined ? replicas : Number(change.from ?? 0);
  const { namespace, labels = {} } = metadata;
  return volumeClaimTemplates.flatMap((template) =>
    Array.from({ length: Math.max(0, replicas - first) }, (_, i) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: `${template.metadata.name}-${metadata.name}-${first + i}`,
        ...(namespace === undefined ? {} : { namespace }),
        labels,
      },
    })),
  );
}

/** Name of the claim that the pod of this name is given. */
export function claimGivenTo(pod: string, template: ClaimTemplateName = 'data'): string {
  return `${template}-${pod}`;
}

/**
 * Whether a pod of the cluster may have been given it: `data-db-0`, or `data-db-3-0` where each member has a StatefulSet
 * with one pod, or `data-db-s3-0` where each shard has one. Somebody may have made a copy of one under another name, labels and all: nobody has made a StatefulSet
 * of ours as large as a hundred pods, so a copy that ends in a date is none of them.
 */
export function isOfPod({ metadata: { name, labels = {} } }: KubeObject, cluster: string): boolean {
  const shard = labels[shardLabel];
  if (shard !== undefined) return isShardOf(shard, cluster) && isGivenBy(name, shard, /^\d$/);
  const member = labels[memberLabel];
  if (member === undefined) return isGivenBy(name, cluster, /^\d{1,2}$/);
  return /^-\d+$/.test(member.slice(cluster.length)) && member.startsWith(cluster) && isGivenBy(name, member, /^0$/);
}

function isShardOf(shard: string, cluster: string): boolean {
  return shard.startsWith(cluster) && /^-s\d{1,2}$/.test(shard.slice(cluster.length));
}

function isGivenBy(claim: string, set: string, ordinal: RegExp): boolean {
  return claimTemplates.some((template) => {
    const start = claimGivenTo(`${set}-`, template);
    return claim.startsWith(start) && ordinal.test(claim.slice(start.length));
  });
}

/** In words; undefined where `live` is of the same cluster, now or earlier, or was made by somebody for it. */
export function claimConflict(wanted: KubeObject, live: KubeObject): string | undefined {
  const { labels = {} } = live.metadata;
  const isOurs = [nameLabel, instanceLabel].every((label) => labels[label] === wanted.metadata.labels?.[label]);
  if (labels[managedByLabel] !== managedBy || isOurs) return undefined;
  return conflictText(wanted, `the ${labels[nameLabel]} cluster ${labels[instanceLabel]}`);
}
