/**
 * When a rollout may begin: within a maintenance window of the cluster, and when it is the cluster's turn among those of the operator. One
 * that has begun goes on. Repairs, failovers, sizes and the first start of a cluster never wait.
 *
 * What is held back is the template itself, not only the restarts: a pod that is lost meanwhile comes back as it was.
 */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import {
  ignoreLimitAnnotation,
  type MaintenanceWindow,
  maintenanceNowAnnotation,
  restartAnnotation,
} from '../api/maintenance.ts';
import type { Resource } from '../api/object.ts';
import { type HeldTemplate, mostHeldTemplates } from '../api/status.ts';
import type { Children } from '../resources/children.ts';
import { templatePrint } from './difference.ts';
import { nextWindow, unknownZones } from './maintenance-window.ts';
import { type DeferrablePlan, type Outcome, type Plan, type Step, wait } from './plan.ts';
import { refOf } from './ref.ts';
import { interrupts, writesTemplate } from './template-use.ts';
import {
  followsRollout,
  isAtRest,
  isRepair,
  isRequestedRestart,
  isRolling,
  longUnready,
  mayBeHelped,
  type TemplateWrite,
  templateWrites,
  unreadyPods,
  withoutWrites,
} from './template-write.ts';

export const waitingForWindow = 'WaitingForWindow';
export const waitingForRollout = 'WaitingForRollout';

type Hold = Extract<Outcome, { state: 'wait' }>;

export interface GateFacts {
  readonly cluster: Cluster<CommonSpec>;
  readonly resource: Resource;
  readonly children: Children;
  /** Milliseconds. */
  readonly now: number;
  /**
   * Asks for a place among the clusters that roll out. Undefined where there is one: it is this cluster's from then on. Otherwise what it waits
   * for, in words.
   */
  takePlace(): string | undefined;
}

/**
 * What becomes of the place among the clusters that roll out. `begins`: it is used with this plan. `asks`: the cluster is in line. `unused`: nothing
 * begins, so a place that has not been used yet is for others. `over`: all is at rest, and it is given up.
 */
export type Place = 'begins' | 'asks' | 'unused' | 'over';

export interface Gated {
  readonly plan: Plan;
  /** Why a rollout does not begin. */
  readonly hold?: Hold;
  /** The plan for the time of waiting is carried out. */
  readonly isOtherwise: boolean;
  /** Nothing else is waited for: the hold is the outcome of the plan. */
  readonly isOutcome: boolean;
  readonly place: Place;
  /** For the status. */
  readonly heldTemplates: readonly HeldTemplate[];
}

/** A place that is free wakes the cluster. That is so late at most where nobody tells. */
const placeRecheckMs = 30_000;
const unreadyRecheckMs = 5_000;
const atOnceWithoutLimit = `at once with the annotation ${ignoreLimitAnnotation}=true`;

export function gated(whole: DeferrablePlan, facts: GateFacts): Gated {
  const { otherwise, ...plan } = whole;
  const { cluster, children } = facts;
  const isFormed = cluster.status?.initialized === true;
  // Where no template is judged, what has waited is what it was.
  const unjudged = { ...passed(plan), heldTemplates: cluster.status?.heldTemplates ?? [] };
  if (plan.destructive === true || !isFormed || cluster.spec.paused === true) return unjudged;
  if (plan.repairs === true) return { ...unjudged, plan: otherwise ?? plan, isOtherwise: otherwise !== undefined };
  const all = templateWrites(plan, children);
  const told = heldTemplatesOf(
    [...all, ...(otherwise === undefined ? [] : templateWrites(otherwise, children))],
    facts,
  );
  const repairs = (write: TemplateWrite): boolean => {
    const known = told.find((one) => isOf(one, write));
    return isRepair(write, { ...facts, isEdited: known?.edited === true });
  };
  const gate = judged(whole, { ...facts, all, repairs });
  // Those that do not wait are written with this very plan.
  const heldTemplates = told.filter(({ edited }) => gate.hold !== undefined || edited === true);
  return { ...gate, heldTemplates: heldTemplates.slice(0, mostHeldTemplates) };
}

/** Nothing goes on that others wait for. What has been written in this very pass does not show yet. */
export function isOver(plan: Plan, children: Children): boolean {
  return plan.isUnderway !== true && plan.isUnfinished !== true && isAtRest(children);
}

interface JudgedFacts extends GateFacts {
  /** Of the plan. */
  readonly all: readonly TemplateWrite[];
  repairs(write: TemplateWrite): boolean;
}

function judged(whole: DeferrablePlan, facts: JudgedFacts): Gated {
  const { otherwise, ...plan } = whole;
  const { children, all, repairs } = facts;
  const writes = all.filter((write) => !repairs(write));
  const mayWait = otherwise !== undefined;
  const follows = (write: TemplateWrite): boolean => plan.goesOn === true || followsRollout(write, all, children);
  const { noRestarts, ...anyway } = whole;
  if (noRestarts !== undefined && restartsAnyway(whole)) {
    const hold = heldWhileNobodyRestarts(writes, { ...facts, plan, said: plan.outcome, follows });
    return hold === undefined || writes.length === 0 ? judged(anyway, facts) : withoutTemplates(anyway, hold, facts);
  }
  const isDone = isOver(plan, children);
  if (writes.length === 0 && !mayWait) {
    return isDone ? { ...passed(withoutRequest(plan, facts)), place: 'over' } : passed(plan);
  }
  // The engine may know of something that has to come first, while all pods are ready: then others have their turn.
  const begins = writes.length > 0 || plan.prepares === true || plan.steps.some((step) => interrupts(step, otherwise));
  let isInLine = false;
  const takePlace = (): string | undefined => {
    if (!begins) return undefined;
    isInLine = true;
    return facts.takePlace();
  };
  const said = (otherwise ?? plan).outcome;
  const hold = holdOn(writes, mayWait, { ...facts, plan, said, takePlace, follows });
  if (hold === undefined) return { ...passed(plan), place: begins ? 'begins' : isDone ? 'over' : 'unused' };
  // Servers that have yet to restart do so in the next window: nobody waits for that.
  const isPutOff = mayWait && hold.reason === waitingForWindow && isAtRest(children);
  return {
    ...held(otherwise ?? plan, hold, facts),
    isOtherwise: mayWait,
    place: isInLine ? 'asks' : isPutOff || isDone ? 'over' : 'unused',
  };
}

/** Something besides a template interrupts members, such as a restart of a server for its settings: a pause of Patroni is in the way of templates alone. */
function restartsAnyway({ otherwise, steps }: DeferrablePlan): boolean {
  return otherwise !== undefined && steps.some((step) => !writesTemplate(step) && interrupts(step, otherwise));
}

/** What the engine does without a template does not wait for it. */
function withoutTemplates(whole: DeferrablePlan, hold: Hold, facts: JudgedFacts): Gated {
  const { repairs } = facts;
  const steps = withoutWrites(
    whole.steps,
    facts.all.filter((write) => !repairs(write)),
  );
  const gate = judged({ ...whole, steps }, { ...facts, all: facts.all.filter(repairs) });
  if (gate.hold !== undefined) return gate;
  const isOutcome = gate.plan.outcome.state === 'settled';
  return { ...gate, hold, isOutcome, plan: { ...gate.plan, outcome: withHold(gate.plan.outcome, hold) } };
}

function passed(plan: Plan): Gated {
  return { plan, isOtherwise: false, isOutcome: false, place: 'unused', heldTemplates: [] };
}

const printOf = ({ live, step }: TemplateWrite) => ({
  name: live.metadata.name,
  template: templatePrint(step.changes),
});

function isOf(held: HeldTemplate, write: TemplateWrite): boolean {
  const { name, template } = printOf(write);
  return held.name === name && held.template === template;
}

/** Each once: both plans may want the same. */
function heldTemplatesOf(writes: readonly TemplateWrite[], facts: GateFacts): readonly HeldTemplate[] {
  return writes.reduce<readonly HeldTemplate[]>(
    (held, write) => (held.some((one) => isOf(one, write)) ? held : [...held, heldTemplate(write, facts)]),
    [],
  );
}

/**
 * An edit is told by its generation when it is seen first. From then on the template is known by its fingerprint: another edit does not make it one,
 * nor does it end to be one before it is written. One that repairs nothing has waited, whatever happens to a pod afterwards.
 */
function heldTemplate(write: TemplateWrite, facts: GateFacts): HeldTemplate {
  const { status, metadata } = facts.cluster;
  const { name, template } = printOf(write);
  const known = status?.heldTemplates?.find((one) => one.name === name && one.template === template);
  const isEdit = known === undefined ? status?.observedGeneration !== metadata.generation : known.edited === true;
  const edited = isEdit && isRepair(write, { ...facts, isEdited: true });
  return { name, template, ...(edited ? { edited } : {}) };
}

interface HoldFacts extends GateFacts {
  readonly plan: Plan;
  /** The outcome of what is done while it waits: the status has that already. */
  readonly said: Outcome;
  /** The write belongs to a rollout that has begun. */
  follows(write: TemplateWrite): boolean;
}

function holdOn(writes: readonly TemplateWrite[], mayWait: boolean, facts: HoldFacts): Hold | undefined {
  const { cluster, children, follows } = facts;
  const needsWindow = (write: TemplateWrite): boolean =>
    !isRequestedRestart(write, restartAnnotation) && !follows(write);
  const closed = mayWait || writes.some(needsWindow) ? closedWindow(facts) : undefined;
  if (closed !== undefined) return closed;
  // Pods of now have begun to restart: the others follow, and a correction does, too.
  if (ignoresLimit(cluster)) return undefined;
  const isFollowing = isRolling(children) && writes.every(follows);
  const unready = isFollowing ? [] : unreadyPods(children, longUnready(writes, facts));
  if (unready.length > 0) {
    const message = `pods restart for the changes once all of them are ready: ${unready.join(', ')}; ${atOnceWithoutLimit}`;
    return wait(waitingForRollout, message, unreadyRecheckMs);
  }
  const useless = heldWhileNobodyRestarts(writes, facts);
  if (useless !== undefined) return useless;
  const others = facts.takePlace();
  if (others === undefined) return undefined;
  const message = `pods restart for the changes after ${others}; ${atOnceWithoutLimit}`;
  return wait(waitingForRollout, message, placeRecheckMs);
}

/** Undefined where members restart for templates, or a template may be what one of them needs. */
function heldWhileNobodyRestarts(
  writes: readonly TemplateWrite[],
  { cluster, children, now, plan: { noRestarts }, said, follows }: HoldFacts,
): Hold | undefined {
  if (noRestarts === undefined || ignoresLimit(cluster)) return undefined;
  const isFollowing = isRolling(children) && writes.every(follows);
  if (isFollowing || mayBeHelped(writes, { children, now })) return undefined;
  const isSaid = said.state !== 'settled' && said.message.includes(noRestarts);
  const message = `pods restart for the changes after that${isSaid ? '' : `: ${noRestarts}`}; ${atOnceWithoutLimit}`;
  return wait(waitingForRollout, message, unreadyRecheckMs);
}

export function ignoresLimit({ metadata }: Pick<Cluster, 'metadata'>): boolean {
  return metadata.annotations?.[ignoreLimitAnnotation] === 'true';
}

function closedWindow({ cluster, now }: GateFacts): Hold | undefined {
  const windows: readonly MaintenanceWindow[] = cluster.spec.maintenance?.windows ?? [];
  if (cluster.metadata.annotations?.[maintenanceNowAnnotation] !== undefined) return undefined;
  const state = nextWindow(windows, now);
  if (state.isOpen) return undefined;
  const atOnce = `at once with the annotation ${maintenanceNowAnnotation}`;
  const unknown = unknownZones(windows);
  const also = unknown.length === 0 ? '' : ` (nobody knows the time zone ${unknown.join(', ')})`;
  if (state.opensAt === undefined) {
    return wait(waitingForWindow, `no maintenance window opens${also}: pods restart for the changes ${atOnce}`);
  }
  const at = new Date(state.opensAt).toISOString().replace(/\.\d+Z$/, 'Z');
  const message = `pods restart for the changes in the maintenance window that opens at ${at}${also}; ${atOnce}`;
  return wait(waitingForWindow, message, state.opensAt - now);
}

function held(plan: Plan, hold: Hold, { children, repairs }: JudgedFacts): Gated {
  const writes = templateWrites(plan, children).filter((write) => !repairs(write));
  const steps = withoutWrites(plan.steps, writes);
  const isOutcome = plan.outcome.state === 'settled';
  return { ...passed({ ...plan, steps, outcome: withHold(plan.outcome, hold) }), hold, isOutcome };
}

/** What else is waited for comes first. */
function withHold(outcome: Outcome, hold: Hold): Outcome {
  return outcome.state === 'settled'
    ? sooner(hold, outcome.recheckMs)
    : sooner({ ...outcome, message: `${outcome.message}; ${hold.message}` }, hold.recheckMs);
}

function sooner<O extends Outcome>(outcome: O, ms: number | undefined): O {
  if (ms === undefined) return outcome;
  return { ...outcome, recheckMs: Math.min(ms, outcome.recheckMs ?? ms) };
}

/**
 * What is waited for may be what comes before an interruption, such as the rehearsal of an upgrade. Where a person has to act, it begins later,
 * unless the operator looks again by itself: then the interruption follows as soon as the person has acted.
 */
function mayFollow({ outcome, isIdle }: Plan): boolean {
  if (isIdle === true) return false;
  return outcome.state === 'wait' || (outcome.state === 'blocked' && outcome.recheckMs !== undefined);
}

/** The request has been carried out, or there was nothing to do. It must not last: a change of another day would interrupt members at once. */
function withoutRequest(plan: Plan, { cluster, resource }: GateFacts): Plan {
  const from = cluster.metadata.annotations?.[maintenanceNowAnnotation];
  const ref = refOf(cluster, resource);
  if (from === undefined || ref === undefined || mayFollow(plan)) return plan;
  const step: Step = {
    type: 'patch',
    ref,
    patch: { metadata: { annotations: { [maintenanceNowAnnotation]: null } } },
    changes: [{ path: `metadata.annotations[${maintenanceNowAnnotation}]`, from }],
  };
  return { ...plan, steps: [...plan.steps, step] };
}
