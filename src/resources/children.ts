/**
 * The objects of one cluster as the cache holds them, with the few fields of pods, StatefulSets and claims that
 * planners read. Absent means "not seen": never, by itself, "gone for good".
 */
import type { KubeObject, ObjectMeta } from '../api/object.ts';
import { agentComponent, componentLabel, instanceLabel } from './metadata.ts';
import type { Requirements, Resize } from './resize.ts';

export interface Termination {
  readonly reason?: string;
  readonly exitCode?: number;
  /** Its last words, where the container's template asks for them. */
  readonly message?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly image?: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  /** Its startup probe has passed. */
  readonly started?: boolean;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: Termination;
  };
  readonly lastState?: { readonly terminated?: Termination };
  /** As its kubelet has set them. The cache keeps them only while the pod is resized. */
  readonly resources?: Requirements;
}

/** What planners read of a container in a spec. */
export interface ContainerOf {
  readonly name: string;
  readonly image?: string;
  readonly resources?: Requirements;
  readonly resizePolicy?: readonly { readonly resourceName: string; readonly restartPolicy: string }[];
}

/** With `restartPolicy: Always` it is a native sidecar, which runs beside the containers. Of others, a cached pod has the name alone. */
export interface InitContainerOf extends ContainerOf {
  readonly restartPolicy?: string;
}

/** Of a template. Of pods, environments are not kept. */
interface TemplateContainer extends ContainerOf {
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

export interface Pod extends KubeObject {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly ContainerOf[];
    /** In a cached pod only where one of them is a native sidecar. */
    readonly initContainers?: readonly InitContainerOf[];
  };
  /** Of an outdated pod that may be resized in place: told by `runtime/resizes.ts`, and no field of Kubernetes. */
  readonly resize?: Resize;
  readonly status?: {
    readonly phase?: string;
    /** Of the pod as a whole: `Evicted`, and why. */
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly startTime?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
      readonly lastTransitionTime?: string;
      readonly observedGeneration?: number;
    }[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface TemplateVolume {
  readonly secret?: {
    readonly secretName?: string;
    readonly optional?: boolean;
    readonly items?: readonly { readonly key: string }[];
  };
  readonly projected?: {
    readonly sources?: readonly {
      readonly secret?: {
        readonly name?: string;
        readonly optional?: boolean;
        readonly items?: readonly { readonly key: string }[];
      };
    }[];
  };
}

export interface StatefulSet extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: {
      readonly metadata?: Pick<ObjectMeta, 'annotations' | 'labels'>;
      readonly spec?: {
        readonly containers?: readonly TemplateContainer[];
        readonly initContainers?: readonly InitContainerOf[];
        readonly volumes?: readonly TemplateVolume[];
      };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly updateRevision?: string;
  };
}

export interface Job extends KubeObject {
  readonly status?: {
    readonly startTime?: string;
    readonly completionTime?: string;
    /** Pods that run or wait, and pods that have failed: a pod that was deleted before it ended is one of these. */
    readonly active?: number;
    readonly failed?: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
      readonly lastTransitionTime?: string;
    }[];
  };
}

export interface Claim extends KubeObject {
  readonly spec?: {
    readonly storageClassName?: string;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
  readonly status?: {
    readonly phase?: string;
    readonly capacity?: Readonly<Record<string, string>>;
    /** How far an expansion is, where one is under way or has failed. */
    readonly allocatedResourceStatuses?: Readonly<Record<string, string>>;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

export interface Children {
  readonly objects: readonly KubeObject[];
  get(kind: string, name: string): KubeObject | undefined;
  /** Of the database: those of Jobs are apart, and copies that somebody has made count for nothing. */
  readonly pods: readonly Pod[];
  readonly jobPods: readonly Pod[];
  readonly jobs: readonly Job[];
  readonly claims: readonly Claim[];
  statefulSet(name: string): StatefulSet | undefined;
}

export function childrenOf(objects: readonly KubeObject[]): Children {
  const get = (kind: string, name: string): KubeObject | undefined =>
    objects.find((o) => o.kind === kind && o.metadata.name === name);
  const pods = objects.filter((o) => o.kind === 'Pod').sort(byOrdinal) as readonly Pod[];
  const sets = objects.filter((o) => o.kind === 'StatefulSet');
  const isRelabelled = (pod: Pod): boolean => sets.some((set) => hasLostLabels(pod, set));
  const isJobs = (pod: Pod): boolean => isJobPod(pod) && !isRelabelled(pod);
  return {
    objects,
    get,
    pods: pods.filter((pod) => !isJobs(pod) && (isOfSet(pod) || isRelabelled(pod))),
    jobPods: pods.filter(isJobs),
    jobs: objects.filter((o) => o.kind === 'Job') as readonly Job[],
    claims: objects.filter((o) => o.kind === 'PersistentVolumeClaim').sort(byOrdinal) as readonly Claim[],
    statefulSet: (name) => get('StatefulSet', name) as StatefulSet | undefined,
  };
}

function isJobPod({ metadata }: KubeObject): boolean {
  return metadata.labels?.[componentLabel] === agentComponent;
}

/**
 * By its name, since labels are copied as well: a StatefulSet calls its pods `SET-0` and so on, or `MEMBER-0` where each member has
 * one, also of what stands beside it, or `SET-s3-0` where each shard has one. Somebody may have scaled one up; but what ends in a longer number is named after a date.
 */
function isOfSet({ metadata: { name, labels = {} } }: KubeObject): boolean {
  const cluster = labels[instanceLabel];
  if (cluster === undefined || !name.startsWith(`${cluster}-`)) return cluster === undefined;
  return /^([a-z]+-|s\d{1,2}-)?(\d{1,3}|\d+-0)$/.test(name.slice(cluster.length + 1));
}

/** By its name it is a pod of the set, and somebody has changed a label by which those are told from others. */
function hasLostLabels(pod: KubeObject, set: KubeObject): boolean {
  const { name, labels = {} } = set.metadata;
  const ordinal = pod.metadata.name.startsWith(`${name}-`) ? pod.metadata.name.slice(name.length + 1) : '';
  const isSame = (label: string): boolean => pod.metadata.labels?.[label] === labels[label];
  return /^\d{1,3}$/.test(ordinal) && !(isSame(instanceLabel) && isSame(componentLabel));
}

/** Plain comparison on purpose: a collator would cost the controller megabytes of locale data. */
function byOrdinal(a: KubeObject, b: KubeObject): number {
  const [left, right] = [withoutOrdinal(a), withoutOrdinal(b)];
  return left === right ? ordinalOf(a) - ordinalOf(b) : left < right ? -1 : 1;
}

function withoutOrdinal(object: KubeObject): string {
  return object.metadata.name.replace(/-\d+$/, '');
}

export interface PodContainers {
  readonly containers?: readonly ContainerOf[];
  readonly initContainers?: readonly InitContainerOf[];
}

/** Those that run as long as the pod does: its containers and its sidecars. */
export function lastingContainers({ containers = [], initContainers = [] }: PodContainers): readonly ContainerOf[] {
  return [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')];
}

/**
 * What decides whether the process of a pod runs. As long as its containers wait for the init containers, those do; later, a sidecar
 * that fails leaves the process as it is.
 */
export function decidingStatuses(status: Pod['status']): readonly ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
  const isInitializing = containerStatuses.every(({ state }) => state?.waiting?.reason === 'PodInitializing');
  return isInitializing ? [...initContainerStatuses, ...containerStatuses] : containerStatuses;
}

export const noChildren: Children = childrenOf([]);

export function podIsReady(pod: Pod): boolean {
  return pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
}

/** The trailing number of a StatefulSet pod's name. */
export function ordinalOf(pod: KubeObject): number {
  return Number(/-(\d+)$/.exec(pod.metadata.name)?.[1] ?? Number.NaN);
}
