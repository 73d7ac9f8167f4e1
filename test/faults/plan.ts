/**
 * A run as data: which scenario, which seed, which faults. The same plan gives the same run, so a failing one is a file
 * that anybody can replay.
 *
 * Most faults happen at a write. The operator's writes are numbered from 1 from the moment the scenario begins: requests
 * that change an object (leases and events apart), and, in the simulation, commands that change a database process.
 * Numbers go on across restarts of the operator.
 */

/** The eighteen classes; what each means is in `docs/faults.md`. */
export const faultClasses = [
  'F1',
  'F2',
  'F3',
  'F4',
  'F5',
  'F6',
  'F7',
  'F8',
  'F9',
  'F10',
  'F11',
  'F12',
  'F13',
  'F14',
  'F15',
  'F16',
  'F17',
  'F18',
] as const;
export type FaultClass = (typeof faultClasses)[number];

/** When a fault begins: right after that write was committed, or that many milliseconds into the scenario. */
export type Moment = { readonly write: number } | { readonly ms: number };

export type Fault =
  /** The process ends when the write is committed, before it hears so (F1), or before the write is sent (F2). */
  | { readonly do: 'crash'; readonly write: number; readonly when: 'after' | 'before' }
  /** The write is committed; its answer never arrives, or the connection breaks (F3). */
  | { readonly do: 'loseAnswer'; readonly write: number; readonly how: 'reset' | 'timeout' }
  /** The write is turned away instead of carried out, as often as said (F4, F5, F17). */
  | {
      readonly do: 'refuse';
      readonly write: number;
      readonly status: 403 | 409 | 422 | 429;
      readonly times: number;
      readonly retryAfterS?: number;
    }
  /** Somebody else changes the object of the write just before it (F4). */
  | { readonly do: 'touchBefore'; readonly write: number }
  /** All requests, or those of one resource, are answered with that status (F6). */
  | {
      readonly do: 'errors';
      readonly at: Moment;
      readonly resource: string;
      readonly status: 500 | 503 | 504;
      readonly forMs: number;
    }
  /** Nobody listens; afterwards the server has forgotten its history (F7). */
  | { readonly do: 'apiDown'; readonly at: Moment; readonly forMs: number }
  /**
   * Watches say nothing new for a while. Hard: lists and the first events of new watches are as old, too, which no
   * server does that keeps to its promise. With a restart the operator meets the old view anew (F8).
   */
  | {
      readonly do: 'freezeView';
      readonly at: Moment;
      readonly resources: readonly string[] | 'all';
      readonly forMs: number;
      readonly hard: boolean;
      readonly restart: boolean;
    }
  /** Watches are silent, then expire: what happened in between is only seen as its result (F9). */
  | {
      readonly do: 'skipVersions';
      readonly at: Moment;
      readonly resources: readonly string[] | 'all';
      readonly forMs: number;
    }
  /** The watches of one resource lag behind all others (F10). */
  | { readonly do: 'delayWatch'; readonly resource: string; readonly ms: number }
  /** Watches repeat their last events (F11). */
  | {
      readonly do: 'replayEvents';
      readonly at: Moment;
      readonly resources: readonly string[] | 'all';
      readonly count: number;
    }
  /** Watches end: in order, in the middle of a frame, or without a word (F12). */
  | {
      readonly do: 'endWatch';
      readonly at: Moment;
      readonly resources: readonly string[] | 'all';
      readonly how: 'close' | 'reset' | 'hang';
    }
  /** The server has forgotten the version, or does not know it yet (F13). */
  | {
      readonly do: 'expire';
      readonly at: Moment;
      readonly resources: readonly string[] | 'all';
      readonly how: 'status' | 'event' | 'tooLarge';
    }
  /** Another process takes the lease, or this one cannot renew it, or stands still for longer than it lasts (F14). */
  | { readonly do: 'loseLease'; readonly at: Moment; readonly how: 'stolen' | 'unrenewed' | 'paused' }
  /** Somebody changes what is ours, or copies it under another name (F15). */
  | {
      readonly do: 'drift';
      readonly at: Moment;
      readonly how: 'delete' | 'edit' | 'relabel' | 'disown' | 'copy';
      readonly resource: string;
      readonly name: string;
    }
  /** The database processes (F16). `member`: the ordinal, or the primary of that moment. */
  | {
      readonly do: 'kill' | 'freeze' | 'isolate' | 'fillDisk';
      readonly at: Moment;
      readonly member: number | 'primary';
      /** For freeze, isolate and fillDisk. */
      readonly forMs?: number;
      /**
       * For isolate: from everybody, or from the cluster's pods that are there at that moment. Whoever comes later reaches
       * both sides then. Default everybody.
       */
      readonly from?: 'everybody' | 'present';
    }
  /** The process that takes or fetches a backup is killed, if there is one (F16). */
  | { readonly do: 'killAgent'; readonly at: Moment }
  /** Nobody reaches the server that backups are kept on (F16). */
  | { readonly do: 'storeAway'; readonly at: Moment; readonly forMs: number }
  /** A command reaches the process and its answer is lost, or it never gets there (F16). */
  | { readonly do: 'loseReply'; readonly write: number; readonly how: 'afterEffect' | 'before' }
  /** No write of a resource is admitted for a while (F17). */
  | {
      readonly do: 'deny';
      readonly at: Moment;
      readonly resource: string;
      readonly status: 403 | 422;
      readonly forMs: number;
    }
  /** Somebody changes the spec to something else and back (F18). */
  | {
      readonly do: 'flap';
      readonly at: Moment;
      readonly spec: Readonly<Record<string, unknown>>;
      readonly forMs: number;
    };

export interface Excuse {
  readonly oracle: string;
  /** Only where the oracle's words contain this; default: whatever it says. */
  readonly about?: string;
  readonly why: string;
}

export interface Plan {
  /** `S1` to `S15`, and which variant: `S9 primary pod deleted`; those of etcd begin with `etcd`. */
  readonly scenario: string;
  readonly seed: number;
  /** The class of the cell; undefined on the undisturbed run. */
  readonly class?: FaultClass;
  readonly faults: readonly Fault[];
  /** What may differ from the undisturbed run, by oracle, and why. */
  readonly mayDiffer?: readonly Excuse[];
  /** For plans that are kept: where the bug was seen, and what it did. */
  readonly about?: string;
}

/** The write at which a fault happens, if it happens at one. */
export function writeOf(fault: Fault): number | undefined {
  if ('write' in fault) return fault.write;
  return 'at' in fault && 'write' in fault.at ? fault.at.write : undefined;
}
