/**
 * One pass over one cluster: resolve, look, plan, make sure, do, say.
 *
 * A pass keeps nothing for the next one. Everything it decides comes from the custom resource, the children and what the
 * processes say now, so a controller that dies after any write leaves nothing that its successor would need to know.
 */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { LabelSelector } from '../api/label-selector.ts';
import type { KubeObject } from '../api/object.ts';
import { accessOf } from '../engine/access-of.ts';
import type { KindHandler } from '../engine/engine.ts';
import type { EngineContext } from '../engine/engine-context.ts';
import { plansOf } from '../engine/judgement.ts';
import { passPlan } from '../plan/pass.ts';
import { gated, isOver } from '../plan/rollout-gate.ts';
import { interrupts, isArchive, writesTemplate } from '../plan/template-use.ts';
import { type Children, childrenOf } from '../resources/children.ts';
import type { Cache, ClusterKey } from './cache.ts';
import type { KubeClient } from './client.ts';
import type { DeadEnds } from './dead-ends.ts';
import { type ExecutionOptions, execute, takenIn, unwatchedIn } from './execution.ts';
import { describeStep, isUnanswered } from './executor.ts';
import { createFinalizer } from './finalize.ts';
import { createFreshness } from './freshness.ts';
import { awaited, heldBackStatus } from './held-status.ts';
import { NameConflict } from './name-conflict.ts';
import { createNotPlanned, type NotPlanned, type NotPlannedOptions } from './not-planned.ts';
import { isOutline, tooLarge } from './outline.ts';
import type { Pace } from './pace.ts';
import { planStatus } from './pass-status.ts';
import { blockedMs, type ReconcileResult, stale } from './reconcile-result.ts';
import { isPremature, nextLook, saidPlan, saidStatus } from './report.ts';
import type { Resizes } from './resizes.ts';
import { createResolver } from './resolve.ts';
import type { Rollouts } from './rollouts.ts';
import { withTerminationMessages } from './termination-messages.ts';
import { goingIn } from './unmade.ts';
import type { UnseenPods } from './unseen-pods.ts';

export interface Reconciler {
  /** Resolves with what the pass came to; rejects when it could not be finished and is to be tried again. */
  reconcile(engine: KindHandler, cluster: KubeObject, key: ClusterKey, signal: AbortSignal): Promise<ReconcileResult>;
  /** A pass has not ended in its time, whatever it waits for: where that goes on, the status says so. Never rejects. */
  overdue: NotPlanned['failed'];
}

export interface ReconcilerOptions extends NotPlannedOptions, ExecutionOptions {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly cache: Pick<Cache, 'children' | 'cluster' | 'entry' | 'keysByTargetRef' | 'observeRead' | 'observeDelete'>;
  /** Where a resource of one kind may be about one of another. */
  readonly engines?: readonly KindHandler[];
  readonly io: (cluster: Cluster, signal: AbortSignal) => EngineContext;
  readonly pace: Pace;
  readonly unseenPods: UnseenPods;
  readonly resizes: Pick<Resizes, 'tell'>;
  readonly deadEnds: DeadEnds;
  readonly rollouts: Rollouts;
  /** See `FinalizerOptions`. */
  readonly latest: () => number;
  /** Of the resources that this operator serves. */
  readonly selector?: LabelSelector | undefined;
}

export function createReconciler(options: ReconcilerOptions): Reconciler {
  const { client, cache, status, io, pace, contested, unobserved, onOutcome, rollouts, log } = options;
  const notPlanned = createNotPlanned(options);
  const resolver = createResolver(cache, options.engines ?? []);
  const freshness = createFreshness(client, cache, options.selector);
  const finalizer = createFinalizer({ ...options, freshness });

  const look: Reconciler['reconcile'] = async (engine, object, key, signal) => {
    const resolved = resolver.resolve(engine, object);
    if (resolved.state === 'tooLarge') return notPlanned.tooLarge(engine, object, resolved.outcome);
    const now = io(object as Cluster, signal).now();
    const heard = await withTerminationMessages(key, cache, client, now, signal);
    const children = await options.unseenPods(heard, { signal });
    switch (resolved.state) {
      case 'ending':
        return finalizer.finalize(
          engine,
          resolved.cluster,
          children,
          key,
          signal,
          resolver.referred(engine, resolved.cluster),
        );
      case 'invalid': {
        const result = await notPlanned.invalid(engine, object, resolved.outcome, signal);
        await finalizer.keepUp(engine, object, children, signal);
        return result;
      }
      case 'valid':
        return pass(engine, resolved.cluster, children, key, signal);
    }
  };

  async function pass(
    engine: KindHandler,
    cluster: Cluster<CommonSpec>,
    seen: Children,
    key: ClusterKey,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const large = seen.objects.find(isOutline);
    if (large !== undefined) return notPlanned.childTooLarge(engine, cluster, tooLarge(large), signal);
    const children = await options.resizes.tell(seen, { signal });
    const { resource } = engine.kind;
    const referred = resolver.referred(engine, cluster);
    const peers = resolver.peers(engine, cluster);
    const assessment = await engine.assess(cluster, children, io(cluster, signal), referred, peers);
    const access = accessOf(engine, cluster);
    const now = io(cluster, signal).now();
    const wanted = passPlan(cluster, { resource, children, access }, plansOf(assessment));
    // First: what is under way asks for no place, since it has one.
    if (wanted.isUnderway === true) rollouts.isUnderway(key);
    const gate = gated(wanted, { cluster, resource, children, now, takePlace: () => rollouts.take(key) });
    if (gate.place === 'over') rollouts.release(key);
    if (gate.place === 'unused') rollouts.leave(key);
    const whole = gate.plan;
    const { plan, ...obstructed } = await options.deadEnds(whole, children, io(cluster, signal));
    // The last look before the steps: the one at dead ends may take as long as a webhook does.
    if (await freshness.isStale({ cluster, resource, children }, whole, signal)) return stale;
    onOutcome(engine, cluster, cluster.status, plan);
    const interrupting = plan.steps.filter((step) => interrupts(step, gate.isOtherwise ? undefined : wanted.otherwise));
    const execution = await execute(key, plan, assessment.act, { cluster, children }, options, signal).catch(
      (error) => {
        // Cut off: nobody knows what has been written.
        if (interrupting.length > 0) rollouts.begun(key);
        throw error;
      },
    );
    const { failure, earlier } = execution;
    const taken = takenIn(execution);
    const isUsed = interrupting.some((step) => taken.includes(step) || isUnanswered(step, failure));
    const isRefused = whole.steps.some(
      (step) => writesTemplate(step) && !isArchive(step.object) && !plan.steps.includes(step),
    );
    if (isUsed) rollouts.begun(key);
    // Nothing begins by what the API server refuses or changes back, nor where the run is cut off. A backup comes before the first use.
    else if (gate.place === 'begins' && (wanted.prepares !== true || isRefused || failure !== undefined)) {
      if (isOver(wanted, children)) rollouts.release(key);
      else rollouts.giveBack(key);
    }
    const actions = unwatchedIn(taken);
    contested.made(key, execution.done, cluster.metadata, execution.ineffective);
    // What a pass did not reach has not ended.
    const isWhole = failure === undefined && (actions.length > 0 || execution.due.unreached.length === 0);
    const paced = isWhole ? pace.after(key, actions) : undefined;
    if (paced?.hasNewIdle === true) {
      log.warn({ cluster: key, steps: paced.idle.map(describeStep) }, 'what is done again and again shows no effect');
    }

    const going = goingIn(cluster, children, access);
    const told = heldBackStatus(cluster, assessment, gate);
    const [noted, observed] = rollouts.isAwaited(key) ? awaited(plan, told) : [plan, told];
    const said = saidPlan(noted, execution, paced, observed, going);
    const claim = saidStatus(cluster, observed, noted, execution, obstructed, going);
    const cut = failure ?? earlier;
    if (cut instanceof NameConflict) onOutcome(engine, cluster, cluster.status, said);
    else if (said.outcome.state === 'blocked' && plan.outcome.state !== 'blocked')
      onOutcome(engine, cluster, cluster.status, { steps: [], outcome: said.outcome });
    const isKept = cut === undefined && isPremature(cluster, claim, taken, execution, paced);
    const later = isKept ? 0 : await status.write(cluster, engine.kind, claim, planStatus(said), signal);
    if (cut instanceof NameConflict)
      return { outcome: said.outcome, again: Math.min(blockedMs, execution.due.afterMs ?? blockedMs) };
    if (failure !== undefined) throw failure;
    const understood = { cluster, children: childrenOf(cache.children(key).objects) };
    const after = actions.length === 0 ? undefined : paced?.after;
    return { outcome: plan.outcome, ...nextLook(plan, claim, after, execution, later), understood };
  }

  return {
    async reconcile(engine, object, key, signal) {
      try {
        const result = await look(engine, object, key, signal);
        unobserved.seen(key);
        // Nothing goes on: the spec is invalid, or an object too large.
        if (result.outcome.state === 'blocked' && result.understood === undefined) rollouts.giveBack(key);
        return result;
      } catch (error) {
        rollouts.giveBack(key);
        await notPlanned.failed(engine, object, key, error, signal);
        throw error;
      }
    },
    overdue: notPlanned.failed,
  };
}
