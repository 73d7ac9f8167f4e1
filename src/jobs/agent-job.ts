/** What makes the agent work once: the task in a ConfigMap, and a Job. */

import type { BackupEncryption, BackupTarget } from '../api/backup-target.ts';
import { type Cluster, podsOf } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import type { PodAdditions } from '../api/pods.ts';
import { exitCodes } from '../backup/agent-result.ts';
import type { AgentTask, TakeTask } from '../backup/agent-task.ts';
import type { Purpose } from '../backup/identity.ts';
import type { BackupSource } from '../engine/backup-support.ts';
import { configMap } from '../resources/configmap.ts';
import type { JobOptions } from '../resources/job.ts';
import { agentComponent, ownedMetadata } from '../resources/metadata.ts';
import {
  agentContainer,
  agentPodSpec,
  envOf,
  scratchOf,
  secretMount,
  secretVolume,
  storeOf,
  taskFile,
} from './agent-pod.ts';

/** Pods after the first, whatever ended it, and a bound for all of them: a large database over a slow line takes hours. */
const retries = 3;
const deadlineSeconds = 12 * 60 * 60;

/** Whom objects belong to, and how they are called. */
export interface Naming {
  readonly owner: Cluster;
  /** As in the label, which the watch finds them by. */
  readonly engine: string;
  /** Of the Job, and with `-task` of the ConfigMap. */
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function configName({ name }: Pick<Naming, 'name'>): string {
  return `${name}-task`;
}

function metadataOf({ owner, engine, annotations }: Naming, name: string): KubeObject['metadata'] {
  const part = { engine, component: agentComponent, version: 'v1' };
  return { ...ownedMetadata(owner, name, part), ...(annotations === undefined ? {} : { annotations }) };
}

export function taskConfig(naming: Naming, task: AgentTask): KubeObject {
  return configMap(metadataOf(naming, configName(naming)), { [taskFile]: `${JSON.stringify(task, undefined, 2)}\n` });
}

export function agentJobOptions(
  naming: Naming,
  podSpec: JobOptions['podSpec'],
  pods: PodAdditions | undefined,
): JobOptions {
  return {
    metadata: metadataOf(naming, naming.name),
    podSpec,
    pods,
    retries,
    deadlineSeconds,
    permanentCodes: [exitCodes.permanent],
  };
}

export interface TakeOptions {
  readonly image: string;
  readonly cluster: Cluster;
  readonly from: BackupSource;
  readonly purpose: Purpose;
  readonly target: BackupTarget;
  readonly encryption?: BackupEncryption | undefined;
  readonly more?: Pick<TakeTask, 'retention' | 'jitterSeconds' | 'confirmed'>;
}

/** The task and the pod that take one backup of `cluster`. */
export function backupJobObjects(
  naming: Naming,
  options: TakeOptions,
): { readonly config: KubeObject; readonly job: JobOptions } {
  const { image, cluster, from, purpose, target, encryption, more = { jitterSeconds: 0 } } = options;
  const { kind, metadata } = cluster;
  const pods = podsOf(cluster);
  const store = storeOf(target, encryption);
  const scratch = scratchOf(from.scratch);
  const task: TakeTask = {
    task: 'take',
    cluster: {
      namespace: metadata.namespace,
      kind: kind as TakeTask['cluster']['kind'],
      name: metadata.name,
      uid: metadata.uid ?? 'unknown',
    },
    purpose,
    source: from.source,
    idleTimeoutSeconds: 60,
    ...store.task,
    ...scratch.task,
    ...more,
  };
  const podSpec = agentPodSpec({
    config: configName(naming),
    volumes: [...store.volumes, ...scratch.volumes, ...from.secrets.map(secretVolume)],
    containers: [
      agentContainer({
        image,
        mounts: [...store.mounts, ...scratch.mounts, ...from.secrets.map(secretMount)],
        ...envOf(store),
      }),
    ],
    serviceAccountName: store.serviceAccountName,
    pods,
  });
  return { config: taskConfig(naming, task), job: agentJobOptions(naming, podSpec, pods) };
}
