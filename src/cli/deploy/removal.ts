/**
 * Taking back what was applied. Every delete names a UID, and nothing that holds data goes: volumes, Secrets and the
 * namespaces that they are in stay, as do the CRDs, unless those are asked for and no cluster is left.
 */
import { displayName, type KubeObject, type ObjectRef } from '../../api/object.ts';
import { persistentVolumeClaims, pods, secrets } from '../../api/resource.ts';
import type { KindHandler } from '../../engine/engine.ts';
import { isNotFound } from '../../runtime/api-error.ts';
import type { KubeClient } from '../../runtime/client.ts';
import type { Progress } from '../../sandbox/progress.ts';
import type { Clock } from '../../system/clock.ts';
import { CommandError } from '../fault.ts';
import { listClusters } from '../live.ts';
import type { Discovery } from './discovery.ts';
import { type Manifests, sampleClusters } from './manifests.ts';
import { type Waiting, waitUntilGone } from './readiness.ts';

const timeoutMs = 2 * 60_000;

export interface RemovalOptions {
  readonly engines: readonly KindHandler[];
  readonly client: KubeClient;
  readonly discovery: Discovery;
  readonly clock: Clock;
  readonly progress: Progress;
  /** Also the CRDs, and with them the kinds. */
  readonly crds: boolean;
}

/** Resolves with a line on each thing that stays. */
export async function remove(manifests: Manifests, options: RemovalOptions): Promise<string[]> {
  const { client, discovery, clock, progress } = options;
  const refOf = ({ metadata: { name, namespace }, ...object }: KubeObject): ObjectRef => ({
    resource: discovery.resourceOf(object as KubeObject),
    name,
    ...(namespace === undefined ? {} : { namespace }),
  });

  /** Resolves with the UID that is being deleted; undefined where there was nothing. */
  async function removeOne(object: KubeObject): Promise<string | undefined> {
    try {
      const { uid } = (await client.get(refOf(object))).metadata;
      if (uid === undefined) return undefined;
      // A Deployment goes after its pods, so that what is seen in its namespace afterwards is not its own.
      const propagation = object.kind === 'Deployment' ? 'Foreground' : 'Background';
      await client.remove({ ...refOf(object), uid }, { propagation });
      return uid;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function removeAndWait(objects: readonly KubeObject[], report: (detail: string) => void): Promise<void> {
    const waiting: Waiting = { client, clock, report, timeoutMs };
    for (const object of objects) {
      report(displayName(object));
      const uid = await removeOne(object);
      if (uid !== undefined) await waitUntilGone(refOf(object), uid, waiting);
    }
  }

  const kept: string[] = [];
  const samples = sampleClusters(manifests);
  const isNamespace = ({ kind }: KubeObject): boolean => kind === 'Namespace';
  const known = await knows(client, discovery, samples);

  if (options.crds && known) await refuseWithOthers(client, options.engines, samples);
  // The operator is still there, so a finalizer of ours is seen to.
  if (known) await progress.step('Deleting the samples', ({ report }) => removeAndWait(samples, report));
  await progress.step('Deleting the operator', async ({ report }) => {
    const objects = manifests.operator.filter((object) => !isNamespace(object)).reverse();
    await discovery.learn(client, manifests.operator);
    await removeAndWait(objects, report);
  });
  if (options.crds) {
    await progress.step('Deleting the CRDs', async ({ report }) => {
      await discovery.learn(client, manifests.crds);
      await removeAndWait(manifests.crds, report);
    });
  } else kept.push('the CRDs (--crds deletes them, once no cluster is left)');
  for (const namespace of [...manifests.operator, ...manifests.samples].filter(isNamespace)) {
    const content = await contentOf(client, namespace.metadata.name);
    if (content === undefined) await removeOne(namespace);
    else kept.push(`namespace ${namespace.metadata.name}, as it holds ${content}`);
  }
  return kept;
}

/** Whether our kinds are there at all. */
async function knows(client: KubeClient, discovery: Discovery, samples: readonly KubeObject[]): Promise<boolean> {
  try {
    await discovery.learn(client, samples);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/** With a CRD go all objects of its kind, whoever made them. */
async function refuseWithOthers(
  client: KubeClient,
  engines: readonly KindHandler[],
  samples: readonly KubeObject[],
): Promise<void> {
  const lists = await Promise.all(engines.map((engine) => listClusters(client, engine, undefined)));
  const name = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace}/${metadata.name}`;
  const ours = new Set(samples.map(name));
  const others = lists
    .flat()
    .map(name)
    .filter((each) => !ours.has(each));
  if (others.length === 0) return;
  throw new CommandError(`--crds would delete clusters that are not ours: ${others.join(', ')}; nothing was deleted`);
}

/** What keeps a namespace from being deleted, in words. */
async function contentOf(client: KubeClient, namespace: string): Promise<string | undefined> {
  const held = [
    [persistentVolumeClaims, 'volumes'],
    [secrets, 'Secrets'],
    [pods, 'pods'],
  ] as const;
  for (const [resource, what] of held) {
    const { items } = await client.list(resource, { namespace, limit: 100 });
    if (items.some(({ metadata }) => metadata.deletionTimestamp === undefined)) return what;
  }
  return undefined;
}
