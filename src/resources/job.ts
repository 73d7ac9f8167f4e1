/**
 * Jobs: work that is done once, by pods that start anew until it is. A pod whose process ends with the code that says
 * "it would fail again" ends the Job at once. A pod that is evicted counts like one that fails: the reason may be the pod
 * itself, which would be evicted again and again. A finished Job stays until its owner goes: its last words are read then.
 */
import type { KubeObject, ObjectMeta } from '../api/object.ts';
import type { PodAdditions } from '../api/pods.ts';
import type { PodSpec } from './plain.ts';
import { podMetadata } from './pod-base.ts';

export interface JobOptions {
  readonly metadata: ObjectMeta;
  readonly podSpec: Omit<PodSpec, 'restartPolicy'>;
  /** Pods after the first one. */
  readonly retries: number;
  /** Of all pods together. */
  readonly deadlineSeconds: number;
  /** Exit codes of processes for which another pod is useless. */
  readonly permanentCodes: readonly number[];
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /** What the spec adds to the metadata of the pods. */
  readonly pods?: PodAdditions | undefined;
}

export function jobSpec(options: JobOptions): object {
  const { metadata, podSpec, retries, deadlineSeconds, permanentCodes, podAnnotations: annotations, pods } = options;
  return {
    backoffLimit: retries,
    activeDeadlineSeconds: deadlineSeconds,
    podFailurePolicy: {
      rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: permanentCodes } }],
    },
    template: {
      metadata: podMetadata(
        { labels: metadata.labels ?? {}, ...(annotations === undefined ? {} : { annotations }) },
        pods,
      ),
      spec: { ...podSpec, restartPolicy: 'Never' },
    },
  };
}

export function job(options: JobOptions): KubeObject {
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: options.metadata, spec: jobSpec(options) };
}
