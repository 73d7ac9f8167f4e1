/**
 * Pods, claims and statuses as StatefulSet controller, scheduler and kubelet would have made them, written by the
 * loader: each cluster's members run at the addresses where the stand-in answers.
 */
import type { KubeObject, ObjectRef } from '../../src/api/object.ts';
import { persistentVolumeClaims, pods, statefulSets } from '../../src/api/resource.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { benchNamespace } from './control-plane.ts';
import { loaderLanes } from './floor.ts';
import { inFlight, range } from './in-flight.ts';
import { addressOf, members } from './stand-in.ts';
import { clusterName } from './workload.ts';

interface StatefulSetSpec {
  readonly replicas: number;
  readonly template: { readonly metadata: { readonly labels: Record<string, string> }; readonly spec: object };
  readonly volumeClaimTemplates?: readonly {
    readonly metadata: { readonly name: string; readonly labels: Record<string, string> };
    readonly spec: object;
  }[];
}

const revision = 'revision-1';

/** Gives each of the first `n` clusters its six pods, Running and Ready. */
export async function createPods(client: KubeClient, n: number): Promise<void> {
  const sets = new Map<string, KubeObject>();
  const { items } = await client.list(statefulSets, { namespace: benchNamespace });
  for (const item of items) sets.set(item.metadata.name, item);
  await inFlight(loaderLanes, range(0, n), async (i) => {
    const name = clusterName(i);
    let member = 0;
    for (const set of [name, `${name}-sentinel`]) {
      const object = sets.get(set);
      if (object === undefined) throw new Error(`there is no StatefulSet ${set}`);
      const spec = object.spec as unknown as StatefulSetSpec;
      for (const ordinal of range(0, spec.replicas)) {
        await createClaims(client, spec, `${set}-${ordinal}`);
        await createPod(client, object, spec, ordinal, addressOf(i, member++));
      }
      const status = {
        observedGeneration: object.metadata.generation,
        replicas: spec.replicas,
        readyReplicas: spec.replicas,
        updateRevision: revision,
      };
      await writeStatus(client, { resource: statefulSets, namespace: benchNamespace, name: set }, status);
    }
    if (member !== members) throw new Error(`${name} has ${member} members, not ${members}`);
  });
}

async function createClaims(client: KubeClient, spec: StatefulSetSpec, pod: string): Promise<void> {
  for (const template of spec.volumeClaimTemplates ?? []) {
    const { name, labels } = template.metadata;
    await client.create({
      apiVersion: 'v1',
      kind: persistentVolumeClaims.kind,
      metadata: { name: `${name}-${pod}`, namespace: benchNamespace, labels },
      spec: template.spec,
    } as KubeObject);
  }
}

async function createPod(
  client: KubeClient,
  set: KubeObject,
  spec: StatefulSetSpec,
  ordinal: number,
  podIP: string,
): Promise<void> {
  const { name: owner, uid = '' } = set.metadata;
  const name = `${owner}-${ordinal}`;
  const podSpec = spec.template.spec as { readonly volumes?: readonly object[] };
  const claimVolumes = (spec.volumeClaimTemplates ?? []).map(({ metadata: claim }) => ({
    name: claim.name,
    persistentVolumeClaim: { claimName: `${claim.name}-${name}` },
  }));
  await client.create({
    apiVersion: 'v1',
    kind: pods.kind,
    metadata: {
      name,
      namespace: benchNamespace,
      labels: { ...spec.template.metadata.labels, 'controller-revision-hash': revision },
      ownerReferences: [{ apiVersion: set.apiVersion, kind: set.kind, name: owner, uid, controller: true }],
    },
    spec: { ...podSpec, nodeName: 'bench', volumes: [...(podSpec.volumes ?? []), ...claimVolumes] },
  } as KubeObject);
  const ref: ObjectRef = { resource: pods, namespace: benchNamespace, name };
  await writeStatus(client, ref, {
    phase: 'Running',
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'True' },
    ],
  });
}

/** As the kubelet and the StatefulSet controller would. */
async function writeStatus(client: KubeClient, ref: ObjectRef, status: object): Promise<void> {
  await client.mergePatch(ref, { status }, { subresource: 'status' });
}
