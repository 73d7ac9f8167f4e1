/**
 * One pass over one cluster: look, plan, do, say.
 *
 * A pass keeps nothing for the next one. Everything it decides comes from the custom resource, the children and what the
 * processes say now, so a controller that dies after any write leaves nothing that its successor would need to know.
 */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import { resourceOf, secrets as secretResource } from '../api/resource.ts';
import type { ClusterStatus } from '../api/status.ts';
import { validateCluster } from '../api/validate.ts';
import type { RegisteredEngine, StatusClaim } from '../engines/engine.ts';
import type { EngineIO } from '../engines/engine-io.ts';
import { planEnd } from '../engines/last-backup.ts';
import { Refused, refusalClaims } from '../engines/refused.ts';
import { withCheckedTarget } from '../engines/target-claim.ts';
import { secretsThatGo } from '../plan/deletion.ts';
import { fieldsKept, ineffectiveSteps } from '../plan/kept-fields.ts';
import { oncePer } from '../plan/memo.ts';
import { ownerOf } from '../plan/objects.ts';
import { passPlan } from '../plan/pass.ts';
import { blocked, isOptional, type Outcome, type Plan, type Step, settled, wait } from '../plan/plan.ts';
import { type ExactRef, refOf } from '../plan/ref.ts';
import { type Children, childrenOf } from '../resources/children.ts';
import { managedBy, managedByLabel } from '../resources/metadata.ts';
import { isNotFound } from './api-error.ts';
import type { Cache, ClusterKey } from './cache.ts';
import type { KubeClient } from './client.ts';
import type { Contested } from './contested.ts';
import { describeStep, type Executor, StepFailed } from './executor.ts';
import { countedOn, countsOnOthers, isStopping, needsFreshLook, requestsOn, stateOf } from './fresh-look.ts';
import { withLastWords } from './last-words.ts';
import { invalidSpec, lastWill, readForUpkeep } from './legible-spec.ts';
import type { Log } from './log.ts';
import { missingSecrets, withoutStops } from './mounted-secrets.ts';
import { NameConflict } from './name-conflict.ts';
import { isOutline, tooLarge } from './outline.ts';
import type { Pace } from './pace.ts';
import {
  blockedStatus,
  endingStatus,
  failedStatus,
  pausedStatus,
  plainStatus,
  planStatus,
  unobservedStatus,
} from './pass-status.ts';
import type { StatusWriter } from './status-writer.ts';
import type { Unobserved } from './unobserved.ts';
import type { UnseenPods } from './unseen-pods.ts';

export interface Reconciler {
  /** Resolves with what the pass came to; rejects when it could not be finished and is to be tried again. */
  reconcile(engine: RegisteredEngine, cluster: KubeObject, key: ClusterKey, signal: AbortSignal): Promise<PassResult>;
}

export interface PassResult {
  readonly outcome: Outcome;
  /** Milliseconds after which to look again; undefined: a watch or a listener will tell. */
  readonly again?: number;
  /** An engine's action was taken, or a Secret made, and not for long already: what it has changed is soon to be seen. */
  readonly hasActed?: boolean;
  /** The cluster as it was understood; undefined while it is invalid or on its way out. */
  readonly understood?: { readonly cluster: Cluster; readonly children: Children };
}

export interface ReconcilerOptions {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly cache: Pick<Cache, 'children' | 'cluster' | 'entry' | 'observeRead' | 'observeDelete'>;
  /** Where a resource of one kind may be about one of another. */
  readonly engines?: readonly RegisteredEngine[];
  readonly executor: Executor;
  readonly status: StatusWriter;
  readonly io: (cluster: Cluster, signal: AbortSignal) => EngineIO;
  readonly pace: Pace;
  readonly contested: Contested;
  readonly unobserved: Unobserved;
  readonly unseenPods: UnseenPods;
  /** See `server-time.ts`: nothing that is deleted may seem to be backed up more recently than it was. */
  readonly latest: () => number;
  readonly log: Log;
  readonly onOutcome: (
    engine: RegisteredEngine,
    cluster: Cluster,
    before: ClusterStatus | undefined,
    plan: Plan,
  ) => void;
}

/** Where actions are repeated, a look that the plan asks for comes no sooner than this after the last one. */
const repeatedMs = 1_000;

/** What somebody has to change is looked at again after so long where no watch may tell that they have. */
const blockedMs = 30_000;

/** The watch is late; it need not be asked after often. */
const outdatedMs = 1_000;

const outdated: PassResult = {
  outcome: wait('Outdated', 'the cluster has changed, or is gone'),
  again: outdatedMs,
};

const noAction = (): Promise<void> => Promise.reject(new Error('this plan holds no engine actions'));

export function createReconciler(options: ReconcilerOptions): Reconciler {
  const { client, cache, executor, status, io, pace, contested, unobserved, onOutcome } = options;
  const verdictOn = oncePer(({ kind }: RegisteredEngine) =>
    oncePer((object: KubeObject) => validateCluster(kind, object, { unknown: 'prune' })),
  );

  /** The cluster that a resource is about; undefined where there is none, or its spec is not valid. */
  function referredBy(engine: RegisteredEngine, cluster: Cluster): Cluster | undefined {
    const referral = engine.refersTo?.(cluster);
    const other = options.engines?.find(({ kind }) => kind.resource.kind === referral?.kind);
    if (referral === undefined || other === undefined) return undefined;
    const object = cache.cluster(other, cluster.metadata.namespace, referral.name);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
    if (isOutline(object)) throw new Error(tooLarge(object).message);
    const verdict = verdictOn(other)(object);
    return verdict.ok ? verdict.cluster : undefined;
  }

  async function reconcileDeleting(
    engine: RegisteredEngine,
    cluster: Cluster<CommonSpec>,
    children: Children,
    signal: AbortSignal,
  ): Promise<PassResult> {
    const secrets = await generatedSecrets(engine, cluster, signal);
    const { plan: ending, isWaitingForBackup } = planEnd(engine, cluster, children, secrets, options.latest());
    const end = { plan: await withCheckedTarget(ending, io(cluster, signal)) };
    const kept = isWaitingForBackup ? await upkeepSteps(engine, cluster, children, signal) : [];
    // The cluster that was seen going may be gone, and its children the next one's of the name.
    if (await isOutdated(cluster, engine.kind.resource, children, end.plan, signal)) return outdated;
    const plan = { ...end.plan, steps: [...kept, ...end.plan.steps] };
    let claim = endingStatus(cluster, plan.outcome);
    let failure: unknown;
    try {
      await executor.run(plan.steps, noAction, signal);
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
      claim = failedStatus(cluster, claim, error);
    }
    const said = failure instanceof NameConflict ? conflictPlan(failure) : plan;
    // Settled is one that nothing holds any more: nobody would read it.
    const isRead = failure !== undefined || plan.outcome.state !== 'settled';
    const later = isRead ? await status.write(cluster, engine.kind, claim, planStatus(said), signal) : 0;
    if (failure !== undefined) throw failure;
    return { outcome: plan.outcome, ...lookAfter(recheck(plan.outcome), later) };
  }

  async function upkeepSteps(
    engine: RegisteredEngine,
    cluster: Cluster,
    children: Children,
    signal: AbortSignal,
  ): Promise<readonly Step[]> {
    const steps = (await engine.upkeep?.plan(cluster, io(cluster, signal))) ?? [];
    const plan = { steps, outcome: settled };
    return (await isOutdated(cluster, engine.kind.resource, children, plan, signal)) ? [] : steps;
  }

  async function generatedSecrets(
    engine: RegisteredEngine,
    cluster: Cluster<CommonSpec>,
    signal: AbortSignal,
  ): Promise<KubeObject[]> {
    const found = await Promise.all(
      secretsThatGo(engine.resources(cluster), cluster).map(async (name) => {
        try {
          return [
            await client.get({ resource: secretResource, namespace: cluster.metadata.namespace, name }, { signal }),
          ];
        } catch (error) {
          if (isNotFound(error)) return [];
          throw error;
        }
      }),
    );
    // One of that name which somebody made before us is theirs, though we have used it.
    return found.flat().filter(({ metadata }) => metadata.labels?.[managedByLabel] === managedBy);
  }

  /** Whether a plan rests on something that is not what the cache says: asked of the API server where it matters. */
  async function isOutdated(
    cluster: Cluster,
    resource: Resource,
    children: Children,
    plan: Plan,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { observedGeneration } = cluster.status ?? {};
    const isNew = observedGeneration === undefined && cluster.metadata.deletionTimestamp === undefined;
    if (plan.takesAway !== true && (isNew || !plan.steps.some(needsFreshLook))) return false;
    const { name, namespace, uid, generation } = cluster.metadata;
    try {
      const live = await client.get({ resource, namespace, name }, { signal });
      if (live.metadata.uid === uid) cache.observeRead(live);
      if (live.metadata.uid !== uid || live.metadata.generation !== generation) return true;
      if (requestsOn(live) !== requestsOn(cluster)) return true;
    } catch (error) {
      if (isNotFound(error)) return true;
      throw error;
    }
    const restsOn = plan.steps.flatMap((step) => (step.type === 'act' ? (step.restsOn ?? []) : []));
    const found = await Promise.all(restsOn.map((ref) => lookAgain(ref, signal)));
    if (found.some((live, i) => live?.metadata.uid !== restsOn[i]?.uid)) return true;
    const going = plan.steps.flatMap((step) => (isStopping(step) ? [step.ref] : []));
    // One that no watch shows has been told of by its pod.
    const isSame = async (ref: ExactRef): Promise<boolean> => {
      const seen = children.statefulSet(ref.name);
      return seen === undefined || ownerOf(await lookAgain(ref, signal)) === ownerOf(seen);
    };
    if ((await Promise.all(going.map(isSame))).includes(false)) return true;
    if (plan.takesAway !== true && !plan.steps.some(countsOnOthers)) return false;
    const asSeen = await Promise.all(countedOn(children).map((object) => isAsSeen(object, signal)));
    return asSeen.includes(false);
  }

  async function isAsSeen(object: KubeObject, signal: AbortSignal): Promise<boolean> {
    const ref = refOf(object, resourceOf(object));
    const now = ref === undefined ? undefined : await lookAgain(ref, signal);
    return now !== undefined && now.metadata.uid === object.metadata.uid && stateOf(now) === stateOf(object);
  }

  /** What is there by now is learned on the way: the watch that has not told of it may never do so. */
  async function lookAgain(ref: ExactRef, signal: AbortSignal): Promise<KubeObject | undefined> {
    try {
      const live = await client.get(ref, { signal });
      cache.observeRead(live);
      return live;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      cache.observeDelete(ref);
      return undefined;
    }
  }

  /** Neither its spec is known nor its status, so no condition can be written: an event tells. */
  function notKept(engine: RegisteredEngine, object: KubeObject): PassResult {
    const outcome = tooLarge(object);
    onOutcome(engine, object as Cluster, undefined, { steps: [], outcome });
    return { outcome, again: blockedMs };
  }

  async function childNotKept(
    engine: RegisteredEngine,
    cluster: Cluster,
    outcome: ReturnType<typeof tooLarge>,
    signal: AbortSignal,
  ): Promise<PassResult> {
    const plan: Plan = { steps: [], outcome };
    onOutcome(engine, cluster, cluster.status, plan);
    const said = plainStatus(cluster, 'Blocked', outcome);
    const later = await status.write(cluster, engine.kind, said, planStatus(plan), signal);
    return { outcome, ...lookAfter(blockedMs, later) };
  }

  /** Where the pass has come so far that a step failed, its status says that. What is no database says how it was. */
  async function told(
    engine: RegisteredEngine,
    object: KubeObject,
    key: ClusterKey,
    error: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    if (error instanceof StepFailed || error instanceof NameConflict) return unobserved.seen(key);
    if (!unobserved.failed(key) || signal.aborted || isOutline(object) || engine.refersTo !== undefined) return;
    const cluster = object as Cluster;
    const claim = unobservedStatus(cluster as Cluster<{ readonly paused?: unknown }>, error);
    try {
      await status.write(cluster, engine.kind, claim, undefined, signal);
    } catch (err) {
      options.log.warn({ cluster: key, err }, 'the status cannot say that the cluster is not looked at');
    }
  }

  return {
    async reconcile(engine, object, key, signal) {
      try {
        const result = await look(engine, object, key, signal);
        unobserved.seen(key);
        return result;
      } catch (error) {
        await told(engine, object, key, error, signal);
        throw error;
      }
    },
  };

  async function look(
    engine: RegisteredEngine,
    object: KubeObject,
    key: ClusterKey,
    signal: AbortSignal,
  ): Promise<PassResult> {
    const { resource } = engine.kind;
    if (isOutline(object)) return notKept(engine, object);
    const verdict = verdictOn(engine)(object);
    const now = io(object as Cluster, signal).now();
    const known = await withLastWords(key, cache, client, now, signal);
    const children = await options.unseenPods(known, { signal });
    if (!verdict.ok) {
      const last = object.metadata.deletionTimestamp === undefined ? undefined : lastWill(engine.kind, object);
      if (last !== undefined) return reconcileDeleting(engine, last, children, signal);
      const outcome = invalidSpec(verdict.violations);
      const unread = { ...object, spec: {} } as Cluster;
      const said = plainStatus(unread, 'Invalid', outcome);
      const later = await status.write(unread, engine.kind, said, undefined, signal);
      const legible = readForUpkeep(engine, object);
      if (legible !== undefined) {
        await executor.run(await upkeepSteps(engine, legible, children, signal), noAction, signal);
      }
      return { outcome, ...lookAfter(undefined, later) };
    }
    const cluster = verdict.cluster as Cluster<CommonSpec>;
    if (cluster.metadata.deletionTimestamp !== undefined) {
      return reconcileDeleting(engine, cluster, children, signal);
    }
    const large = children.objects.find(isOutline);
    if (large !== undefined) return childNotKept(engine, cluster, tooLarge(large), signal);
    const survey = await engine.survey(cluster, children, io(cluster, signal), referredBy(engine, cluster));
    const whole = passPlan(cluster, resource, survey.plan);
    if (await isOutdated(cluster, resource, children, whole, signal)) {
      return outdated;
    }
    const missing = await missingSecrets(whole.steps, children, client, { signal });
    for (const { secret } of missing) io(cluster, signal).secretRefused(secret);
    const held = missing.length === 0 ? undefined : withoutStops(whole, missing);
    const plan = held ?? whole;
    onOutcome(engine, cluster, cluster.status, plan);

    let claim = cluster.spec.paused === true ? pausedStatus(survey.status, plan.outcome) : survey.status;
    if (held !== undefined) claim = blockedStatus(claim, held.outcome);
    let failure: unknown;
    let failures: readonly StepFailed[] = [];
    const due = contested.due(key, plan.steps);
    try {
      failures = await executor.run(due.steps, survey.act, signal);
      for (const failed of failures)
        options.log.warn({ cluster: key, err: failed }, 'a step failed that others need not wait for');
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
      claim = failedStatus(cluster, claim, error);
    }
    const refusals = failures.flatMap(({ cause }) => (cause instanceof Refused ? [cause] : []));
    claim = { ...claim, conditions: [...claim.conditions, ...refusalClaims(refusals)] };
    const isDone = failure === undefined && failures.length === 0;
    const isCreated = isDone && plan.steps.every(({ type }) => type === 'create' || type === 'issue');
    const ineffective = isDone ? ineffectiveSteps(due.steps, (object) => cache.entry(object)?.object) : [];
    const idle: ReadonlySet<Step> = new Set([...ineffective, ...failures.map(({ step }) => step)]);
    const taken = due.steps.filter((step) => !idle.has(step));
    if (failure === undefined) contested.made(key, taken);
    // Nothing tells of a Secret that has changed, either.
    // What was refused shows no effect: it is asked for again in the next pass, whenever that is.
    const actions = taken.filter((step) => step.type === 'issue' || (step.type === 'act' && step.unhurried !== true));
    const paced = failure === undefined ? pace.after(key, actions) : undefined;
    const vain = new Set<Step>([...due.undone, ...(paced?.idle ?? [])]);
    let said = isCreated ? { ...plan, steps: [] } : plan;
    if (said.outcome.state === 'settled') {
      if (ineffective.length > 0) said = { ...said, outcome: fieldsKept(ineffective) };
      else if (vain.size > 0) said = { ...said, outcome: withoutEffect([...vain]) };
    }
    if (paced?.isNews === true) {
      const steps = paced.idle.map(describeStep);
      options.log.warn({ cluster: key, steps }, 'what is done again and again shows no effect');
    }
    if (failure instanceof NameConflict) {
      said = conflictPlan(failure);
      onOutcome(engine, cluster, cluster.status, said);
    }
    const underWay = [...taken, ...due.held].filter((step) => !vain.has(step));
    const details =
      failure === undefined && isPremature(cluster, claim, underWay)
        ? 0
        : await status.write(cluster, engine.kind, claim, planStatus(said), signal);
    if (failure instanceof NameConflict) return { outcome: said.outcome, again: blockedMs };
    if (failure !== undefined) throw failure;
    const after = actions.length === 0 ? undefined : paced?.after;
    const asked = soonest(after, notTooSoon(recheck(plan.outcome), after), due.afterMs);
    return {
      outcome: plan.outcome,
      ...lookAfter(asked, details),
      ...(after !== undefined && after < repeatedMs ? { hasActed: true } : {}),
      understood: { cluster, children: childrenOf(cache.children(key).objects) },
    };
  }
}

/**
 * Ready on the spec before, and steps have just been taken for the present one: whoever waits for its generation to be
 * ready must not be told so. What the steps change is seen, and that pass says what came of it. A step that changed
 * nothing brings no other pass.
 */
function isPremature(cluster: Cluster, claim: StatusClaim, taken: readonly Step[]): boolean {
  const { observedGeneration } = cluster.status ?? {};
  if (observedGeneration === undefined || observedGeneration === cluster.metadata.generation) return false;
  const isReady = claim.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return isReady && taken.some((step) => !isOptional(step));
}

/** What the status says of them where nothing else is waited for. */
function withoutEffect(steps: readonly Step[]): Outcome {
  return wait('NoEffect', `done again and again, without an effect that shows: ${steps.map(describeStep).join('; ')}`);
}

function conflictPlan({ message }: NameConflict): Plan {
  return { steps: [], outcome: blocked('NameConflict', message) };
}

function recheck(outcome: Outcome): number | undefined {
  return outcome.state === 'settled' ? undefined : outcome.recheckMs;
}

/** `statusLater`: when to come back for a status that has not been written; 0 if it has. */
function lookAfter(asked: number | undefined, statusLater: number): Pick<PassResult, 'again'> {
  const again = soonest(asked, statusLater === 0 ? undefined : statusLater);
  return again === undefined ? {} : { again };
}

/** For a moment after an action the plan is right about when to look again; later it would repeat the action as often. */
function notTooSoon(asked: number | undefined, after = 0): number | undefined {
  return asked === undefined ? undefined : Math.max(asked, Math.min(after, repeatedMs));
}

function soonest(...times: readonly (number | undefined)[]): number | undefined {
  const given = times.filter((time) => time !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}
