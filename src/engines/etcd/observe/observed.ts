/**
 * What the members of a cluster say about themselves, and what they agree on. A member that does not answer is a value
 * of its own: silence is never read as an empty answer, and a member list that no majority has confirmed is no list.
 *
 * Numbers of etcd's own making (member, cluster) are decimal text, as its gateway writes them: they do not fit a double.
 */
import type { CopySeen, casOf } from '../../../certificates/copied.ts';
import type { AuthoritySeen } from '../../../plan/issuance.ts';

export interface SilentMember {
  readonly state: 'silent';
  readonly pod: string;
  readonly why: string;
  /** How far its data goes, by its metrics: asked for only while no majority answers. */
  readonly progress?: Progress;
}

/** Both stand still while no majority answers, and grow as soon as one does: an election alone is an entry in the log. */
export interface Progress {
  /** Raft index of the last change that it has applied. */
  readonly applied: number;
  /** Of the keys. */
  readonly revision: string;
  /** Whose it is, in hexadecimal; absent where its metrics do not say. */
  readonly memberId?: string;
}

export interface LiveMember {
  readonly state: 'answering';
  readonly pod: string;
  readonly address: string;
  readonly memberId: string;
  readonly clusterId: string;
  /** Absent while it knows no leader. */
  readonly leaderId?: string;
  readonly isLearner: boolean;
  readonly version: string;
  /** Of its data, as `3.6.0`; members before 3.6 do not say. It follows the version that the cluster has agreed on. */
  readonly storageVersion?: string;
  /** To which version the cluster may be downgraded, by what it has applied; members before 3.6 do not say. */
  readonly downgradeTarget?: string;
  /** Index of the last change that it has applied. */
  readonly applied: number;
  /** Bytes of its database, and what of them is in use. */
  readonly dbSize: number;
  readonly dbInUse: number;
  /** Of the keys: grows with every change. */
  readonly revision: string;
}

/** A row of etcd's own list. */
export interface ListedMember {
  readonly id: string;
  /** May be empty until its process has started for the first time. */
  readonly name: string;
  /** Its process has run: by then, and not before, it has told the others where clients reach it. */
  readonly hasStarted: boolean;
  readonly peerUrls: readonly string[];
  readonly isLearner: boolean;
}

export interface Alarm {
  /** `0` where etcd names nobody: it is about the whole cluster, and no member that has left. */
  readonly memberId: string;
  /** `NOSPACE`, `CORRUPT`, or what later versions add. */
  readonly type: string;
}

export function isCorruption({ type }: Alarm): boolean {
  return type === 'CORRUPT';
}

/** What the voters that answer say of their keys at one revision; asked for only while data is in doubt. */
export interface Comparison {
  readonly revision: string;
  readonly voices: readonly Voice[];
}

/** Hashes can be compared where the same history is dropped. `why` there is none. */
export type Voice = { readonly pod: string; readonly memberId: string } & (
  | { readonly hash: string; readonly compacted: string }
  | { readonly why: string }
);

/** What a majority has confirmed in this very pass. */
export interface Agreement {
  readonly clusterId: string;
  readonly members: readonly ListedMember[];
  readonly alarms: readonly Alarm[];
  /** Whether it asks who is asking. */
  readonly isAuthenticated: boolean;
  /** Root still has the password before the present one. */
  readonly hasPreviousPassword?: true;
  /** See `downgrade.ts`; asked for only while it matters. */
  readonly downgrade?: DowngradeWord;
  /** Up to which revision the history is known to be dropped: the leader's, or 0. Asked for only while there is no space. */
  readonly compacted?: string;
}

/** `underway`: one has been allowed, and etcd has not ended it. `refused`: etcd allows none, in its own words. */
export type DowngradeWord = { readonly state: 'underway' } | { readonly state: 'refused'; readonly words: string };

export interface EtcdObserved {
  /** One a pod. */
  readonly members: readonly (LiveMember | SilentMember)[];
  /** Absent while no majority answers. */
  readonly agreed?: Agreement;
  /** See `hashes.ts`. */
  readonly comparison?: Comparison;
  /** By pod: see `snapshot-failures.ts`. Asked for only while a majority answers. */
  readonly failedSnapshots?: Readonly<Record<string, number>>;
  /** Why no majority could be asked at all: the password is missing, or refused. What one member refuses is its silence. */
  readonly credentialsProblem?: string;
  /** Of the authorities that members are to trust: see `certificates.ts`. Absent where a Secret cannot be read now. */
  readonly authorities?: string;
  /** Of those that the operator makes itself. */
  readonly certificates?: Readonly<Partial<Record<'client' | 'peer', AuthoritySeen>>>;
  /** Of certificates that cert-manager makes. */
  readonly copies?: Readonly<Partial<Record<'client' | 'peer', CopySeen>>>;
  /** Of those in the Secrets of `secretRef`. */
  readonly given?: Readonly<Partial<Record<'client' | 'peer', NonNullable<ReturnType<typeof casOf>>>>>;
  /** See `unknown-volumes.ts`; asked for only where a member is about to be made. */
  readonly unknownVolumes?: readonly string[];
  /** Certificates of cert-manager that the members have no copy of yet. */
  readonly awaited?: readonly string[];
  /** Wall time in milliseconds. */
  readonly at: number;
}

export const nothingObserved: EtcdObserved = { members: [], at: 0 };

export function answering(members: EtcdObserved['members']): LiveMember[] {
  return members.filter((member): member is LiveMember => member.state === 'answering');
}
