/** What has come of a Job of the agent: from its conditions, and from the last words of its pods. */
import type { AgentResult } from '../backup/agent-result.ts';
import { parseAgentResult, unusableResult } from '../backup/heard-result.ts';
import { withoutSecrets } from '../backup/secret-text.ts';
import { isUnderway } from '../plan/pod-problem.ts';
import type { Children, ContainerStatus, Job, Pod } from '../resources/children.ts';
import { agentContainerName } from './agent-pod.ts';
import { mountedBy } from './mounted.ts';

export type JobState =
  /** No process is at work; why, in words. */
  | { readonly state: 'pending'; readonly message: string }
  | { readonly state: 'running'; readonly message: string; readonly recheckMs?: number }
  /** `result` is missing where nobody has kept the agent's words. `at` in milliseconds. */
  | { readonly state: 'complete'; readonly result?: AgentResult; readonly at: number }
  | { readonly state: 'failed'; readonly message: string; readonly isTransient: boolean; readonly at: number };

/** A watch of pods may be behind that of Jobs for so long. Later, a pod that nobody sees is one that is gone. */
const lagMs = 30_000;

/** Jobs that have ended within the last minute, and whose last pod has not been seen to end. `now` in milliseconds. */
export function jobsAwaitingResult({ jobs, jobPods }: Children, now: number): readonly Job[] {
  return jobs.filter((job) => {
    const left = endOfLag(conditionOf(job, 'Complete') ?? conditionOf(job, 'Failed')) - now;
    return left > -lagMs && !hasEnded(newestFirst(jobPods, job)[0]);
  });
}

/** In milliseconds: since when there is what it waits for, its newest pod or, before that, the Job itself. */
export function pendingSince(job: Job, pods: readonly Pod[]): number {
  return createdAt(newestFirst(pods, job)[0] ?? job);
}

function newestFirst(pods: readonly Pod[], job: Job): readonly Pod[] {
  return pods.filter((pod) => isOf(pod, job)).sort((a, b) => createdAt(b) - createdAt(a));
}

function conditionOf({ status }: Job, type: string) {
  return status?.conditions?.find((c) => c.type === type && c.status === 'True');
}

/**
 * `pods`: those of all Jobs of the owner; `now` in milliseconds. A Job that has just ended, and whose last pod has not
 * been seen to end, is still at work: what it came to is only known when that pod's last words are.
 */
export function jobState(job: Job, pods: readonly Pod[], now: number): JobState {
  const own = newestFirst(pods, job);
  const results = own.flatMap((pod) => resultOf(pod) ?? []);
  const [complete, failed] = [conditionOf(job, 'Complete'), conditionOf(job, 'Failed')];
  const left = endOfLag(complete ?? failed) - now;
  if (left > 0 && !hasEnded(own[0])) {
    return { state: 'running', message: `${job.metadata.name} has ended; its last words are awaited`, recheckMs: left };
  }
  if (complete !== undefined) {
    const done = results.find(({ result }) => result !== 'failed');
    const at = Date.parse(complete.lastTransitionTime ?? '') || 0;
    // It ended well and said nothing of use. What pods before it said is of attempts that failed.
    const [unusable] = own.filter(({ status }) => status?.phase === 'Succeeded').flatMap((pod) => resultOf(pod) ?? []);
    if (done === undefined && unusable?.result === 'failed') {
      return { state: 'failed', message: unusable.message, isTransient: false, at };
    }
    return { state: 'complete', at, ...(done === undefined ? {} : { result: done }) };
  }
  if (failed !== undefined) {
    const [last] = results;
    const at = Date.parse(failed.lastTransitionTime ?? '') || 0;
    if (last?.result === 'failed') {
      return { state: 'failed', message: last.message, isTransient: last.isTransient, at };
    }
    const why = own.map(wordsOf).find((words) => words !== undefined) ?? failed.message ?? failed.reason ?? '';
    return { state: 'failed', message: why === '' ? 'its Job has failed' : why, isTransient: true, at };
  }
  return progressOf(job, own, results);
}

function endOfLag(end: { readonly lastTransitionTime?: string } | undefined): number {
  return (Date.parse(end?.lastTransitionTime ?? '') || Number.NEGATIVE_INFINITY) + lagMs;
}

function hasEnded(pod: Pod | undefined): boolean {
  return pod?.status?.phase === 'Succeeded' || pod?.status?.phase === 'Failed';
}

function progressOf(job: Job, own: readonly Pod[], results: readonly AgentResult[]): JobState {
  const [newest] = own;
  const [last] = results;
  const before = last?.result === 'failed' ? last.message : own.map(evictionOf).find((words) => words !== undefined);
  const again = before === undefined ? '' : `; the attempt before it failed: ${before}`;
  if (newest === undefined) return { state: 'pending', message: 'its Job has no pod yet' };
  if (newest.metadata.deletionTimestamp !== undefined && !hasEnded(newest)) {
    return { state: 'running', message: `${endingOf(newest)}${again}` };
  }
  if (newest.status?.phase === 'Running' && containersOf(newest).some(({ state }) => state?.running !== undefined)) {
    return { state: 'running', message: `${newest.metadata.name} is at work${again}` };
  }
  // The Job itself says so a moment later.
  if (newest.status?.phase === 'Succeeded') return { state: 'running', message: `${newest.metadata.name} has ended` };
  return { state: 'pending', message: `${waitOf(newest, job)}${again}` };
}

/** A Job with a `podFailurePolicy` waits for the end of each pod, and nobody tells of that but the pod's own node. */
function endingOf({ metadata: { name }, spec }: Pod): string {
  const node = spec?.nodeName ?? 'its node';
  return `${name} is terminating, and its Job starts no other pod before it has ended: if ${node} is gone for good, delete the Node`;
}

function isOf({ metadata }: Pod, job: Job): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === job.metadata.uid);
}

function createdAt({ metadata }: Pick<Pod, 'metadata'>): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

function containersOf({ status }: Pod): readonly ContainerStatus[] {
  return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
}

/** The agent of a pod that succeeded has said what came of it, or it is not our agent. */
function resultOf(pod: Pod): AgentResult | undefined {
  const found = containersOf(pod)
    .map(({ state }) => parseAgentResult(state?.terminated?.message ?? ''))
    .find((result) => result !== undefined);
  const agent = containersOf(pod).find(({ name }) => name === agentContainerName)?.state?.terminated;
  const isSilent = found === undefined && pod.status?.phase === 'Succeeded' && agent?.exitCode === 0;
  return isSilent ? unusableResult('it is no result') : found;
}

/** By the node or by the API server; in their words. */
function evictionOf({ metadata, status }: Pod): string | undefined {
  if (status?.phase !== 'Failed') return undefined;
  const disruption = status.conditions?.find((c) => c.type === 'DisruptionTarget' && c.status === 'True');
  const words = status.message ?? disruption?.message;
  if (status.reason !== 'Evicted' && disruption === undefined) return undefined;
  return `${metadata.name} was evicted${words === undefined ? '' : `: ${words.trim().slice(0, 500)}`}`;
}

/** Of a process that was not the agent, or did not come to speak. */
function wordsOf(pod: Pod): string | undefined {
  const eviction = evictionOf(pod);
  if (eviction !== undefined) return eviction;
  const ended = containersOf(pod).find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  const { reason = '', exitCode = 0, message = '' } = ended?.state?.terminated ?? {};
  if (ended === undefined) return undefined;
  const words = withoutSecrets(message).trim().slice(-500);
  return `${ended.name} ended with code ${exitCode} (${reason})${words === '' ? '' : `: ${words}`}`;
}

function waitOf(pod: Pod, job: Job): string {
  const { name } = pod.metadata;
  const unscheduled = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (unscheduled !== undefined) return `${name} cannot be scheduled: ${unscheduled.message ?? ''}`;
  const waiting = containersOf(pod).flatMap(({ state }) => state?.waiting ?? []);
  const telling = waiting.find(({ message }) => message !== undefined) ?? waiting[0];
  if (telling?.message !== undefined) return `${name}: ${telling.reason ?? 'waiting'}: ${telling.message}`;
  if (telling?.reason !== undefined && isUnderway(telling.reason)) {
    const mounted = mountedBy(job);
    return `${name} is being started${mounted === '' ? '' : `; what it mounts must exist: ${mounted}`}`;
  }
  return `${name} is ${pod.status?.phase ?? 'not scheduled'}`;
}
