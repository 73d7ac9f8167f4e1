/**
 * What an engine knows about backups of its clusters: where the agent finds the members and what it must show them, and
 * how the volume of the first member of a new cluster is filled with what a backup holds. The rest is the same for all.
 */

import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import type { Contents, EngineDestination, EngineSource } from '../backup/engine-data.ts';
import type { Purpose } from '../backup/identity.ts';
import type { Children } from '../resources/children.ts';
import type { ContainerSpec, Volume } from '../resources/plain.ts';
import type { EngineContext } from './engine-context.ts';

/** A Secret as files in a pod. */
export interface MountedSecret {
  readonly name: string;
  /** Name of the volume. */
  readonly volume: string;
  readonly directory: string;
  /** Key in the Secret to name of the file. */
  readonly files: Readonly<Record<string, string>>;
  /** The pod starts without it. */
  readonly optional?: true;
}

/** A quantity: encrypted, data is a few bytes longer for each MiB. */
export function roomFor(bytes: number): string {
  return String(Math.ceil(bytes + bytes / 1024 + 1024 * 1024));
}

export interface BackupSource {
  readonly source: EngineSource;
  readonly secrets: readonly MountedSecret[];
  /** Room in the pod for all of the data, where the database must not wait for the target: a quantity. */
  readonly scratch?: string;
  /** What a restore needs that is in no backup, besides the key of backups; in words, for a status. */
  readonly keep?: string;
  /** In words, for a status: `3 data nodes`. */
  readonly topology: string;
}

/** A volume that a restore fills. */
export interface RestoredSet {
  /** The StatefulSet whose first claim is filled. */
  readonly set: string;
  readonly destination: EngineDestination;
}

export interface RestoreTemplate extends RestoredSet {
  /** Where the data is in several parts: the other volumes, each filled by a Job of its own from the same backup, once the first one is. */
  readonly others?: readonly RestoredSet[];
  /** Where the pod that fetches has the claim, or what it writes to instead. */
  readonly fetchMounts: NonNullable<ContainerSpec['volumeMounts']>;
  readonly volumes: readonly Volume[];
  /** What makes a member's volume of what was fetched, in order, each after the one before has succeeded. */
  readonly containers: readonly RestoreContainer[];
  /** On the claim once it is filled, besides our own mark. */
  readonly annotations: Readonly<Record<string, string>>;
  /**
   * On the claim, besides, by what the agent has told of the volume (`Filled.told`); undefined where that is nothing that the agent tells. Absent where
   * the agent tells nothing.
   */
  annotationsOf?(told: string): Readonly<Record<string, string>> | undefined;
  /** The annotation of claims that no process is ever started on again. */
  readonly retired?: string;
  /** Up to where the log is replayed, as text; absent where the spec names no point. */
  readonly point?: string;
}

export interface RestoreContainer {
  readonly name: string;
  /** Undefined: the agent's. */
  readonly image?: string;
  readonly command: readonly string[];
  readonly env?: ContainerSpec['env'];
  readonly mounts: NonNullable<ContainerSpec['volumeMounts']>;
}

/** On a claim that a restore has filled: the folder of the backup. */
export const restoredAnnotation = 'clusterwright.dev/restored';

/** Beside it, where the spec had named one: the point up to which the log was replayed. */
export const restoredPointAnnotation = 'clusterwright.dev/restored-until';

/** The volume of the first member in a {@link RestoreTemplate}'s mounts. */
export const restoredVolume = 'filled';

/** What a database says of the part of its log that it keeps for the archive. */
export type KeptLog =
  /** `bytes`: how much that is, where it is known. */
  | { readonly state: 'kept'; readonly bytes?: number }
  /** It has removed what the archive does not have. */
  | { readonly state: 'lost'; readonly message: string }
  | { readonly state: 'unknown'; readonly message: string };

/** Of an engine whose agent archives the log: see `driver/log-archive.ts`. */
export interface ArchiveSupport<Spec> {
  /** No process is wanted, so nothing is archived. */
  isParked(cluster: Cluster<Spec>): boolean;
  /** Only reads. A database that does not answer is a value. */
  kept(cluster: Cluster<Spec>, children: Children, io: EngineContext): Promise<KeptLog>;
}

export interface BackupSupport<Spec> {
  /** Absent where the database has no log that could be archived. */
  readonly archive?: ArchiveSupport<Spec>;
  source(cluster: Cluster<Spec>): BackupSource;
  restoreTemplate(cluster: Cluster<Spec>): RestoreTemplate;
  /**
   * The spec of a small cluster that a backup of `cluster` can be restored into, to see whether it can; without
   * `bootstrap`. Nobody but who tries it uses it. `contents`: of the backup, where its status tells them.
   */
  drill(cluster: Cluster<Spec>, contents?: Contents): object;
  /** Fields of `bootstrap.restore` that such a cluster has besides. */
  readonly drillRestore?: object;
  /** What such a cluster has where the original is gone, in words; default: the default settings. */
  readonly drillDefaults?: string;
  /** One of the members may take writes while all others are gone. Default: that takes most of them. */
  readonly writesAlone?: true;
  /** `spec.version` of a cluster that reads what this version of the database has written: `8.0` for `8.0.5`. */
  specVersion(engineVersion: string): string;
  /** Other fields of such a spec: which server, where a kind has several. */
  specFields?(engineVersion: string, contents?: Contents): object;
  /** What the processes hold by now, in the words of a backup's `contents`. Rejects where nobody answers. */
  contents(cluster: Cluster<Spec>, children: Children, io: EngineContext, wanted: Contents): Promise<Contents>;
  /** Whether what was found is as good as what was wanted: a number that was counted while others wrote may differ. */
  isSame(name: string, wanted: string, found: string | undefined): boolean;
}

/** A backup that the cluster's own `spec.backup` says all about. */
export interface OwnBackup {
  /** Of the Job, and with `-task` of its ConfigMap. */
  readonly name: string;
  readonly purpose: Purpose['type'];
  /** What tells this one from those of the same purpose: an attempt that is repeated finds by it what there is. */
  readonly uid?: string;
  /** What it is waited for, where one name serves for one thing after the other. */
  readonly before?: string;
}

/** Task and Job of a backup of the cluster; undefined where its spec names no target. */
export type BackupFactory = (cluster: Cluster, backup: OwnBackup) => readonly KubeObject[] | undefined;
