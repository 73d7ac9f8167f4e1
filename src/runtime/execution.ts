/** A plan's steps are carried out, as far as they are due, and what came of them is told. */
import type { Assessment } from '../engine/engine.ts';
import { type fieldsKept, isIneffective } from '../plan/kept-fields.ts';
import { findingOf, type Plan, type Step } from '../plan/plan.ts';
import type { Log } from '../system/log.ts';
import type { ClusterKey } from './cache.ts';
import type { Contested, Due } from './contested.ts';
import { type Executor, StepFailed } from './executor.ts';
import { soonest } from './reconcile-result.ts';
import type { PlannedFor, RefusalPace } from './refusal-pace.ts';
import type { StandingFailures } from './standing-failures.ts';
import { Kept, Undone } from './unmade.ts';

/** What came of a plan's steps. */
export interface Execution {
  readonly due: Due;
  /** Steps that succeeded, also where a later one failed. */
  readonly done: readonly Step[];
  /** Why it was cut off; undefined where it was not. */
  readonly failure: unknown;
  /** Why an earlier run was cut off, at a step that this one did not reach. */
  readonly earlier: unknown;
  /**
   * Steps that others need not wait for: they failed, now or lately and are not asked for again yet, or somebody undoes them, or the API
   * server takes them without an effect.
   */
  readonly failures: readonly StepFailed[];
  /** Changes that the API server has taken without an effect, now or the last time. */
  readonly ineffective: Parameters<typeof fieldsKept>[0];
}

/** Steps that have changed something, as far as can be told. */
export function takenIn({ done, ineffective }: Pick<Execution, 'done' | 'ineffective'>): readonly Step[] {
  const idle: ReadonlySet<Step> = new Set(ineffective);
  return done.filter((step) => !idle.has(step));
}

/**
 * Steps whose effect no watch tells: an engine's actions, and Secrets. What was refused shows no effect: it is asked for
 * again in a later pass.
 */
export function unwatchedIn(taken: readonly Step[]): readonly Step[] {
  return taken.filter((step) => step.type === 'issue' || (step.type === 'act' && step.unhurried !== true));
}

export interface ExecutionOptions {
  readonly executor: Executor;
  readonly contested: Contested;
  readonly refusals: RefusalPace;
  readonly standingFailures: StandingFailures;
  readonly log: Log;
}

/** Rejects only where the signal aborts. */
export async function execute(
  key: ClusterKey,
  plan: Plan,
  act: Assessment['act'],
  plannedFor: PlannedFor,
  { executor, contested, refusals, standingFailures, log }: ExecutionOptions,
  signal: AbortSignal,
): Promise<Execution> {
  const { steps, standing, afterMs, unplannedMs } = refusals.due(plan.steps, plannedFor);
  const due = dueWith(
    contested.due(key, steps, plannedFor.cluster.metadata),
    plan.outcome.state === 'settled' ? unplannedMs : afterMs,
  );
  const done: Step[] = [];
  const ineffective: Execution['ineffective'][number][] = [];
  const failed: StepFailed[] = [];
  const result = (failure: unknown): Execution => {
    const againMs = refusals.failed(failed, plannedFor);
    for (const err of failed) log.warn({ cluster: key, err }, 'a step failed that others need not wait for');
    const stood = standingFailures.after(key, { failure, failures: [...standing, ...failed] }, due.unreached);
    return {
      due: dueWith(due, againMs),
      done,
      failure,
      earlier: failure === undefined ? stood.failure : undefined,
      failures: [...stood.failures, ...undoneWishes(due, stood.failures)],
      ineffective: [...ineffective, ...due.kept.filter(isFieldChange)],
    };
  };
  try {
    await executor.run(due.steps, act, signal, {
      done: (step, answer) => {
        const isKept = answer !== undefined && isIneffective(step, answer);
        // Nobody tells when it may have an effect: it is asked for again, as what was refused.
        if (isKept && findingOf(step) !== undefined) return void failed.push(new StepFailed(step, new Kept()));
        done.push(step);
        if (isKept) ineffective.push(step);
      },
      failed: (failure) => void failed.push(failure),
    });
  } catch (failure) {
    signal.throwIfAborted();
    return result(failure);
  }
  return result(undefined);
}

/** What a cluster's spec asks for of who connects, and is not kept up. */
function undoneWishes({ undone }: Due, failures: readonly StepFailed[]): readonly StepFailed[] {
  const told = new Set(failures.map(({ step }) => step));
  const wishes = undone.filter((step) => findingOf(step) !== undefined && !told.has(step));
  return wishes.map((step) => new StepFailed(step, new Undone()));
}

function isFieldChange(step: Step): step is Execution['ineffective'][number] {
  return step.type === 'apply' || step.type === 'patch';
}

function dueWith(due: Due, afterMs: number | undefined): Due {
  const first = soonest(due.afterMs, afterMs);
  return first === undefined ? due : { ...due, afterMs: first };
}
