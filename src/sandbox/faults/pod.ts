/** A pod as faults see it: where it runs, under which address, with which containers and volumes. */
import type { ApiClient } from '../apiserver.ts';
import { SandboxError } from '../error.ts';

export interface PodRef {
  readonly namespace: string;
  readonly name: string;
}

export interface FoundPod {
  readonly ref: PodRef;
  readonly node: string;
  readonly address: string;
  readonly containers: readonly FoundContainer[];
  /** Of the volumes that are claims: name in the pod and name of the claim. */
  readonly claims: readonly { readonly volume: string; readonly claim: string }[];
}

export interface FoundContainer {
  readonly name: string;
  /** containerd's id. */
  readonly id: string;
  readonly mounts: readonly { readonly volume: string; readonly path: string }[];
}

/** The parts of a pod object that are read. */
interface PodObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly {
      readonly name: string;
      readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
    }[];
    readonly volumes?: readonly {
      readonly name: string;
      readonly persistentVolumeClaim?: { readonly claimName: string };
    }[];
  };
  readonly status: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly { readonly name: string; readonly containerID?: string }[];
  };
}

/** `namespace/name`. */
export function podName(ref: PodRef): string {
  return `${ref.namespace}/${ref.name}`;
}

/** @throws SandboxError when there is no such pod, or it has no node or address yet */
export async function findPod(api: ApiClient, ref: PodRef): Promise<FoundPod> {
  const pod = await api.get<PodObject>(`/api/v1/namespaces/${ref.namespace}/pods/${ref.name}`);
  if (pod === undefined) throw new SandboxError(`there is no pod ${podName(ref)}`);
  const { nodeName, containers, volumes = [] } = pod.spec;
  const { podIP, containerStatuses = [] } = pod.status;
  if (nodeName === undefined || podIP === undefined)
    throw new SandboxError(`the pod ${podName(ref)} has not started yet`);
  const ids = new Map(
    containerStatuses.map(({ name, containerID = '' }) => [name, containerID.replace(/^.*:\/\//, '')]),
  );
  return {
    ref,
    node: nodeName,
    address: podIP,
    containers: containers.map(({ name, volumeMounts = [] }) => ({
      name,
      id: ids.get(name) ?? '',
      mounts: volumeMounts.map((mount) => ({ volume: mount.name, path: mount.mountPath })),
    })),
    claims: volumes.flatMap(({ name, persistentVolumeClaim }) =>
      persistentVolumeClaim === undefined ? [] : [{ volume: name, claim: persistentVolumeClaim.claimName }],
    ),
  };
}
