/** From manifests to something that works: CRDs, then the operator, then the samples, each waited for. */
import type { Cluster } from '../../api/cluster.ts';
import { displayName, type KubeObject, type ObjectRef } from '../../api/object.ts';
import type { KubeClient } from '../../runtime/client.ts';
import type { Progress } from '../../sandbox/progress.ts';
import type { Clock } from '../../system/clock.ts';
import type { Discovery } from './discovery.ts';
import { type Manifests, sampleClusters } from './manifests.ts';
import { available, clusterReady, established, type Waiting, waitUntil } from './readiness.ts';

/** A cluster that pulls its images over a slow line takes a while. */
const timeoutMs = 5 * 60_000;

export interface DeployOptions {
  readonly client: KubeClient;
  readonly discovery: Discovery;
  readonly clock: Clock;
  readonly progress: Progress;
}

export interface Deployed {
  readonly operators: readonly KubeObject[];
  readonly clusters: readonly Cluster[];
}

/** Applying what is there already changes nothing, so this may be repeated at any time. */
export async function deploy(manifests: Manifests, options: DeployOptions): Promise<Deployed> {
  const { client, discovery, clock, progress } = options;
  const refOf = (object: KubeObject): ObjectRef => {
    const { name, namespace } = object.metadata;
    return { resource: discovery.resourceOf(object), name, ...(namespace === undefined ? {} : { namespace }) };
  };
  const applyAll = async (objects: readonly KubeObject[], report: (detail: string) => void): Promise<KubeObject[]> => {
    await discovery.learn(client, objects);
    const applied: KubeObject[] = [];
    for (const object of objects) {
      report(displayName(object));
      applied.push(await client.apply(object, { force: true, fieldValidation: 'Strict' }));
    }
    return applied;
  };
  const waiting = (report: (detail: string) => void): Waiting => ({ client, clock, report, timeoutMs });

  await progress.step('Installing the CRDs', async ({ report }) => {
    for (const crd of await applyAll(manifests.crds, report)) await waitUntil(refOf(crd), established, waiting(report));
  });
  const operators = await progress.step('Starting the operator', async ({ report }) => {
    const applied = await applyAll(manifests.operator, report);
    const deployments = applied.filter(({ kind }) => kind === 'Deployment');
    return Promise.all(
      deployments.map((deployment) => waitUntil(refOf(deployment), available(client), waiting(report))),
    );
  });
  const clusters = await progress.step('Creating the samples', async ({ report }) => {
    const applied = await applyAll(manifests.samples, report);
    const clusters = sampleClusters({ ...manifests, samples: applied });
    return Promise.all(clusters.map((cluster) => waitUntil(refOf(cluster), clusterReady, waiting(report))));
  });
  return { operators, clusters: clusters as Cluster[] };
}
