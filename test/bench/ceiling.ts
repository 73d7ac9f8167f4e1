/**
 * What this API server can take at all: the objects of a cluster, created and then changed by server-side apply, with
 * nothing else going on. Every other figure is also told as a share of it.
 */
import type { KubeObject } from '../../src/api/object.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { benchNamespace } from './control-plane.ts';
import { inFlight } from './in-flight.ts';
import { childrenToCreate, clusterName, type OwnWorkload, understood } from './workload.ts';

export interface Ceiling {
  readonly inFlight: number;
  readonly createsPerSecond: number;
  readonly appliesPerSecond: number;
}

const lanes = [1, 8, 16, 32];
const measuredMs = 3000;
const createdAnew = { uid: '00000000-0000-4000-8000-000000000000' };

/** A cluster's objects in the controller's order, without end. They go with an owner that does not exist. */
function* mix(workload: OwnWorkload, from: number): Generator<KubeObject> {
  for (let i = from; ; i++) {
    const resource = workload.manifest(clusterName(i), benchNamespace);
    yield resource;
    const metadata = { ...resource.metadata, ...createdAnew, generation: 1 };
    yield* childrenToCreate(workload, understood(workload, { ...resource, metadata }));
  }
}

function changed(object: KubeObject): KubeObject {
  const annotations = { ...object.metadata.annotations, 'clusterwright.dev/bench': 'changed' };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Objects a second, for as long as it is measured or objects last. */
async function rate(limit: number, objects: Iterable<KubeObject>, send: (object: KubeObject) => Promise<unknown>) {
  const startedAt = performance.now();
  let count = 0;
  await inFlight(limit, whileTimeLasts(objects, startedAt + measuredMs), async (object) => {
    await send(object);
    count++;
  });
  return count / ((performance.now() - startedAt) / 1000);
}

function* whileTimeLasts(objects: Iterable<KubeObject>, deadline: number): Generator<KubeObject> {
  for (const object of objects) {
    if (performance.now() >= deadline) return;
    yield object;
  }
}

export async function measureCeiling(client: KubeClient, workload: OwnWorkload): Promise<Ceiling[]> {
  const ceilings: Ceiling[] = [];
  await rate(8, mix(workload, 100_000), (object) => client.create(object));
  for (const [index, limit] of lanes.entries()) {
    const made: KubeObject[] = [];
    const createsPerSecond = await rate(limit, mix(workload, 200_000 + index * 100_000), async (object) => {
      await client.create(object);
      made.push(object);
    });
    const appliesPerSecond = await rate(limit, made.map(changed), (object) => client.apply(object, { force: true }));
    ceilings.push({ inFlight: limit, createsPerSecond, appliesPerSecond });
  }
  return ceilings;
}
