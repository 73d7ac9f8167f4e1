/** CronJobs: a Job at each of the given times, never two at once. Kubernetes keeps the last few and their pods. */
import type { KubeObject } from '../api/object.ts';
import { type JobOptions, jobSpec } from './job.ts';

export interface CronJobOptions extends JobOptions {
  readonly schedule: string;
  readonly timeZone: string;
  /** A run that could not begin within this time is left out. */
  readonly startingDeadlineSeconds: number;
  readonly suspend: boolean;
}

/** Jobs that are kept of each outcome. */
const kept = 3;

export function cronJob(options: CronJobOptions): KubeObject {
  const { metadata, schedule, timeZone, startingDeadlineSeconds, suspend } = options;
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata,
    spec: {
      schedule,
      timeZone,
      startingDeadlineSeconds,
      suspend,
      concurrencyPolicy: 'Forbid',
      successfulJobsHistoryLimit: kept,
      failedJobsHistoryLimit: kept,
      jobTemplate: { metadata: { labels: metadata.labels ?? {} }, spec: jobSpec(options) },
    },
  };
}
