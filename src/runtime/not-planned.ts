/** Reconciles that end before there is a plan: the status says that the resource is too large, is not valid, or could not be observed. */
import type { Cluster } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import type { ClusterStatus } from '../api/status.ts';
import type { KindHandler } from '../engine/engine.ts';
import type { Outcome, Plan } from '../plan/plan.ts';
import type { Log } from '../system/log.ts';
import type { ClusterKey } from './cache.ts';
import { StepFailed } from './executor.ts';
import { NameConflict } from './name-conflict.ts';
import { isOutline } from './outline.ts';
import { plainStatus, planStatus, unobservedStatus } from './pass-status.ts';
import { blockedMs, lookAfter, type ReconcileResult } from './reconcile-result.ts';
import type { StatusWriter } from './status-writer.ts';
import type { Unobserved } from './unobserved.ts';

type Blocked = Extract<Outcome, { state: 'blocked' }>;

export type OnOutcome = (engine: KindHandler, cluster: Cluster, before: ClusterStatus | undefined, plan: Plan) => void;

export interface NotPlannedOptions {
  readonly status: StatusWriter;
  readonly unobserved: Unobserved;
  readonly log: Log;
  readonly onOutcome: OnOutcome;
}

export interface NotPlanned {
  /** Neither the spec of the resource is known nor its status, so no condition can be written: an event tells. */
  tooLarge(engine: KindHandler, object: KubeObject, outcome: Blocked): ReconcileResult;
  childTooLarge(engine: KindHandler, cluster: Cluster, outcome: Blocked, signal: AbortSignal): Promise<ReconcileResult>;
  invalid(engine: KindHandler, object: KubeObject, outcome: Blocked, signal: AbortSignal): Promise<ReconcileResult>;
  /** Where the pass has come so far that a step failed, its status says that. What is no database says how it was. */
  failed(engine: KindHandler, object: KubeObject, key: ClusterKey, error: unknown, signal: AbortSignal): Promise<void>;
}

export function createNotPlanned({ status, unobserved, log, onOutcome }: NotPlannedOptions): NotPlanned {
  return {
    tooLarge(engine, object, outcome) {
      onOutcome(engine, object as Cluster, undefined, { steps: [], outcome });
      return { outcome, again: blockedMs };
    },
    async childTooLarge(engine, cluster, outcome, signal) {
      const plan: Plan = { steps: [], outcome };
      onOutcome(engine, cluster, cluster.status, plan);
      const claim = plainStatus(cluster, 'Blocked', outcome);
      const later = await status.write(cluster, engine.kind, claim, planStatus(plan), signal);
      return { outcome, ...lookAfter(blockedMs, later) };
    },
    async invalid(engine, object, outcome, signal) {
      const unread = { ...object, spec: {} } as Cluster;
      const claim = plainStatus(unread, 'Invalid', outcome);
      const later = await status.write(unread, engine.kind, claim, undefined, signal);
      return { outcome, ...lookAfter(undefined, later) };
    },
    async failed(engine, object, key, error, signal) {
      if (error instanceof StepFailed || error instanceof NameConflict) return unobserved.seen(key);
      if (!unobserved.failed(key) || signal.aborted || isOutline(object) || engine.targetRef !== undefined) return;
      const cluster = object as Cluster<{ readonly paused?: unknown }>;
      try {
        await status.write(cluster, engine.kind, unobservedStatus(cluster, error), undefined, signal);
      } catch (err) {
        log.warn({ cluster: key, err }, 'the status cannot say that the cluster is not looked at');
      }
    },
  };
}
