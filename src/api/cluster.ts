/** A custom resource of ours, after defaulting: what every builder and planner is a function of. */
import type { BackupEncryption, BackupTarget } from './backup-target.ts';
import type { Maintenance } from './maintenance.ts';
import type { KubeObject, ObjectMeta } from './object.ts';
import type { PodAdditions } from './pods.ts';
import type { ClusterStatus } from './status.ts';

export interface Cluster<Spec = unknown> extends KubeObject {
  readonly metadata: ObjectMeta & { readonly namespace: string };
  /** Defaulted and validated. The controller never writes to it. */
  readonly spec: Spec;
  readonly status?: ClusterStatus;
  /** No part of the resource: where the operator takes images from that the spec does not name. Undefined: from where they are released. */
  readonly imageRegistry?: string;
  /** No part of the resource: where the operator runs. Undefined: in `clusterwright-system`. */
  readonly operatorNamespace?: string;
}

/** The fields that mean the same in every kind; the runtime needs no more of a spec than this. */
export interface CommonSpec {
  readonly paused?: boolean;
  readonly maintenance?: Maintenance;
  readonly pods?: PodAdditions;
  readonly deletionPolicy?: 'Retain' | 'Snapshot' | 'Delete';
  readonly backup?: BackupPlace;
  readonly bootstrap?: { readonly restore?: RestoreSpec };
}

export interface BackupPlace {
  readonly target: BackupTarget;
  readonly encryption?: BackupEncryption;
  /** The log is archived. */
  readonly archive?: { readonly maxLag: string };
}

/** Which backup a new cluster begins with. */
export interface RestoreSpec extends Omit<BackupPlace, 'archive'> {
  readonly id?: string;
  readonly cluster: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
}

/** What is added to the pods of a cluster of any kind. */
export function podsOf({ spec }: Cluster): PodAdditions | undefined {
  return (spec as CommonSpec).pods;
}
