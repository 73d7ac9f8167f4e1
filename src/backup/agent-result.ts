/**
 * The agent's last word: one line of JSON, under 4096 bytes, on stdout and in the termination message.
 *
 * No secret is in it, and nothing that a database or a target said is quoted at length.
 */
import type { DataSummary } from './engine-data.ts';
import type { ClusterIdentity, Purpose } from './identity.ts';

/** What is worth knowing of a backup in a status. */
export interface BackupSummary extends Partial<DataSummary> {
  readonly id: string;
  /** PREFIX/NAMESPACE/KIND/CLUSTER-UID/ID */
  readonly folder: string;
  /** `redis` */
  readonly engine: string;
  /** As the process said: `8.0.5`. */
  readonly engineVersion: string;
  readonly cluster: ClusterIdentity;
  readonly purpose: Purpose;
  /** RFC 3339, in UTC. */
  readonly startedAt: string;
  readonly completedAt: string;
  /** Of the data as the database gave it. */
  readonly plainBytes: number;
  /** Of the data as it is stored. */
  readonly storedBytes: number;
  /** Of the data as the database gave it, in hex. */
  readonly plainSha256: string;
  readonly encrypted: boolean;
}

/** Who or what stood in the way. Those marked "again" may go away by themselves: exit code 1, else 2. */
export type FailureReason =
  | 'BadTask'
  /** Key, password or certificate: not there, or not what it should be. */
  | 'SecretUnusable'
  /** again */
  | 'SourceUnreachable'
  /** The database refused: credentials, permissions, another cluster. */
  | 'SourceRefused'
  /** again: the data ended early, or its own checksum does not fit it. */
  | 'SourceBroken'
  /** again */
  | 'TargetUnreachable'
  /** The target refused: credentials, no such bucket, no such directory. */
  | 'TargetRefused'
  /** again: what was read back is not what was written. */
  | 'TargetBroken'
  /** No backup is as asked for. */
  | 'NotFound'
  /** Backups of several clusters are as asked for, or it is not certain that the newest is the one that is wanted. */
  | 'Ambiguous'
  /** Encrypted with another key, or not encrypted although a key is given, or the other way round. */
  | 'OtherKey'
  /** Manifest or data is not what the agent wrote. */
  | 'Tampered'
  /** Of another engine, or of a later version than the new cluster's or the agent's. */
  | 'Unfit'
  /** There is data where the restored data is to go. */
  | 'Occupied'
  /** again: SIGTERM. Exit code 143. */
  | 'Stopped'
  /** again: a defect of the agent, or of the machine. */
  | 'Unexpected';

export type AgentResult =
  | {
      readonly result: 'taken';
      readonly backup: BackupSummary;
      /** An earlier attempt for the same Backup had stored it; nothing was taken now. */
      readonly isRepeated: boolean;
      /** Backups that retention let go. */
      readonly pruned: number;
      /** Why retention could not do its work; the backup itself is good. */
      readonly retentionFailure?: string;
      /** The backup holds suddenly little: why that is thought. Retention stands still. */
      readonly suddenLoss?: string;
      /** Ids do not tell which backup is newer: whose does not. */
      readonly misleadingIds?: string;
      readonly milliseconds: number;
    }
  | {
      readonly result: 'fetched';
      readonly backup: BackupSummary;
      /** An earlier attempt had put it in place. */
      readonly isRepeated: boolean;
      /** What the engine's own half is to know of the volume. */
      readonly told?: string;
      readonly milliseconds: number;
    }
  | { readonly result: 'verified'; readonly backup: BackupSummary; readonly milliseconds: number }
  | {
      readonly result: 'listed';
      readonly total: number;
      /** The newest ones, as many as there is room for; stdout has them all, a line each. */
      readonly backups: readonly Pick<BackupSummary, 'id' | 'folder' | 'cluster' | 'plainBytes' | 'completedAt'>[];
      /** Folders whose manifest cannot be trusted or understood. */
      readonly unusable: number;
    }
  | {
      readonly result: 'failed';
      readonly reason: FailureReason;
      /** In words, for a person; at most 1000 characters. */
      readonly message: string;
      /** A repetition may succeed. */
      readonly isTransient: boolean;
    };

/** The longest message that Kubernetes keeps. */
export const maxResultBytes = 4095;

/** Where Kubernetes looks for it unless a container says otherwise. */
export const terminationMessagePath = '/dev/termination-log';

export const exitCodes = {
  done: 0,
  /** A repetition may succeed. */
  failed: 1,
  /** A repetition would fail in the same way: a Job may give up on this code. */
  permanent: 2,
  stopped: 143,
} as const;
