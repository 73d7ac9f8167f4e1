/**
 * What fills the volume of a new cluster's first member: its claim, exactly as the StatefulSet would make it, and the Job
 * that writes a backup's data into it. While it is being filled the claim belongs to the cluster and goes with it; once
 * it holds data, it is nobody's, as every claim is.
 */
import { type Cluster, podsOf, type RestoreSpec } from '../api/cluster.ts';
import type { KubeObject } from '../api/object.ts';
import type { FetchTask, Which } from '../backup/agent-task.ts';
import { type EngineDestination, mostParts } from '../backup/engine-data.ts';
import { type RestoreContainer, type RestoreTemplate, restoredVolume } from '../engine/backup-support.ts';
import { job } from '../resources/job.ts';
import { ownerReferences } from '../resources/metadata.ts';
import type { ContainerSpec, PodSpec, Volume } from '../resources/plain.ts';
import { agentJobOptions, configName, type Naming, taskConfig } from './agent-job.ts';
import { agentContainer, agentPodSpec, envOf, helperContainer, storeOf } from './agent-pod.ts';
import { skipContainersAnnotation } from './target-identity.ts';

/** @param volume its number, where several are filled */
export function restoreJobName(cluster: string, volume = 0): string {
  return volume === 0 ? `${cluster}-restore` : `${cluster}-restore-${volume}`;
}

/** All that there can be. */
export function restoreJobNames(cluster: string): readonly string[] {
  return Array.from({ length: mostParts }, (_, volume) => restoreJobName(cluster, volume));
}

interface SetSpec {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: { readonly spec: PodSpec };
  readonly volumeClaimTemplates?: readonly {
    readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
    readonly spec: object;
  }[];
}

/** Name of the claim that the StatefulSet gives its first pod. Undefined where it has none. */
export function firstClaimName(set: KubeObject): string | undefined {
  const [template] = (set.spec as SetSpec).volumeClaimTemplates ?? [];
  return template === undefined ? undefined : `${template.metadata.name}-${set.metadata.name}-0`;
}

function firstClaim(cluster: Cluster, set: KubeObject): KubeObject[] {
  const { selector, volumeClaimTemplates = [] } = set.spec as SetSpec;
  const name = firstClaimName(set);
  const [template] = volumeClaimTemplates;
  if (template === undefined || name === undefined) return [];
  const owners = ownerReferences(cluster);
  const metadata = {
    name,
    namespace: cluster.metadata.namespace,
    labels: { ...template.metadata.labels, ...selector.matchLabels },
    ...(owners.length > 0 ? { ownerReferences: owners } : {}),
  };
  return [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: template.spec }];
}

export interface RestoreJobOptions {
  readonly engine: string;
  /** Holds the agent. */
  readonly image: string;
  readonly restore: RestoreSpec;
  readonly template: RestoreTemplate;
  /** Of the volume: the number, and what its agent is told. */
  readonly volume: number;
  readonly destination: EngineDestination;
  readonly set: KubeObject;
  /** Where another volume has been filled already: from this one. */
  readonly chosen?: Which | undefined;
}

/** The claim, the task and the Job, in the order in which they are made. */
export function restoreJobObjects(cluster: Cluster, options: RestoreJobOptions): readonly KubeObject[] {
  const { engine, image, restore, template, volume, destination, set, chosen = {} } = options;
  const naming: Naming = { owner: cluster, engine, name: restoreJobName(cluster.metadata.name, volume) };
  const store = storeOf(restore.target, restore.encryption, 'read');
  const { id, cluster: from } = restore;
  const pods = podsOf(cluster);
  const task: FetchTask = {
    task: 'fetch',
    which: { ...(id === undefined ? {} : { id }), ...from, ...chosen },
    destination,
    idleTimeoutSeconds: 60,
    ...store.task,
  };
  const volumes: Volume[] = [
    ...store.volumes,
    { name: restoredVolume, persistentVolumeClaim: { claimName: firstClaimName(set) ?? '' } },
    ...template.volumes,
  ];
  const steps: ContainerSpec[] = [
    agentContainer({ image, mounts: [...store.mounts, ...template.fetchMounts], ...envOf(store) }),
    ...template.containers.map((container) => restoreContainer(container, image)),
  ];
  const podSpec = {
    ...agentPodSpec({
      config: configName(naming),
      volumes,
      initContainers: steps.slice(0, -1),
      containers: steps.slice(-1),
      serviceAccountName: store.serviceAccountName,
      pods,
    }),
    ...placementOf(set),
  };
  // The image of some of them is the user's choice: what the ServiceAccount may is for the agent alone.
  const restoreContainers = template.containers.map(({ name }) => name);
  const podAnnotations =
    store.serviceAccountName === undefined || restoreContainers.length === 0
      ? {}
      : { podAnnotations: { [skipContainersAnnotation]: restoreContainers.join(',') } };
  return [
    ...firstClaim(cluster, set),
    taskConfig(naming, task),
    job({ ...agentJobOptions(naming, podSpec, pods), ...podAnnotations }),
  ];
}

/** The volume is made where this pod runs, so it must run where the member may. */
function placementOf(set: KubeObject): Partial<PodSpec> {
  const { nodeSelector, tolerations, affinity, priorityClassName } = (set.spec as SetSpec).template.spec;
  return {
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(affinity === undefined ? {} : { affinity }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  };
}

function restoreContainer(container: RestoreContainer, agentImage: string): ContainerSpec {
  return {
    ...helperContainer(container.name, container.image ?? agentImage),
    command: container.command,
    ...(container.env === undefined ? {} : { env: container.env }),
    // Why it has failed, which the pod's status then tells.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: container.mounts,
  };
}
