/**
 * Secrets that a pod mounts, asked of the API server before the pod is stopped: no watch tells of them, and without one, or a key
 * of it, that somebody has taken away since it was read it could not start again.
 */
import { secrets } from '../api/resource.ts';
import type { EngineContext } from '../engine/engine-context.ts';
import type { Obstacle } from '../plan/obstacle.ts';
import { blocked, type Step } from '../plan/plan.ts';
import { podEndedBy, setOf } from '../plan/template-use.ts';
import type { Children } from '../resources/children.ts';
import { isNotFound } from './api-error.ts';
import type { CallOptions, KubeClient } from './client.ts';

/** Whether it has come back, or is made anew, no watch tells either. */
const recheckMs = 1_000;

interface Mounted {
  readonly step: Step;
  readonly pod: string;
  readonly namespace: string;
  readonly secret: string;
  /** Without which the volume cannot be mounted; none where it is mounted as a whole. */
  readonly keys: readonly string[];
}

/** What keeps pods from being stopped: a Secret that each of them could not start again without. */
export async function missingSecrets(
  steps: readonly Step[],
  children: Pick<Children, 'statefulSet'>,
  client: Pick<KubeClient, 'get'>,
  { secretRefused, signal }: Pick<EngineContext, 'secretRefused' | 'signal'>,
): Promise<readonly Obstacle[]> {
  const mounted = steps.flatMap((step) => mountedBy(step, children));
  const found = await Promise.all(mounted.map((one) => isThere(one, client, { signal })));
  const missing = mounted.filter((_, i) => found[i] === false);
  for (const { secret } of missing) secretRefused(secret);
  return missing.map(obstacleOf);
}

function obstacleOf({ step, pod, secret, keys }: Mounted): Obstacle {
  const what = keys.length === 0 ? secret : `${secret} with the key ${keys.join(', ')}`;
  const words = `there is no Secret ${what}, and ${pod} could not start again without it: it is not stopped`;
  return { steps: [step], outcome: blocked('SecretMissing', words, recheckMs) };
}

function mountedBy(step: Step, children: Pick<Children, 'statefulSet'>): Mounted[] {
  const pod = podEndedBy(step);
  const set = pod === undefined ? undefined : children.statefulSet(setOf(pod));
  if (pod === undefined || set === undefined) return [];
  const { volumes = [] } = set.spec?.template?.spec ?? {};
  const { namespace = '' } = set.metadata;
  return volumes
    .flatMap(({ secret, projected }) => [
      { ...secret, name: secret?.secretName },
      ...(projected?.sources ?? []).map((source) => source.secret ?? {}),
    ])
    .flatMap(({ name, optional, items = [] }) =>
      name === undefined || optional === true
        ? []
        : [{ step, pod, namespace, secret: name, keys: items.map(({ key }) => key) }],
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
