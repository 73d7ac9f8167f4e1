/** What a pass says of a cluster once its steps have been taken, and when the next pass is due. Pure. */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import { isObserved } from '../api/observed-generation.ts';
import type { StatusReport } from '../engine/engine.ts';
import { Refused, refusalClaims } from '../engine/refused.ts';
import { fieldsKept } from '../plan/kept-fields.ts';
import type { ObstructedPlan } from '../plan/obstacle.ts';
import { isOptional, type Outcome, type Plan, type Step, wait } from '../plan/plan.ts';
import type { Due } from './contested.ts';
import type { Execution } from './execution.ts';
import { describeStep } from './executor.ts';
import { conflictPlan, NameConflict } from './name-conflict.ts';
import type { Paced } from './pace.ts';
import { blockedStatus, failedStatus, pausedStatus } from './pass-status.ts';
import { blockedMs, lookAfter, type ReconcileResult, recheck, soonest } from './reconcile-result.ts';
import { blockedBy, refusedExpansion, withoutExpansions, withRefusal } from './refused-expansion.ts';
import { blockedByWish, isReady, unmetWish, wordsOf } from './refused-wish.ts';
import { type Going, undoneIn } from './unmade.ts';

/**
 * What the status says is done next, and what is waited for. `observed`: what the engine says of the cluster. `going`: see
 * `goingIn`.
 */
export function saidPlan(
  plan: Plan,
  execution: Execution,
  paced: Paced | undefined,
  observed?: Pick<StatusReport, 'conditions'>,
  going: Going = { again: [], surplus: [] },
): Plan {
  const { due, done, failure, earlier, failures, ineffective } = execution;
  const cut = failure ?? earlier;
  if (cut instanceof NameConflict) return conflictPlan(cut);
  const isCreated = cut === undefined && plan.steps.every(({ type }) => type === 'create' || type === 'issue');
  const said = isCreated ? { ...plan, steps: plan.steps.filter((step) => !done.includes(step)) } : plan;
  const refused = blockedBy(refusedExpansion(failures), said);
  if (refused !== undefined) return { ...said, steps: withoutExpansions(said.steps), outcome: refused };
  if (said.outcome.state !== 'settled') return said;
  const unmet = unmetWish(failures);
  if (unmet !== undefined) {
    const outcome = blockedByWish(unmet, plan, observed) ?? said.outcome;
    const planned = new Set(plan.steps.map(describeStep));
    const steps = unmet.failures.map(({ step }) => step).filter((step) => planned.has(describeStep(step)));
    return { ...said, steps, outcome };
  }
  if (ineffective.length > 0) return { ...said, outcome: fieldsKept(ineffective) };
  const terminating = [...going.again, ...going.surplus];
  if (terminating.length > 0) return { ...said, outcome: wait('Terminating', wordsOf(terminating)) };
  const vain = vainIn(due, paced);
  return vain.length === 0 ? said : { ...said, outcome: withoutEffect(vain) };
}

/** `obstructed`: why steps were left out of the engine's plan. `again`: see `goingIn`. */
export function saidStatus(
  cluster: Cluster<CommonSpec>,
  observed: StatusReport,
  plan: Plan,
  { due, failure, earlier, failures }: Execution,
  { outcome: held, conditions }: Pick<ObstructedPlan, 'outcome' | 'conditions'> = {
    outcome: undefined,
    conditions: [],
  },
  { again }: Pick<Going, 'again'> = { again: [] },
): StatusReport {
  const refused = refusedExpansion(failures);
  const whole = withRefusal(cluster.spec.paused === true ? pausedStatus(observed, plan.outcome) : observed, refused);
  const unmet = unmetWish(failures);
  const wish = blockedByWish(unmet, plan, whole);
  const block = [held, blockedBy(refused, plan), wish].find((outcome) => outcome?.state === 'blocked');
  const told = block === undefined ? whole : blockedStatus(whole, block);
  const unmade = [...(unmet?.failures ?? []), ...undoneIn(due), ...again];
  const cut = failure ?? earlier ?? (isReady(told) && cluster.spec.paused !== true ? unmade[0] : undefined);
  const claim = cut === undefined ? told : failedStatus(cluster, told, cut);
  const refusals = failures.flatMap(({ cause }) => (cause instanceof Refused ? [cause] : []));
  const found = [...conditions, ...(unmet?.conditions ?? []), ...refusalClaims(refusals)];
  // A type stands once: what is refused has to be mended by somebody, whatever else it would tell of.
  const others = claim.conditions.filter(({ type }) => !found.some((one) => one.type === type));
  return { ...claim, conditions: [...others, ...found] };
}

/**
 * The cluster was Ready on the spec before, and steps have just been taken for the present one: a client that waits for this
 * generation must not read Ready yet. The change is seen by a watch, and the next pass writes the status. A step that
 * changed nothing brings no other pass.
 */
export function isPremature(
  cluster: Cluster,
  claim: StatusReport,
  taken: readonly Step[],
  { due }: Execution,
  paced: Paced | undefined,
): boolean {
  if (!isObserved(cluster.status) || cluster.status?.observedGeneration === cluster.metadata.generation) return false;
  const idle: readonly Step[] = [...vainIn(due, paced), ...due.kept];
  const underWay = [...taken, ...due.held, ...due.unreached].filter((step) => !idle.includes(step));
  return isReady(claim) && underWay.some((step) => !isOptional(step));
}

/** Where actions are repeated, a look that the plan asks for comes no sooner than this after the last one. */
const repeatedMs = 1_000;

/** It says that it will not become Ready by itself. */
function isStalled({ conditions }: StatusReport): boolean {
  return conditions.some(({ type, status }) => type === 'Stalled' && status === 'True');
}

/**
 * `after`: of the actions that were taken; undefined where none was. `statusLater`: see `lookAfter`. Where nothing is waited for and the
 * status says neither Ready nor Stalled, one of the two is wrong: it is not left so until somebody changes something.
 */
export function nextLook(
  { outcome }: Plan,
  claim: StatusReport,
  after: number | undefined,
  { due }: Execution,
  statusLater: number,
): Pick<ReconcileResult, 'again' | 'hasActed'> {
  const doubt = outcome.state === 'settled' && !isReady(claim) && !isStalled(claim) ? blockedMs : undefined;
  const asked = soonest(after, notTooSoon(recheck(outcome), after), due.afterMs, doubt);
  return {
    ...lookAfter(asked, statusLater),
    ...(after !== undefined && after < repeatedMs ? { hasActed: true } : {}),
  };
}

/** For a moment after an action the plan is right about when to look again; later it would repeat the action as often. */
function notTooSoon(asked: number | undefined, after = 0): number | undefined {
  return asked === undefined ? undefined : Math.max(asked, Math.min(after, repeatedMs));
}

/** What is done again and again, without an effect that shows. */
function vainIn({ undone }: Due, paced: Paced | undefined): readonly Step[] {
  return [...new Set<Step>([...undone, ...(paced?.idle ?? [])])];
}

/** What the status says of them where nothing else is waited for. */
function withoutEffect(steps: readonly Step[]): Outcome {
  return wait('NoEffect', `done again and again, without an effect that shows: ${steps.map(describeStep).join('; ')}`);
}
