/**
 * A Plan is data: what one pass would do, in order, and what it waits for or is blocked by.
 *
 * `clusterwright plan` prints it, the executor runs it, tests compare it. A plan never spans two observations: whatever
 * depends on the effect of a step is decided by the next pass, on state read after that step.
 */
import type { Finding } from '../api/condition.ts';
import type { KubeObject, ObjectRef } from '../api/object.ts';
import type { Issue } from '../certificates/issue.ts';
import type { ResizedContainer } from '../resources/resize.ts';

/** One leaf that differs. `from` is absent when the field is new, `to` when it goes. */
export interface FieldChange {
  /** Dotted path with list positions or keys, for example `spec.template.spec.containers[redis].image`. */
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** Secret keys to fill with fresh random text at the moment of creation. They are in no plan, log or diff. */
export interface Generated {
  readonly key: string;
  /** Length in characters of [A-Za-z0-9]. */
  readonly length: number;
  /** A Secret of the name that somebody else has made is not taken for it: its values are not ours to tell anybody. */
  readonly isOursAlone?: true;
}

export interface MayFail {
  /** Its failure is reported and holds up nothing else: a volume that cannot grow, a kind that is somebody else's. */
  readonly optional?: true;
  /** Of an optional step without whose effect the cluster is not as its spec says: the condition that tells of a refusal. */
  readonly finding?: Finding;
}

export type ObjectStep =
  | ({ readonly type: 'create'; readonly object: KubeObject; readonly generate?: readonly Generated[] } & MayFail)
  /** Makes a Secret with certificates, or puts others in the place of those in it. It holds no key: see `Issue`. */
  | ({ readonly type: 'issue'; readonly object: KubeObject; readonly issue: Issue; readonly reason: string } & MayFail)
  | ({
      readonly type: 'apply';
      readonly object: KubeObject;
      readonly changes: readonly FieldChange[];
      /** Members are stopped for what it says, without a new template. */
      readonly interrupts?: true;
    } & MayFail)
  /** A JSON merge patch on an object that somebody else owns (a pod's role label). Names a UID. */
  | ({
      readonly type: 'patch';
      readonly ref: ObjectRef & { readonly uid: string };
      readonly patch: Readonly<Record<string, unknown>>;
      readonly changes: readonly FieldChange[];
      /** What is written on a pod that is being resized. Where that is refused or does not stay, the pod restarts, and is not resized. */
      readonly resizing?: true;
      /** The StatefulSet as it is, where its size changes and nothing else. */
      readonly scaled?: KubeObject;
    } & MayFail)
  /** The CPU and memory of containers of a running pod. A refusal of the API server is no failure: the pod restarts then. */
  | {
      readonly type: 'resize';
      readonly ref: ObjectRef & { readonly uid: string };
      readonly containers: readonly ResizedContainer[];
      readonly changes: readonly FieldChange[];
    }
  | ({
      readonly type: 'delete';
      readonly ref: ObjectRef & { readonly uid: string };
      readonly reason: string;
    } & MayFail);

/** An engine's own commands, as a closed union in the engine: `{ type: 'redis.failover', … }`. */
export interface EngineAction {
  readonly type: string;
}

export interface ActStep<Action extends EngineAction = EngineAction> {
  readonly type: 'act';
  readonly action: Action;
  /** One line for people: what is asked of whom, and why. Holds no secret. */
  readonly summary: string;
  /** For what somebody will ask about, because a role moves: what is done, in one word for the event that tells of it. */
  readonly event?: string;
  /** It ends a member: it is done only when the spec that it rests on has just been read. */
  readonly destructive?: true;
  /** It may be refused for long: the outcome says when to look again, not that something has been asked. */
  readonly unhurried?: true;
  /** Names of StatefulSets. It is left out where this very run has changed the template of one of them: its pod is about to restart. */
  readonly unlessWritten?: readonly string[];
  /** The very object that the step rests on, besides the spec: it is done only when that has just been found there. */
  readonly precondition?: ObjectRef & { readonly uid: string };
}

export type Step<Action extends EngineAction = EngineAction> = ObjectStep | ActStep<Action>;

export function isOptional(step: Step): boolean {
  return 'optional' in step && step.optional === true;
}

/** Undefined where the step is not optional, or where its failure is told in another way. */
export function findingOf(step: Step): Finding | undefined {
  return 'finding' in step ? step.finding : undefined;
}

export type Outcome =
  /** Nothing further to do once the steps are done. `recheckMs` is when to look again at what no watch tells of. */
  | { readonly state: 'settled'; readonly recheckMs?: number }
  /** The world has to move first. `recheckMs` is when to look again where no watch would tell. */
  | { readonly state: 'wait'; readonly reason: string; readonly message: string; readonly recheckMs?: number }
  /**
   * Going on could harm data or is impossible; somebody has to change something. `recheckMs` where no watch would tell
   * that they have.
   */
  | { readonly state: 'blocked'; readonly reason: string; readonly message: string; readonly recheckMs?: number };

export interface Plan<Action extends EngineAction = EngineAction> {
  readonly steps: readonly Step<Action>[];
  /** It takes something away as a whole, whatever its steps are: a look at the custom resource and all pods comes first. */
  readonly destructive?: true;
  /** The database refuses its clients, and the templates that this plan writes end that: they wait for no maintenance window. */
  readonly repairs?: true;
  /** What interrupts members has begun, though their objects may not show it: the cluster uses its place among those that roll out. */
  readonly isUnderway?: true;
  /** Members have yet to be interrupted, or to come back: a place that is used is not given up before. */
  readonly isUnfinished?: true;
  /** The database has been told of what the templates bring: they wait for no window. */
  readonly goesOn?: true;
  /** What comes before the first interruption is at work, such as a backup: the cluster keeps a place for that. */
  readonly prepares?: true;
  /** What can wait is left out: the status does not count it for a change that goes on. */
  readonly defers?: true;
  readonly outcome: Outcome;
}

/** A plan that may have to wait for a maintenance window, or for other clusters. */
export interface DeferrablePlan<Action extends EngineAction = EngineAction> extends Plan<Action> {
  /**
   * It interrupts members for what can wait, or takes the first step to that. This is done instead while it has to wait. Absent where nothing
   * is interrupted but for a template that the plan writes: that shows by itself.
   */
  readonly otherwise?: Plan<Action>;
}

export const settled: Outcome = { state: 'settled' };

export function wait(reason: string, message: string, recheckMs?: number): Extract<Outcome, { state: 'wait' }> {
  return recheckMs === undefined ? { state: 'wait', reason, message } : { state: 'wait', reason, message, recheckMs };
}

export function blocked(reason: string, message: string, recheckMs?: number): Extract<Outcome, { state: 'blocked' }> {
  return recheckMs === undefined
    ? { state: 'blocked', reason, message }
    : { state: 'blocked', reason, message, recheckMs };
}
