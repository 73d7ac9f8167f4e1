/**
 * What a BackupSchedule says: the last runs, from the Jobs that Kubernetes keeps and, where those are gone, from what
 * the status remembers. Both grow while the operator is away, since the runs need no operator.
 */

import type { ScheduleSpec } from '../../api/backup-schedule.ts';
import type { RunResult, ScheduleStatus } from '../../api/backup-status.ts';
import type { Cluster } from '../../api/cluster.ts';
import type { DesiredCondition } from '../../api/condition.ts';
import { durationMs } from '../../api/duration.ts';
import type { KubeObject } from '../../api/object.ts';
import { desiredConditions } from '../../engine/desired-conditions.ts';
import type { Outcome } from '../../plan/plan.ts';
import type { Children, Job } from '../../resources/children.ts';
import { keepMessage } from '../backup-message.ts';
import { backupResult } from '../backup-result.ts';
import { confirmedAnnotation, isConfirmed } from '../confirmed-backup.ts';
import { jobState } from '../job-state.ts';
import { lastDue } from './due.ts';

const keptResults = 10;
/** No run of ours was due before: a smaller number at the end of a name is no time, nor is one of the future. */
const earliestRun = Date.parse('2020-01-01T00:00:00Z');
const aheadMs = 24 * 60 * 60_000;
/** Why it is not ready although runs begin, or should: each is about what came of them. */
const aboutRuns: readonly string[] = ['RunFailed', 'SuddenLoss', 'RunOverdue'];
/** Of the CronJob controller, which looks around every few seconds. */
const graceMs = 60_000;

export type ScheduleClaim = Omit<ScheduleStatus, 'conditions' | 'observedGeneration' | 'plan'> & {
  readonly conditions: readonly DesiredCondition[];
};

export interface ScheduleSituation {
  readonly schedule: Cluster<ScheduleSpec>;
  readonly children: Children;
  readonly cronJob: KubeObject | undefined;
  readonly topology: string | undefined;
  /** What is in no backup of it. */
  readonly keep: string | undefined;
  /** Milliseconds. */
  readonly now: number;
}

export function scheduleStatus(situation: ScheduleSituation, outcome: Outcome): ScheduleClaim {
  const { schedule, cronJob } = situation;
  const before = (schedule.status ?? {}) as ScheduleStatus;
  const results = mergedResults(situation, before);
  const last = (wanted: RunResult['outcome']) => results.find((result) => result.outcome === wanted);
  const lastSuccess = last('Verified') ?? before.lastSuccess;
  const lastFailure = last('Failed') ?? before.lastFailure;
  const cron = (cronJob?.status ?? {}) as { readonly lastScheduleTime?: string };
  const lastScheduledAt = cron.lastScheduleTime ?? before.lastScheduledAt;
  const isResumed = before.phase === 'Suspended' && !schedule.spec.suspend;
  const resumedAt = isResumed ? new Date(situation.now).toISOString().replace(/\.\d+/, '') : before.resumedAt;
  const told = {
    ...(lastScheduledAt === undefined ? {} : { lastScheduledAt }),
    ...(resumedAt === undefined ? {} : { resumedAt }),
  };
  return {
    ...judge(situation, outcome, results, told),
    ...told,
    ...(lastSuccess === undefined ? {} : { lastSuccess }),
    ...(lastFailure === undefined ? {} : { lastFailure }),
    results,
  };
}

function judge(
  { schedule, children, keep, now }: ScheduleSituation,
  outcome: Outcome,
  results: readonly RunResult[],
  told: Pick<ScheduleStatus, 'lastScheduledAt' | 'resumedAt'>,
): Pick<ScheduleClaim, 'phase' | 'conditions'> {
  const [newest] = results;
  if (outcome.state !== 'settled') {
    const { reason, message } = outcome;
    return outcome.state === 'blocked'
      ? { phase: 'Blocked', conditions: desiredConditions('False', reason, message, { degraded: true, stalled: true }) }
      : { phase: 'Degraded', conditions: desiredConditions('False', reason, message, { degraded: true }) };
  }
  if (newest?.outcome === 'Failed') {
    const message = `the last run (${newest.job}) failed: ${newest.message ?? ''}`;
    return { phase: 'Degraded', conditions: desiredConditions('False', 'RunFailed', message, { degraded: true }) };
  }
  const loss = newest?.suddenLoss;
  // What was said of a backup before this one is about the same loss, and counts from the next run on.
  if (newest !== undefined && loss !== undefined && !isConfirmed(schedule.metadata, newest.id)) {
    const confirm = `if this is as it should be, annotate this BackupSchedule with ${confirmedAnnotation}=${newest.id}`;
    const message = `of the last backup, ${newest.id}, ${loss}: no backup is deleted until one holds data again; ${confirm}`;
    return { phase: 'Degraded', conditions: desiredConditions('False', 'SuddenLoss', message, { degraded: true }) };
  }
  if (schedule.spec.suspend) {
    return { phase: 'Suspended', conditions: desiredConditions('True', 'Suspended', 'no more runs begin', {}) };
  }
  const due = overdueSince(schedule, told, results, now);
  if (due !== undefined) {
    const message = `the run of ${new Date(due).toISOString().replace('.000Z', 'Z')} has not begun${earlierRun(children, now)}`;
    return { phase: 'Degraded', conditions: desiredConditions('False', 'RunOverdue', message, { degraded: true }) };
  }
  const message =
    newest === undefined ? 'no run has ended yet' : `the last run (${newest.job}) was verified${keepMessage(keep)}`;
  return { phase: 'Active', conditions: desiredConditions('True', 'Scheduled', message, {}) };
}

/** In words: the one before it, which has not ended. There are never two at once. */
function earlierRun({ jobs, jobPods }: Children, now: number): string {
  for (const job of jobs) {
    const state = jobState(job, jobPods, now);
    if (state.state === 'pending' || state.state === 'running') {
      return `: ${job.metadata.name} has not ended: ${state.message}`;
    }
  }
  return '';
}

/** The run that should have begun and has not; undefined where none is missing. */
function overdueSince(
  { metadata, spec, status }: Cluster<ScheduleSpec>,
  { lastScheduledAt, resumedAt }: Pick<ScheduleStatus, 'lastScheduledAt' | 'resumedAt'>,
  results: readonly RunResult[],
  now: number,
): number | undefined {
  const { phase, conditions = [] } = status ?? {};
  const ready = conditions.find(({ type }) => type === 'Ready');
  const couldRun = phase === 'Active' || aboutRuns.includes(ready?.reason ?? '');
  const due = lastDue(spec.schedule, spec.timeZone, now - durationMs(spec.startingDeadline) - graceMs);
  const since = Math.max(
    Date.parse(metadata.creationTimestamp ?? '') || 0,
    Date.parse(lastScheduledAt ?? '') || 0,
    Date.parse(resumedAt ?? '') || 0,
    ...results.map(({ job }) => dueOf(job, now) ?? 0),
    couldRun ? 0 : Date.parse(ready?.lastTransitionTime ?? '') || 0,
  );
  return due === undefined || due <= since ? undefined : due;
}

function mergedResults(situation: ScheduleSituation, before: ScheduleStatus): RunResult[] {
  const { children, now } = situation;
  const seen = children.jobs.flatMap((job) => resultOf(job, situation) ?? []);
  const known = new Set(seen.map(({ job }) => job));
  const remembered = (before.results ?? []).filter(({ job }) => !known.has(job));
  return [...seen, ...remembered].sort((a, b) => beganAt(b, now) - beganAt(a, now)).slice(0, keptResults);
}

/** Milliseconds. */
function beganAt({ job, startedAt }: RunResult, now: number): number {
  return dueOf(job, now) ?? (Date.parse(startedAt ?? '') || 0);
}

/**
 * Milliseconds. Kubernetes names a Job after its CronJob and the minute that it was due, counted since 1970. One that somebody
 * has begun by hand has a name of their own, often with the time in seconds at its end.
 */
function dueOf(job: string, now: number): number | undefined {
  const due = Number(/-(\d+)$/.exec(job)?.[1] ?? 0) * 60_000;
  return due > earliestRun && due < now + aheadMs ? due : undefined;
}

const nothingSaid: { readonly retentionFailure?: string; readonly misleadingIds?: string } = {};

function resultOf(job: Job, { schedule, children, topology, now }: ScheduleSituation): RunResult | undefined {
  const state = jobState(job, children.jobPods, now);
  const { name, creationTimestamp } = job.metadata;
  if (state.state === 'failed') {
    const began = creationTimestamp === undefined ? {} : { startedAt: creationTimestamp };
    return { job: name, outcome: 'Failed', message: state.message, ...began };
  }
  if (state.state !== 'complete') return undefined;
  // What is not there any more may have been written down while it was.
  const known = (schedule.status as ScheduleStatus | undefined)?.results?.find((result) => result.job === name);
  if (state.result === undefined && known !== undefined) return known;
  const { retentionFailure: doubt, misleadingIds } = state.result?.result === 'taken' ? state.result : nothingSaid;
  const words = [
    ...(doubt === undefined ? [] : [`nothing was let go: ${doubt}`]),
    ...(misleadingIds === undefined ? [] : [misleadingIds]),
  ];
  const message = words.length === 0 ? {} : { message: words.join('; ') };
  return { job: name, outcome: 'Verified', ...message, ...backupResult(state.result, topology) };
}
