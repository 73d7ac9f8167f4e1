/** The pass over a cluster that is being deleted, and what goes on for one whose spec is not valid. */
import type { Cluster, CommonSpec } from '../api/cluster.ts';
import type { LabelSelector } from '../api/label-selector.ts';
import type { KubeObject } from '../api/object.ts';
import { secrets as secretResource } from '../api/resource.ts';
import type { Assessment, KindHandler } from '../engine/engine.ts';
import type { EngineContext } from '../engine/engine-context.ts';
import { planFinalization } from '../jobs/last-backup.ts';
import { withCheckedTarget } from '../jobs/target-claim.ts';
import { isHeldForData, secretsThatGo, wasGeneratedFor } from '../plan/deletion.ts';
import { blocked, type EngineAction, type Step, settled } from '../plan/plan.ts';
import type { Children } from '../resources/children.ts';
import { isNotFound } from './api-error.ts';
import type { ClusterKey } from './cache.ts';
import type { KubeClient } from './client.ts';
import type { Contested } from './contested.ts';
import type { Executor } from './executor.ts';
import type { Freshness } from './freshness.ts';
import { conflictPlan, NameConflict } from './name-conflict.ts';
import { maintenanceSpec } from './partial-spec.ts';
import { endingStatus, failedStatus, planStatus } from './pass-status.ts';
import { lookAfter, type ReconcileResult, recheck, soonest, stale } from './reconcile-result.ts';
import type { StatusWriter } from './status-writer.ts';

export interface Finalizer {
  finalize(
    engine: KindHandler,
    cluster: Cluster<CommonSpec>,
    children: Children,
    key: ClusterKey,
    signal: AbortSignal,
    /** The cluster that the resource is about. */
    referred?: Cluster,
  ): Promise<ReconcileResult>;
  /** Carries out what goes on though the spec is not valid, such as the renewal of certificates. */
  keepUp(engine: KindHandler, object: KubeObject, children: Children, signal: AbortSignal): Promise<void>;
}

export interface FinalizerOptions {
  readonly client: Pick<KubeClient, 'get'>;
  readonly executor: Executor;
  readonly contested: Contested;
  readonly status: StatusWriter;
  readonly io: (cluster: Cluster, signal: AbortSignal) => EngineContext;
  readonly freshness: Freshness;
  /** Where a resource of one kind may be about one of another. */
  readonly engines?: readonly KindHandler[];
  /** Of the resources that this operator serves. */
  readonly selector?: LabelSelector | undefined;
  /** See `server-time.ts`: nothing that is deleted may seem to be backed up more recently than it was. */
  readonly latest: () => number;
}

const noAction = (): Promise<void> => Promise.reject(new Error('this plan holds no engine actions'));

/** When somebody has corrected a label, nothing tells. */
const unselectedRecheckMs = 10_000;

export function createFinalizer(options: FinalizerOptions): Finalizer {
  const { client, executor, contested, status, io, freshness, latest, engines = [], selector } = options;

  async function upkeepSteps(
    engine: KindHandler,
    cluster: Cluster,
    children: Children,
    signal: AbortSignal,
  ): Promise<readonly Step[]> {
    const steps = (await engine.maintenance?.plan(cluster, io(cluster, signal), children)) ?? [];
    const seen = { cluster, resource: engine.kind.resource, children };
    return (await freshness.isStale(seen, { steps, outcome: settled }, signal)) ? [] : steps;
  }

  /** The cluster that the resource is about is there, for another operator: what is inside of it would be left behind unsaid. */
  async function unselectedTarget(engine: KindHandler, cluster: Cluster, signal: AbortSignal) {
    const reference = engine.targetRef?.(cluster);
    const other = engines.find(({ kind }) => kind.resource.kind === reference?.kind);
    if (selector === undefined || reference === undefined || other === undefined) return undefined;
    const { namespace } = cluster.metadata;
    const { resource } = other.kind;
    try {
      const { metadata } = await client.get({ resource, namespace, name: reference.name }, { signal });
      if (selector.matches(metadata.labels)) return undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
    const message = `${reference.kind} ${reference.name} has no labels that match ${selector.text}, the label selector of this operator: nothing in it is deleted`;
    return blocked('ClusterNotSelected', message, unselectedRecheckMs);
  }

  /** Undefined where nothing is left inside of another cluster. */
  async function removalOf(
    engine: KindHandler,
    cluster: Cluster<CommonSpec>,
    signal: AbortSignal,
    referred: Cluster | undefined,
  ): Promise<Pick<Assessment, 'plan' | 'act'> | undefined> {
    if (engine.removal === undefined || !isHeldForData(cluster)) return undefined;
    const unselected = referred === undefined ? await unselectedTarget(engine, cluster, signal) : undefined;
    if (unselected !== undefined) return { plan: { steps: [], outcome: unselected }, act: noAction };
    const removal = await engine.removal(cluster, io(cluster, signal), referred);
    return removal === undefined || (removal.plan.outcome.state === 'settled' && removal.plan.steps.length === 0)
      ? undefined
      : removal;
  }

  async function generatedSecrets(
    engine: KindHandler,
    cluster: Cluster<CommonSpec>,
    signal: AbortSignal,
  ): Promise<KubeObject[]> {
    const { namespace } = cluster.metadata;
    const found = await Promise.all(
      secretsThatGo(engine.resources(cluster), cluster).map(async (wanted) => {
        try {
          const { name } = wanted.metadata;
          const live = await client.get({ resource: secretResource, namespace, name }, { signal });
          return wasGeneratedFor(wanted, live) ? [live] : [];
        } catch (error) {
          if (isNotFound(error)) return [];
          throw error;
        }
      }),
    );
    return found.flat();
  }

  return {
    async finalize(engine, cluster, children, key, signal, referred) {
      const removal = await removalOf(engine, cluster, signal, referred);
      const secrets = await generatedSecrets(engine, cluster, signal);
      const { plan: ending, isWaitingForBackup } = planFinalization(engine, cluster, children, secrets, latest());
      const checked = removal?.plan ?? (await withCheckedTarget(ending, io(cluster, signal)));
      const upkeep = isWaitingForBackup ? await upkeepSteps(engine, cluster, children, signal) : [];
      // What a process refuses may not keep the cluster from its end.
      const kept = upkeep.filter(({ type }) => type !== 'act');
      // The cluster that was seen going may be gone, and its children the next one's of the name.
      const seen = { cluster, resource: engine.kind.resource, children };
      if (await freshness.isStale(seen, checked, signal)) return stale;
      const plan = { ...checked, steps: [...kept, ...checked.steps] };
      // Nor may a certificate that cannot be renewed: each of the two is carried out whatever becomes of the other.
      const due = [kept, checked.steps].map((steps) => contested.due(key, steps, cluster.metadata));
      const failures: unknown[] = [];
      for (const { steps } of due) {
        const done: Step[] = [];
        try {
          const observer = { done: (step: Step) => void done.push(step), failed: () => undefined };
          const [refused] = await executor.run(steps, removal?.act ?? noAction, signal, observer);
          // It is still there.
          if (removal !== undefined && refused !== undefined) throw refused;
        } catch (error) {
          signal.throwIfAborted();
          failures.push(error);
        } finally {
          contested.made(key, done, cluster.metadata);
        }
      }
      // What keeps the cluster from its end is told first.
      const failure = failures.at(-1);
      const told = endingStatus(cluster, plan.outcome);
      const claim = failure === undefined ? told : failedStatus(cluster, told, failure);
      const said = failure instanceof NameConflict ? conflictPlan(failure) : plan;
      // Settled is one that nothing holds any more: nobody would read it.
      const isRead = failure !== undefined || plan.outcome.state !== 'settled';
      const later = isRead ? await status.write(cluster, engine.kind, claim, planStatus(said), signal) : 0;
      if (failure !== undefined) throw failure;
      const again = soonest(recheck(plan.outcome), ...due.map(({ afterMs }) => afterMs));
      return { outcome: plan.outcome, ...lookAfter(again, later) };
    },
    async keepUp(engine, object, children, signal) {
      const legible = maintenanceSpec(engine, object);
      if (legible === undefined) return;
      const act = (action: EngineAction): Promise<void> =>
        engine.maintenance?.act?.(action, legible, io(legible, signal)) ?? noAction();
      const [failure] = await executor.run(await upkeepSteps(engine, legible, children, signal), act, signal);
      // No status tells of it here.
      if (failure !== undefined) throw failure;
    },
  };
}
