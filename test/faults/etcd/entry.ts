/** What members of an etcd agree on, one after another: each entry changes the keys, the membership, or who may ask. */

/** A member as the others know it. Numbers are decimal text, as the gateway writes them. */
export interface MemberRow {
  readonly id: string;
  readonly peerUrls: readonly string[];
  readonly isLearner: boolean;
  /** Empty until its process has run for the first time. */
  readonly name: string;
  readonly clientUrls: readonly string[];
}

export type AlarmType = 'NOSPACE' | 'CORRUPT';

export type Change =
  /** The first entry of a leader's term. */
  | { readonly type: 'none' }
  | { readonly type: 'addMember'; readonly member: MemberRow }
  | { readonly type: 'promote'; readonly id: string }
  | { readonly type: 'removeMember'; readonly id: string }
  /** A member that runs says its name, and where clients reach it. */
  | { readonly type: 'publish'; readonly id: string; readonly name: string; readonly clientUrls: readonly string[] }
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  | { readonly type: 'compact'; readonly revision: number }
  | { readonly type: 'alarm'; readonly id: string; readonly alarm: AlarmType; readonly isOn: boolean }
  | { readonly type: 'setUser'; readonly name: string; readonly password: string; readonly mustBeNew: boolean }
  | { readonly type: 'deleteUser'; readonly name: string }
  | { readonly type: 'grant'; readonly name: string; readonly role: string }
  | { readonly type: 'setAuth'; readonly isOn: boolean }
  /** The minor version by whose rules all of them play. */
  | { readonly type: 'clusterVersion'; readonly minor: number }
  /** They may go back to this minor version; undefined: they may not, or have done so. */
  | { readonly type: 'downgrade'; readonly target: number | undefined }
  | { readonly type: 'token'; readonly name: string; readonly token: string };

/** The same object on every disk that holds it: two entries are equal when they are one. */
export interface Entry {
  readonly term: number;
  readonly change: Change;
  /** By which the member that was asked knows that its request has been carried out. */
  readonly request?: string;
}

export function changesMembership({ type }: Change): boolean {
  return type === 'addMember' || type === 'promote' || type === 'removeMember';
}

/** etcd answers, and says no. */
export interface Refusal {
  readonly refused: string;
  /** As in gRPC. */
  readonly code: number;
}

export function refusal(message: string, code: number): Refusal {
  return { refused: `etcdserver: ${message}`, code };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}
