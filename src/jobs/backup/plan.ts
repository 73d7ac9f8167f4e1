/**
 * What a Backup needs next, and what has come of it: pure, from the resource, its Job and the cluster.
 *
 * Its Job is made once. Where it vanishes before it has ended, it is made a second time, and the agent finds by the
 * Backup's UID what the first one had stored; a third time would hide whoever deletes it. Once there is an outcome, the
 * status is the memory, and the Job may go.
 */
import type { BackupSpec } from '../../api/backup.ts';
import type { BackupStatus } from '../../api/backup-status.ts';
import type { Cluster } from '../../api/cluster.ts';
import type { DesiredCondition } from '../../api/condition.ts';
import { desiredConditions } from '../../engine/desired-conditions.ts';
import { type Desired, jobSteps, taskSteps } from '../../plan/objects.ts';
import { type ObjectStep, type Outcome, type Plan, settled } from '../../plan/plan.ts';
import type { Children, Job } from '../../resources/children.ts';
import { keepMessage } from '../backup-message.ts';
import { backupResult } from '../backup-result.ts';
import { jobState } from '../job-state.ts';

export interface BackupSituation {
  readonly backup: Cluster<BackupSpec>;
  readonly children: Children;
  /** Task and Job; undefined while the cluster does not exist. */
  readonly wanted: readonly Desired[] | undefined;
  /** The outcome while the cluster does not exist. */
  readonly absent: Outcome;
  /** Of the cluster, in words. */
  readonly topology: string | undefined;
  /** What is in no backup of it. */
  readonly keep: string | undefined;
  /** Milliseconds. */
  readonly now: number;
}

export type BackupClaim = Omit<BackupStatus, 'conditions' | 'observedGeneration' | 'plan'> & {
  readonly conditions: readonly DesiredCondition[];
};

export interface BackupAssessment {
  readonly plan: Plan;
  readonly status: BackupClaim;
}

/** On the Job: which one it is. */
export const attemptAnnotation = 'clusterwright.dev/attempt';

const maxAttempts = 2;

export function jobName(backup: string): string {
  return `backup-${backup}`;
}

/** The number of the Job that is made next. */
export function nextAttempt({ status }: Cluster): number {
  return ((status as BackupStatus | undefined)?.attempts ?? 0) + 1;
}

export function assessBackup(situation: BackupSituation): BackupAssessment {
  const { backup, children } = situation;
  const before = (backup.status ?? {}) as BackupStatus;
  if (before.phase === 'Verified' || before.phase === 'Failed') return { plan: nothing, status: remembered(before) };
  const found = children.get('Job', jobName(backup.metadata.name)) as Job | undefined;
  const job = found !== undefined && isOwned(found, backup) ? found : undefined;
  return job === undefined ? begun(situation, before) : followed(situation, before, job);
}

const nothing: Plan = { steps: [], outcome: settled };

function isOwned({ metadata }: Job, { metadata: { uid } }: Cluster): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) === true;
}

function begun({ backup, children, wanted, absent }: BackupSituation, before: BackupStatus): BackupAssessment {
  const attempts = before.attempts ?? 0;
  if (attempts >= maxAttempts) {
    return failed(before, 'JobDeleted', 'its Job was deleted before it had ended, and so was the one before');
  }
  if (wanted === undefined) {
    const status: BackupClaim = { ...said(before), phase: 'Pending', conditions: [] };
    return { plan: { steps: [], outcome: absent }, status: heldUp(status, absent) };
  }
  // It counts once it has been seen: what could not be made has not vanished.
  const told = { ...before, job: jobName(backup.metadata.name) };
  const steps = jobSteps(
    wanted.map(({ object }) => object),
    children,
  );
  return pending(told, waiting('Starting', 'its Job is being started'), steps);
}

function followed(
  { children, wanted = [], topology, keep, now }: BackupSituation,
  before: BackupStatus,
  job: Job,
): BackupAssessment {
  const attempt = Number(job.metadata.annotations?.[attemptAnnotation] ?? 1);
  const told = { ...before, job: job.metadata.name, attempts: Math.max(before.attempts ?? 0, attempt) };
  const state = jobState(job, children.jobPods, now);
  const task = wanted.map(({ object }) => object);
  switch (state.state) {
    case 'pending':
      return pending(told, waiting('Starting', state.message), taskSteps(task, children));
    case 'running':
      return {
        plan: { steps: taskSteps(task, children), outcome: waiting('Running', state.message, state.recheckMs) },
        status: {
          ...said(told),
          phase: 'Running',
          conditions: desiredConditions('False', 'Running', state.message, { progressing: true }),
        },
      };
    case 'complete': {
      const whole = 'it was read back from its target and found whole';
      const result = backupResult(state.result, topology);
      const message =
        state.result === undefined
          ? 'its Job succeeded, and what it said is not there any more: the manifest in the target tells the rest'
          : result.suddenLoss === undefined
            ? `${whole}${keepMessage(keep)}`
            : `${whole}, but ${result.suddenLoss}${keepMessage(keep)}`;
      return {
        plan: nothing,
        status: {
          ...said(told),
          ...result,
          phase: 'Verified',
          conditions:
            result.suddenLoss === undefined
              ? desiredConditions('True', 'Verified', message, {})
              : desiredConditions('True', 'SuddenLoss', message, { degraded: true }),
        },
      };
    }
    case 'failed':
      return failed(told, 'AgentFailed', state.message);
    default:
      return state satisfies never;
  }
}

interface Waiting {
  readonly state: 'wait';
  readonly reason: string;
  readonly message: string;
  readonly recheckMs?: number;
}

function waiting(reason: string, message: string, recheckMs?: number): Waiting {
  return { state: 'wait', reason, message, ...(recheckMs === undefined ? {} : { recheckMs }) };
}

function pending(told: BackupStatus, outcome: Waiting, steps: readonly ObjectStep[]): BackupAssessment {
  return {
    plan: { steps, outcome },
    status: {
      ...said(told),
      phase: 'Pending',
      conditions: desiredConditions('False', outcome.reason, outcome.message, { progressing: true }),
    },
  };
}

/** Before its Job is made: by the claim that backups are to be kept on. */
export function heldUp(status: BackupClaim, outcome: Outcome): BackupClaim {
  if (outcome.state === 'settled') return status;
  const { state, reason, message } = outcome;
  const { job: _, ...told } = status;
  return state === 'blocked'
    ? { ...told, phase: 'Blocked', conditions: desiredConditions('False', reason, message, { stalled: true }) }
    : { ...told, phase: 'Pending', conditions: desiredConditions('False', reason, message, { progressing: true }) };
}

function failed(told: BackupStatus, reason: string, message: string): BackupAssessment {
  return {
    plan: nothing,
    status: {
      ...said(told),
      phase: 'Failed',
      conditions: desiredConditions('False', reason, message, { degraded: true, stalled: true }),
    },
  };
}

function remembered(before: BackupStatus): BackupClaim {
  const conditions = (before.conditions ?? []).map(({ type, status, reason, message }) => ({
    type,
    status,
    reason,
    message,
  }));
  return { ...said(before), conditions };
}

function said(status: BackupStatus): Omit<BackupClaim, 'conditions'> {
  const { conditions: _c, observedGeneration: _g, plan: _p, ...kept } = status;
  return kept;
}
