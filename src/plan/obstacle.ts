/**
 * What was found, after a plan was made, to keep some of its steps from being done: a pod would end that could not start
 * again, or a template would be written by which no pod can be made. The other steps of the plan rest on none of these.
 */
import { shortened } from '../api/bounds.ts';
import type { DesiredCondition } from '../api/condition.ts';
import { blocked, type Outcome, type Plan, type Step, wait } from './plan.ts';

export type Obstruction = Exclude<Outcome, { state: 'settled' }>;

export interface Obstacle {
  /** Not done while it lasts. Where there is none, the plan's own outcome stays, and its condition is said. */
  readonly steps: readonly Step[];
  readonly outcome: Obstruction;
  /** Said of the cluster while it lasts, whatever else is waited for. */
  readonly condition?: DesiredCondition;
}

export interface ObstructedPlan {
  readonly plan: Plan;
  /** The obstacles' own, where it is the plan's now. */
  readonly outcome: Obstruction | undefined;
  readonly conditions: readonly DesiredCondition[];
}

/** The plan without those steps. */
export function withoutObstructed(plan: Plan, obstacles: readonly Obstacle[]): ObstructedPlan {
  if (obstacles.length === 0) return { plan, outcome: undefined, conditions: [] };
  const held = new Set(obstacles.flatMap(({ steps }) => steps));
  const steps = plan.steps.filter((step) => !held.has(step));
  const own = outcomeOf(held.size === 0 ? obstacles : obstacles.filter(({ steps }) => steps.length > 0));
  const takesOver =
    held.size > 0 && plan.outcome.state !== 'blocked' && (endsPods(held) || waitsForSteps(plan.outcome));
  return {
    plan: { ...plan, steps, outcome: takesOver ? own : sooner(plan.outcome, own) },
    outcome: takesOver ? own : undefined,
    conditions: obstacles.flatMap(({ condition }) => condition ?? []),
  };
}

/** `why`: what keeps its pod templates from being judged. A plan that waits says so, since a template may be what it waits for. */
export function notJudged(why: string): string {
  return `pod templates are not judged: ${why}`;
}

export function withUnjudged(plan: Plan, why: string | undefined): Plan {
  const { outcome } = plan;
  if (why === undefined || outcome.state !== 'wait') return plan;
  return { ...plan, outcome: { ...outcome, message: shortened(`${outcome.message}; ${notJudged(why)}`) } };
}

function outcomeOf(obstacles: readonly Obstacle[]): Obstruction {
  const outcomes = obstacles.map(({ outcome }) => outcome);
  const lasting = outcomes.filter(({ state }) => state === 'blocked');
  const said = lasting.length === 0 ? outcomes : lasting;
  const reason = said[0]?.reason ?? '';
  const message = said.map((outcome) => outcome.message).join('; ');
  const recheckMs = soonestOf(outcomes);
  return lasting.length === 0 ? wait(reason, message, recheckMs) : blocked(reason, message, recheckMs);
}

/** A plan that ends a pod says so, and waits for nothing else. */
function endsPods(held: ReadonlySet<Step>): boolean {
  return [...held].some(({ type }) => type === 'delete');
}

/** What has no time to look again at waits for what the steps bring about. */
function waitsForSteps(outcome: Outcome): boolean {
  return outcome.state === 'settled' || outcome.recheckMs === undefined;
}

function sooner(outcome: Outcome, own: Obstruction): Outcome {
  if (outcome.state === 'settled') return outcome;
  const recheckMs = soonestOf([outcome, own]);
  return recheckMs === undefined ? outcome : { ...outcome, recheckMs };
}

function soonestOf(outcomes: readonly Obstruction[]): number | undefined {
  const times = outcomes.flatMap(({ recheckMs }) => recheckMs ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}
