/** Everything that is known of one run once it is over: what oracles judge, and nothing else. */
import type { KubeObject } from '../../src/api/object.ts';
import type { Plan } from './plan.ts';
import type { WireEntry } from './wire/wire.ts';
import type { Commit } from './world/kubernetes.ts';

/** How a process of the operator ended. */
export type LifeEnd =
  /** It was told to stop. */
  | 'stopped'
  /** The plan killed it. */
  | 'crashed'
  /** It gave up by itself because its lease was lost. */
  | 'deposed'
  /** Any other error: a defect. */
  | 'failed';

export interface LifeRecord {
  readonly id: number;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly end?: LifeEnd;
  readonly error?: string;
}

export interface LedgerRecord {
  readonly acknowledged: number;
  /** Keys that were acknowledged and cannot be read at the end. */
  readonly lost: readonly string[];
  /** Longest time without an acknowledged write, in milliseconds. */
  readonly longestGapMs: number;
  /** When clients could not write at all, in milliseconds of the run. */
  readonly outages: readonly { readonly from: number; readonly to: number }[];
}

/** What the watch over backups found, a line each. */
export interface VaultFindings {
  /** O4: what should not have been deleted, or begun. */
  readonly unsafe: readonly string[];
  /** O8: what is said of backups and is not so. */
  readonly untrue: readonly string[];
  /** O5: what is missing in a backup, or in what was restored from one. */
  readonly lost: readonly string[];
  /** O3: too many, or too few. */
  readonly uncounted: readonly string[];
}

export interface RunRecord {
  readonly plan: Plan;
  /** Whether the scenario reached its end within the time given. */
  readonly settled: boolean;
  /** What was still wrong when it did not. */
  readonly complaints: readonly string[];
  /** Milliseconds of virtual time: when the scenario began, when it had settled, when the watch over its rest ended. */
  readonly beganAt: number;
  /** From when on the moments of faults are counted: clients have written something by then. */
  readonly armedAt: number;
  readonly settledAt: number;
  readonly endedAt: number;
  /** From the beginning of the scenario on. */
  readonly commits: readonly Commit[];
  /** What existed when the scenario began, and at the end. */
  readonly before: readonly KubeObject[];
  readonly after: readonly KubeObject[];
  readonly entries: readonly WireEntry[];
  readonly writes: number;
  /** How many of them an undisturbed run of the scenario may need. */
  readonly writeBudget: number;
  readonly lives: readonly LifeRecord[];
  /** Requests of the operator that changed something after everything had settled. */
  readonly restless: readonly string[];
  readonly ledger: LedgerRecord | undefined;
  /** What the watch over the processes found: two writable primaries, a removed primary. */
  readonly membership: readonly string[];
  /** What it found of what the operator did to processes and their data. */
  readonly unsafe: readonly string[];
  /** What the status said of the database and was not so. */
  readonly untrue: readonly string[];
  /** Of backups. */
  readonly vault: VaultFindings;
  /** What the operator did that no plan had shown, a line each. */
  readonly unforeseen: readonly string[];
  /** One line an entry, as the operator's log prints them. */
  readonly log: readonly string[];
  /** Rejections that nobody handled. */
  readonly unhandled: readonly string[];
  /** Values that must not show anywhere. */
  readonly secrets: readonly string[];
  /** Milliseconds that the last process took to end when asked; undefined: it did not. */
  readonly stopMs: number | undefined;
}

export interface Violation {
  /** `O4`. */
  readonly oracle: string;
  readonly message: string;
}

export interface Oracle {
  readonly id: string;
  readonly promise: string;
  /** `reference`: the undisturbed run of the same scenario. */
  check(run: RunRecord, reference: RunRecord): readonly string[];
}
