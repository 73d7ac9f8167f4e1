/**
 * Secrets that a pod mounts, asked of the API server before the pod is stopped: no watch tells of them, and without one, or a key
 * of it, that somebody has taken away since it was read it could not start again.
 */
import { pods, secrets } from '../api/resource.ts';
import { blocked, type Plan, type Step } from '../plan/plan.ts';
import type { Children } from '../resources/children.ts';
import { isNotFound } from './api-error.ts';
import type { CallOptions, KubeClient } from './client.ts';

/** Whether it has come back, or is made anew, no watch tells either. */
const recheckMs = 1_000;

interface Mounted {
  readonly pod: string;
  readonly namespace: string;
  readonly secret: string;
  /** Without which the volume cannot be mounted; none where it is mounted as a whole. */
  readonly keys: readonly string[];
}

/** Those of pods that are to be stopped, and that are not there. */
export async function missingSecrets(
  steps: readonly Step[],
  children: Pick<Children, 'statefulSet'>,
  client: Pick<KubeClient, 'get'>,
  options: CallOptions,
): Promise<readonly Mounted[]> {
  const mounted = steps.flatMap((step) => mountedBy(step, children));
  const found = await Promise.all(mounted.map((one) => isThere(one, client, options)));
  return mounted.filter((_, i) => found[i] === false);
}

/** The plan without those stops. Whatever else it does rests on none of them. */
export function withoutStops(plan: Plan, missing: readonly Mounted[]) {
  const kept = new Set(missing.map(({ pod }) => pod));
  const words = missing.map(({ pod, secret, keys }) => {
    const what = keys.length === 0 ? secret : `${secret} with the key ${keys.join(', ')}`;
    return `there is no Secret ${what}, and ${pod} could not start again without it: it is not stopped`;
  });
  const steps = plan.steps.filter((step) => !kept.has(stoppedBy(step) ?? ''));
  return { ...plan, steps, outcome: blocked('SecretMissing', words.join('; '), recheckMs) };
}

function stoppedBy(step: Step): string | undefined {
  return step.type === 'delete' && step.ref.resource === pods ? step.ref.name : undefined;
}

function mountedBy(step: Step, children: Pick<Children, 'statefulSet'>): Mounted[] {
  const pod = stoppedBy(step);
  const set = pod === undefined ? undefined : children.statefulSet(pod.replace(/-\d+$/, ''));
  if (pod === undefined || set === undefined) return [];
  const { volumes = [] } = set.spec?.template?.spec ?? {};
  const { namespace = '' } = set.metadata;
  return volumes.flatMap(({ secret: { secretName: secret, optional, items = [] } = {} }) =>
    secret === undefined || optional === true ? [] : [{ pod, namespace, secret, keys: items.map(({ key }) => key) }],
  );
}

async function isThere(
  { namespace, secret: name, keys }: Mounted,
  client: Pick<KubeClient, 'get'>,
  options: CallOptions,
): Promise<boolean> {
  try {
    const { data } = await client.get({ resource: secrets, namespace, name }, options);
    return keys.every((key) => key in ((data ?? {}) as object));
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
