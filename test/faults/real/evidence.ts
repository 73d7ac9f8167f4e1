/** Everything that is known of one run on real pods once it is over: what the oracles judge, and nothing else. */
import type { KubeObject } from '../../../src/api/object.ts';
import type { GuardReport } from '../../support/endpoint-guard.ts';
import type { LedgerReport } from '../../support/ledger.ts';
import type { ForesightLine } from '../foresight/live.ts';
import type { Plan } from '../plan.ts';
import type { LifeRecord } from '../record.ts';
import type { Happening } from './chronicle.ts';
import type { EndState } from './end-state.ts';
import type { Answered } from './witness.ts';

export interface Evidence {
  readonly plan: Plan;
  /** Faults of the plan that never happened, in words: the run proves nothing about them. */
  readonly unhappened: readonly string[];
  /** What was still wrong when the time was over; empty: the scenario ended as it should. */
  readonly complaints: readonly string[];
  /** Writes that came although all was well, in words. Empty: it became quiet. */
  readonly restless: readonly string[];
  /** What the API server answered to the operator's writes, from the beginning of the scenario on. */
  readonly writes: readonly Answered[];
  readonly forbidden: readonly string[];
  /** When the lease was taken from a process by the plan, if it was. */
  readonly deposed: { readonly life: number; readonly at: number } | undefined;
  readonly lives: readonly LifeRecord[];
  readonly happenings: readonly Happening[];
  readonly deletionPolicy: string;
  readonly state: EndState;
  /** The custom resource at the end, and the name of the pod that its processes call primary. */
  readonly cluster: KubeObject | undefined;
  readonly primary: string | undefined;
  /** What O13 saw in the processes; of one that was killed, until then. */
  readonly foresight: readonly ForesightLine[];
  readonly ledger: LedgerReport | undefined;
  readonly guard: GuardReport | undefined;
  /** Values that must not show. */
  readonly secrets: readonly string[];
  /** Where they must not show: a place and what is there. */
  readonly texts: Readonly<Record<string, string>>;
  /** From the beginning of the scenario to its end. */
  readonly durationMs: number;
}

/** What undisturbed runs of the scenario agree upon. */
export interface Reference {
  /** Most that any of them needed. */
  readonly writes: number;
  /** Fewest: a fault at a later write might never happen. */
  readonly fewestWrites: number;
  readonly state: EndState;
  /** Fields that differ between undisturbed runs. */
  readonly masked: readonly string[];
  /** `pods/r-N created` to how often. */
  readonly counts: Readonly<Record<string, number>>;
  /** Counts that differ between undisturbed runs. */
  readonly uncounted: readonly string[];
}
