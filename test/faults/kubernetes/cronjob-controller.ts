/**
 * The CronJob controller: a Job at each time of the schedule, named after its minute; none beside one that is at work
 * where that is forbidden, none that comes later than its deadline. Of those that have ended, the last few are kept.
 *
 * What is not there: time zones other than UTC, lists and ranges in a schedule, and the policies Allow and Replace.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { type ClusterState, handOf, keyOf, splitKey } from './cluster-state.ts';
import { type Fields, fieldsIn, numberIn, textIn } from './fields.ts';
import { endOfJob } from './job-controller.ts';
import { timestamp } from './registry.ts';
import { workQueue } from './work-queue.ts';

const minuteMs = 60_000;
/** How far back a missed time is looked for. */
const mostMinutes = 24 * 60;

/** Whether a time, in whole minutes since 1970, is one of the schedule. */
function isDue(schedule: string, minute: number): boolean {
  const at = new Date(minute * minuteMs);
  const now = [at.getUTCMinutes(), at.getUTCHours(), at.getUTCDate(), at.getUTCMonth() + 1, at.getUTCDay()];
  const fields = schedule.split(' ');
  if (fields.length !== now.length) throw new Error(`a schedule has ${now.length} fields, unlike "${schedule}"`);
  return fields.every((field, n) => {
    const [, every, exact] = /^(?:\*(?:\/(\d+))?|(\d+))$/.exec(field) ?? [];
    if (every === undefined && exact === undefined && field !== '*') throw new Error(`"${field}" is not simulated`);
    if (exact !== undefined) return now[n] === Number(exact);
    return every === undefined || (now[n] ?? 0) % Number(every) === 0;
  });
}

const isOf = ({ metadata }: KubeObject, owner: KubeObject): boolean =>
  metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === owner.metadata.uid) === true;

export function runCronJobController(state: ClusterState): void {
  const { store, time } = state;
  const hand = handOf(state, 'cronjob-controller');
  const queue = workQueue(state, [20, 200], reconcile);
  let isTicking = false;

  store.onCommit(({ resource, after, last }) => {
    if (resource === 'cronjobs' && after !== undefined) queue.add(keyOf(after));
    if (resource === 'cronjobs') tick();
    if (resource !== 'jobs') return;
    const owner = last.metadata.ownerReferences?.find(({ kind }) => kind === 'CronJob');
    if (owner !== undefined) queue.add(`${last.metadata.namespace}/${owner.name}`);
  });

  /** While there is any, all are looked at with every minute. */
  function tick(): void {
    if (isTicking) return;
    isTicking = true;
    time.after(minuteMs - (time.now() % minuteMs), () => {
      isTicking = false;
      const all = [...store.all('cronjobs')];
      for (const cron of all) queue.add(keyOf(cron));
      if (all.length > 0) tick();
    });
  }

  function reconcile(key: string): void {
    const cron = store.get('cronjobs', ...splitKey(key));
    if (cron === undefined || cron.metadata.deletionTimestamp !== undefined) return;
    const jobs = [...store.all('jobs')].filter((job) => isOf(job, cron));
    const minute = dueMinute(cron);
    const isBusy = jobs.some((job) => endOfJob(job) === undefined);
    const begins = minute !== undefined && !isBusy && fieldsIn(cron.spec).suspend !== true;
    if (begins && store.get('jobs', cron.metadata.namespace, `${cron.metadata.name}-${minute}`) === undefined) {
      jobs.push(hand.create(jobOf(cron, minute)));
    }
    forget(cron, jobs);
    report(cron, jobs, begins ? timestamp(minute * minuteMs) : undefined);
  }

  /** The last time that has come and has had no Job. */
  function dueMinute(cron: KubeObject): number | undefined {
    const spec = fieldsIn(cron.spec);
    const zone = textIn(spec.timeZone) ?? 'Etc/UTC';
    if (zone !== 'Etc/UTC') throw new Error(`the time zone ${zone} is not simulated`);
    const last = textIn(fieldsIn(cron.status).lastScheduleTime) ?? cron.metadata.creationTimestamp ?? '';
    const deadlineMs = 1000 * numberIn(spec.startingDeadlineSeconds, Number.POSITIVE_INFINITY);
    const since = Math.max(Date.parse(last), time.now() - deadlineMs);
    const now = Math.floor(time.now() / minuteMs);
    for (let minute = now; minute * minuteMs > since && now - minute < mostMinutes; minute--) {
      if (isDue(String(spec.schedule), minute)) return minute;
    }
    return undefined;
  }

  function forget(cron: KubeObject, jobs: readonly KubeObject[]): void {
    const spec = fieldsIn(cron.spec);
    for (const [end, kept] of [
      ['Complete', numberIn(spec.successfulJobsHistoryLimit, 3)],
      ['Failed', numberIn(spec.failedJobsHistoryLimit, 1)],
    ] as const) {
      const ended = jobs.filter((job) => endOfJob(job) === end).sort(byAge);
      for (const job of ended.slice(0, Math.max(0, ended.length - kept))) {
        if (job.metadata.deletionTimestamp === undefined) hand.remove(job);
      }
    }
  }

  const byAge = (a: KubeObject, b: KubeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);

  function report(cron: KubeObject, jobs: readonly KubeObject[], begunAt: string | undefined): void {
    const active = jobs
      .filter((job) => endOfJob(job) === undefined)
      .map(({ apiVersion, kind, metadata }) => {
        const { name, namespace, uid, resourceVersion } = metadata;
        return { apiVersion, kind, name, namespace, uid, resourceVersion };
      });
    const done = jobs
      .filter((job) => endOfJob(job) === 'Complete')
      .map(({ status }) => textIn(fieldsIn(status).completionTime))
      .sort()
      .at(-1);
    const status: Fields = {
      active: active.length === 0 ? undefined : active,
      ...(begunAt === undefined ? {} : { lastScheduleTime: begunAt }),
      ...(done === undefined ? {} : { lastSuccessfulTime: done }),
    };
    const live = store.byUid(cron.metadata.uid ?? '');
    if (live !== undefined) hand.updateStatus(live, status);
  }
}

function jobOf(cron: KubeObject, minute: number): KubeObject {
  const template = fieldsIn(fieldsIn(cron.spec).jobTemplate);
  const { labels, annotations } = fieldsIn(template.metadata);
  const { name, namespace = '', uid = '' } = cron.metadata;
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true, blockOwnerDeletion: true };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${name}-${minute}`,
      namespace,
      ...(labels === undefined ? {} : { labels: labels as Record<string, string> }),
      annotations: {
        ...(annotations as Record<string, string> | undefined),
        'batch.kubernetes.io/cronjob-scheduled-timestamp': timestamp(minute * minuteMs),
      },
      ownerReferences: [owner],
    },
    spec: template.spec,
  };
}
