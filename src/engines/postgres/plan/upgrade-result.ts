/** What came of a Job that runs a script: from its conditions, and from the termination messages of its pods. Pure, and bounded. */
import { withoutSecrets } from '../../../backup/secret-text.ts';
import { podProblem } from '../../../plan/pod-problem.ts';
import type { Children, Job, Pod } from '../../../resources/children.ts';

export type JobResult =
  /** `isEnding`: pods of one that was deleted are still there. */
  | { readonly state: 'missing'; readonly isEnding: boolean }
  /** Made for something else, or its pod was deleted, or nobody has kept what it came to: it is made again. */
  | { readonly state: 'useless'; readonly job: Job; readonly why: string }
  | { readonly state: 'running'; readonly message: string }
  | { readonly state: 'done'; readonly values: Readonly<Record<string, string>> }
  /** `isRefused`: in the script's words, it would fail again, and the old data is as it was. */
  | { readonly state: 'failed'; readonly message: string; readonly isRefused: boolean };

/** A watch of pods may be behind that of Jobs for so long. */
const lagMs = 30_000;
/** In which a Job is not made again. */
const youngMs = 10_000;
const mostWords = 1500;
const jobNameLabel = 'batch.kubernetes.io/job-name';
const refusedCode = 3;

/** The Job that is wanted: its name, what its annotation says, and which container has the last words. */
export interface WantedJob {
  readonly name: string;
  readonly annotation: string;
  readonly purpose: string;
  readonly container: string;
}

/** `now` in milliseconds. */
export function jobResult(
  { jobs, jobPods }: Children,
  { name, annotation, purpose, container }: WantedJob,
  now: number,
): JobResult {
  const messageOf = (pod: Pod): LastWords | undefined => lastWords(pod, container);
  const job = jobs.find(({ metadata }) => metadata.name === name);
  if (job === undefined)
    return { state: 'missing', isEnding: jobPods.some(({ metadata }) => metadata.labels?.[jobNameLabel] === name) };
  if (job.metadata.deletionTimestamp !== undefined)
    return { state: 'running', message: `Job ${name} is being deleted` };
  if (job.metadata.annotations?.[annotation] !== purpose)
    return { state: 'useless', job, why: 'it was made for something else' };
  const pods = jobPods
    .filter(({ metadata }) => (metadata.ownerReferences ?? []).some(({ uid }) => uid === job.metadata.uid))
    .sort((a, b) => createdAt(b) - createdAt(a));
  const ended = (type: string) => job.status?.conditions?.find((c) => c.type === type && c.status === 'True');
  const complete = ended('Complete');
  if (complete !== undefined) {
    const message = pods.map(messageOf).find((text) => text?.exitCode === 0)?.message;
    if (message !== undefined) return { state: 'done', values: valuesOf(message) };
    const isLate = now - (Date.parse(complete.lastTransitionTime ?? '') || 0) > lagMs;
    return isLate
      ? { state: 'useless', job, why: 'nobody has kept what it came to' }
      : { state: 'running', message: `Job ${name} has ended, and its result is awaited` };
  }
  const failed = ended('Failed');
  if (failed !== undefined) {
    const words = pods.flatMap((pod) => messageOf(pod) ?? []).find(({ exitCode }) => exitCode !== 0);
    const message = words === undefined || words.message === '' ? (failed.message ?? 'it has failed') : words.message;
    return { state: 'failed', message, isRefused: words?.exitCode === refusedCode };
  }
  const [newest] = pods;
  // Kubernetes would wait longer before each next pod. The script goes on where it was, and two never run on one volume. Not at once: the
  // watch of pods may be behind, and a Job is not made again and again.
  const isYoung = now - createdAt(job) < youngMs;
  if (newest === undefined && (job.status?.failed ?? 0) > 0 && (job.status?.active ?? 0) === 0 && !isYoung)
    return { state: 'useless', job, why: 'its pod was deleted before it had ended' };
  const problem = newest === undefined ? undefined : podProblem(newest);
  const before = pods.flatMap((pod) => messageOf(pod) ?? []).find(({ exitCode }) => exitCode !== 0)?.message;
  const again = before === undefined ? '' : `; the attempt before it failed: ${before}`;
  return { state: 'running', message: `${problem ?? `Job ${name} is at work`}${again}` };
}

function createdAt({ metadata }: Job | Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

interface LastWords {
  readonly exitCode: number;
  readonly message: string;
}

function lastWords({ status }: Pod, container: string): LastWords | undefined {
  const found = status?.containerStatuses?.find(({ name }) => name === container)?.state?.terminated;
  if (found === undefined) return undefined;
  const message = withoutSecrets(found.message ?? '')
    .trim()
    .slice(-mostWords);
  return { exitCode: found.exitCode ?? -1, message };
}

/** Lines `KEY=VALUE`; others are left out. */
function valuesOf(message: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    message.split('\n').flatMap((line): [string, string][] => {
      const [, key, value] = /^([a-z]{1,20})=([\x20-\x7e]{0,600})$/.exec(line) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value]];
    }),
  );
}
