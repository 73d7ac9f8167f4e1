/** Waiting until what was applied works, telling meanwhile what is missing. */
import { isDeepStrictEqual } from 'node:util';
import type { Cluster } from '../../api/cluster.ts';
import { displayName, type KubeObject, type ObjectRef } from '../../api/object.ts';
import { pods } from '../../api/resource.ts';
import { isNotFound } from '../../runtime/api-error.ts';
import type { KubeClient } from '../../runtime/client.ts';
import { type Clock, sleep } from '../../system/clock.ts';
import { CommandError } from '../fault.ts';

const everyMs = 250;

export interface Waiting {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly clock: Clock;
  /** What is missing now, in words. */
  readonly report: (detail: string) => void;
  readonly timeoutMs: number;
}

/** Undefined when the object is as it should be, else what is missing. */
type Check = (object: KubeObject) => string | undefined | Promise<string | undefined>;

/** Resolves with the object once it passes. @throws CommandError with what was missing last */
export async function waitUntil(ref: ObjectRef, check: Check, waiting: Waiting): Promise<KubeObject> {
  const { client, clock, report, timeoutMs } = waiting;
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    const object = await client.get(ref);
    const missing = await check(object);
    if (missing === undefined) return object;
    if (clock.monotonic() > deadline) {
      throw new CommandError(`${displayName(object)} is not ready after ${timeoutMs / 1000} s: ${missing}`);
    }
    report(missing);
    await sleep(clock, everyMs);
  }
}

/** Resolves once nothing of that name and UID is there any more. */
export async function waitUntilGone(ref: ObjectRef, uid: string, waiting: Waiting): Promise<void> {
  const { client, clock, report, timeoutMs } = waiting;
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    try {
      const { metadata } = await client.get(ref);
      if (metadata.uid !== uid) return;
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    if (clock.monotonic() > deadline) {
      throw new CommandError(`${ref.resource.kind} ${ref.name} is still there after ${timeoutMs / 1000} s`);
    }
    report(`${ref.resource.kind} ${ref.name} goes`);
    await sleep(clock, everyMs);
  }
}

interface Conditioned {
  /** A CRD that was just created has a null here. */
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[] | null;
}

/** Of a CustomResourceDefinition: only then does its path exist. */
export const established: Check = (crd) => {
  const conditions = ((crd.status ?? {}) as Conditioned).conditions ?? [];
  const named = conditions.find(({ type, status }) => type === 'NamesAccepted' && status === 'False');
  if (named !== undefined) return `its names are not accepted: ${named.message ?? ''}`;
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True')
    ? undefined
    : 'it is not established';
};

interface DeploymentStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly availableReplicas?: number;
}

/** Of a Deployment: every replica is of the newest template and available, and no older one is left. */
export function available(client: Pick<KubeClient, 'list'>): Check {
  return async (deployment) => {
    const spec = deployment.spec as {
      readonly replicas?: number;
      readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    };
    const { replicas: wanted = 1 } = spec;
    const status = (deployment.status ?? {}) as DeploymentStatus;
    const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
    const seen = status.observedGeneration === deployment.metadata.generation;
    if (seen && isDeepStrictEqual([replicas, updatedReplicas, availableReplicas], [wanted, wanted, wanted])) {
      return undefined;
    }
    const trouble = await podProblem(client, deployment.metadata.namespace, spec.selector.matchLabels);
    return [`${Math.min(updatedReplicas, availableReplicas)} of ${wanted} replicas`, ...trouble].join(', ');
  };
}

interface PodStatus {
  readonly containerStatuses?: readonly {
    readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
  }[];
}

/** What keeps containers from starting: an image that cannot be pulled, a program that ends. */
async function podProblem(
  client: Pick<KubeClient, 'list'>,
  namespace: string | undefined,
  labels: Readonly<Record<string, string>>,
): Promise<string[]> {
  const labelSelector = Object.entries(labels)
    .map((pair) => pair.join('='))
    .join(',');
  const { items } = await client.list(pods, { namespace, labelSelector });
  const troubles = items.flatMap(
    (pod) =>
      ((pod.status ?? {}) as PodStatus).containerStatuses?.flatMap(({ state }) => {
        const { reason, message = '' } = state?.waiting ?? {};
        if (reason === undefined || reason === 'ContainerCreating' || reason === 'PodInitializing') return [];
        return [`${reason}${message === '' ? '' : ` (${message})`}`];
      }) ?? [],
  );
  return [...new Set(troubles)];
}

/** Of one of our clusters: the controller has seen this very spec, and says Ready. */
export const clusterReady: Check = (object) => {
  const { metadata, status = {} } = object as Cluster;
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True' && ready.observedGeneration === metadata.generation) return undefined;
  return status.plan?.blockedBy ?? status.plan?.waitingFor ?? ready?.message ?? 'no controller has looked at it yet';
};
