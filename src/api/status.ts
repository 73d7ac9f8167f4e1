/**
 * The status that every kind shares. It is derived anew on every pass and never trusted as a source of truth, with one
 * exception that only ever forbids: `initialized` (see safety rule G8, "never bootstrap twice"). The minor in `version`
 * may forbid, too, and allows nothing by itself.
 */
import type { Condition } from './condition.ts';

export interface MemberStatus {
  /** The pod's name. */
  readonly name: string;
  readonly role: string;
  readonly ready: boolean;
  readonly version?: string;
  readonly node?: string;
  /** The pod's IP: the identity that other members know it by. */
  readonly address?: string;
  /** The database's own number for it. */
  readonly id?: string;
  /** Of a database with several shards: which of them, and the hash slots that the process serves. */
  readonly shard?: string;
  readonly slots?: string;
  /** Bytes as a Kubernetes quantity, rounded so that it says something new only when it grows by much. */
  readonly dataSize?: string;
}

export interface ConnectionStatus {
  readonly services: readonly { readonly role: string; readonly host: string; readonly port: number }[];
  readonly secretName?: string;
}

/** What the volumes have, as Kubernetes quantities. */
export interface StorageStatus {
  /** Of the smallest volume. */
  readonly capacity: string;
  /** The least that the size in the spec can be: volumes never shrink. */
  readonly minimumSize: string;
}

/** How far the archive of the log is. */
export interface ArchiveStatus {
  /** `Gap`: part of the log is missing, and no backup was taken since. */
  readonly state: 'Starting' | 'Following' | 'Late' | 'Gap';
  /** RFC 3339: since when it is so. */
  readonly since: string;
  /** The end of what is stored, in the engine's words, and when it was stored: at most five minutes old while it follows. */
  readonly end?: string;
  readonly storedAt?: string;
  readonly message?: string;
}

export interface PlanStatus {
  /** The next step in words, or empty when there is none. */
  readonly next?: string;
  readonly waitingFor?: string;
  readonly blockedBy?: string;
}

/** What is beyond is not remembered: whether it follows from an edit is then told by the generation alone. */
export const mostHeldTemplates = 64;

/** A template of a StatefulSet that is wanted and not written yet. */
export interface HeldTemplate {
  /** Of the StatefulSet. */
  readonly name: string;
  /** Its fingerprint. */
  readonly template: string;
  /** A person has edited the spec to it, and a pod is repaired by it. */
  readonly edited?: boolean;
}

export type Phase =
  | 'Creating'
  | 'Ready'
  | 'Updating'
  | 'Degraded'
  | 'Blocked'
  | 'Paused'
  | 'Deleting'
  | 'Invalid'
  /** Of a Backup. */
  | 'Pending'
  | 'Running'
  | 'Verified'
  | 'Failed'
  /** Of a BackupSchedule. */
  | 'Active'
  | 'Suspended';

export interface ClusterStatus {
  readonly observedGeneration?: number;
  readonly phase?: Phase;
  readonly conditions?: readonly Condition[];
  readonly replicas?: number;
  readonly readyReplicas?: number;
  /** Label selector of the members, for the scale subresource. */
  readonly selector?: string;
  /** The member that takes writes, where the engine has one. */
  readonly primary?: string;
  readonly version?: string;
  readonly members?: readonly MemberStatus[];
  readonly connection?: ConnectionStatus;
  /** The Secret that workloads are bound to: see servicebinding.io. */
  readonly binding?: { readonly name: string };
  readonly plan?: PlanStatus;
  /** By these an edit is told from what has waited before it, once its generation has been observed. */
  readonly heldTemplates?: readonly HeldTemplate[];
  readonly storage?: StorageStatus;
  /** Of the volumes that have the log alone. */
  readonly walStorage?: StorageStatus;
  readonly archive?: ArchiveStatus;
  /** How the primaries of several shards are spread over nodes. */
  readonly placement?: string;
  /** Set once when the database was first formed, never cleared: from then on blank members mean loss, not a start. */
  readonly initialized?: boolean;
}
