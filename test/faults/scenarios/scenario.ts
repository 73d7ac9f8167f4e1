/** What happens in a run apart from its faults: what is there before, what somebody asks for, and how it must end. */
import type { KubeObject } from '../../../src/api/object.ts';
import type { EarlierBackup } from '../backup/earlier.ts';
import type { Excuse } from '../plan.ts';
import type { Volume } from '../world/workload.ts';

/** What a scenario may do: what people and machines do to a cluster. */
export interface Stage {
  /** Lets time pass. */
  pause(ms: number): Promise<void>;
  create(spec: Spec): Promise<void>;
  /** Merges into the spec. */
  change(spec: Spec): Promise<void>;
  /** An annotation of the custom resource; null takes it away. */
  annotate(name: string, value: string | null): Promise<void>;
  /** The status of the custom resource, or of another one, as text. */
  said(of?: { readonly kind: string; readonly name: string }): string;
  /** Whether there is such an object. */
  has(resource: string, name: string): boolean;
  /** Another value for a key of a Secret. Returns the one before. */
  editSecret(name: string, key: string, value: string): Promise<string>;
  remove(): Promise<void>;
  /** Any other object, in the same namespace where it is in one. */
  make(object: KubeObject): Promise<void>;
  /** Merges into the spec of another object. */
  amend(kind: string, name: string, spec: Spec): Promise<void>;
  /** Merges what is made of an object into it, as a person would. */
  edit(resource: string, name: string, change: (object: KubeObject) => object): Promise<void>;
  /** Deletes an object, as a person would. */
  discard(resource: string, name: string): Promise<void>;
  /** Clients write for a few seconds, and stop. */
  fill(): Promise<void>;
  /** A client deletes everything that the database holds. */
  empty(): Promise<void>;
  /** Resolves when the custom resource and its children are gone. */
  gone(): Promise<void>;
  deletePod(pod: string): Promise<void>;
  /** The process of a Job's pod is killed, if one is at work, and has made this of its volume. */
  killJob(job: string, isThen?: (volume: Volume) => boolean): void;
  /** Data pod that takes writes. */
  primary(): string;
  /** A data pod that does not, or does not lead. */
  replica(): string;
  /** The versions of the data pods that are ready: `8.0`. */
  versions(): ReadonlyMap<string, string>;
  /** The volume of a data pod loses its content, and its process with it. */
  loseVolume(pod: string): Promise<void>;
  /** The claim of a data pod is deleted, and its pod with it. */
  loseClaim(pod: string): Promise<void>;
  /** The data of this pod comes apart from that of the others. */
  spoil(pod: string): Promise<void>;
  /** The database compares the data of its pods. */
  compare(): Promise<void>;
  /** The machines of these pods are without power for so long. */
  powerOff(pods: readonly string[], ms: number): Promise<void>;
  /** The machines of these pods are without power until `restorePower`: what they kept in memory is gone. */
  cutPower(pods: readonly string[] | 'all'): Promise<void>;
  /** The same, and what their disks had yet to flush is gone, too. */
  cutPowerAtOnce(pods: readonly string[]): Promise<void>;
  restorePower(pods: readonly string[] | 'all'): Promise<void>;
  /** Nobody reaches the store of backups for so long. Resolves when they do again. */
  storeAway(ms: number): Promise<void>;
  restartOperator(): Promise<void>;
  /** No process of the operator runs from then on, until `startOperator`. */
  stopOperator(): Promise<void>;
  startOperator(): void;
  /** The cluster is as an operator left it that knew less than this one does. The operator is not there. */
  makeOlder(): Promise<void>;
}

export type Spec = Readonly<Record<string, unknown>>;

/** Which engine's cluster a scenario is about. */
export const engineNames = ['redis', 'etcd', 'postgres'] as const;
export type EngineName = (typeof engineNames)[number];

export interface Scenario {
  readonly engine: EngineName;
  /** `S3`, with a word where there are several: `S9 primary`. Those of etcd begin with `etcd`. */
  readonly id: string;
  readonly title: string;
  /** The cluster that is there before; undefined: none. */
  readonly before?: Spec;
  /** What is done to the cluster that is there before, in peace. */
  prepare?(stage: Stage): Promise<void>;
  /** Other people's objects that are there from the beginning: Secrets, claims. */
  readonly furniture?: readonly KubeObject[];
  /** Backups that are in the store from the beginning. */
  readonly earlier?: readonly EarlierBackup[];
  /** What the cluster holds in the end, and nothing else; undefined: what clients write. */
  readonly restored?: ReadonlyMap<string, string>;
  /** Resources besides the cluster's own that it is about, by their plural names. */
  readonly resources?: readonly string[];
  /** Kind and name to the phase that another custom resource ends in: `Backup/one`. */
  readonly phases?: Readonly<Record<string, string>>;
  /** Fields of the spec that flap from the operator's first write on only: those that it changes, among others. */
  readonly touches?: readonly string[];
  act(stage: Stage): Promise<void>;
  /**
   * `whole`: everything as the spec says. `gone`: nothing left but what the policy keeps. `blocked`: it says that a person
   * has to decide.
   */
  readonly end: 'whole' | 'gone' | 'blocked';
  /** What may differ between any two runs of it. */
  readonly mayDiffer?: readonly Excuse[];
  /** Writes of the operator that it takes without faults, at most. */
  readonly writes: number;
  /** Whether clients write all the time. */
  readonly written: boolean;
  /** How they find whom to write to: by default through the Service. `database`: they ask the database, as Sentinel's do. */
  readonly discovery?: 'service' | 'database';
}
