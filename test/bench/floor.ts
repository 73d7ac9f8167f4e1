/** The floor: nobody but the loader, which posts itself what loader and controller post together. */

import { openCensus } from './census.ts';
import { benchNamespace, type ControlPlane } from './control-plane.ts';
import { inFlight, range } from './in-flight.ts';
import { childrenToCreate, clusterName, type OwnWorkload, understood } from './workload.ts';

export interface Floor {
  readonly n: number;
  readonly children: number;
  /** From the first request to the last child, as a watch shows it. */
  readonly seconds: number;
  readonly objectsPerSecond: number;
}

/** As many lanes as the controller has workers. */
export const loaderLanes = 16;

export async function measureFloor({ client }: ControlPlane, workload: OwnWorkload, n: number): Promise<Floor> {
  const census = await openCensus(client, workload.resource, benchNamespace);
  try {
    let children = 0;
    const startedAt = performance.now();
    await inFlight(loaderLanes, range(0, n), async (i) => {
      const stored = await client.create(workload.manifest(clusterName(i), benchNamespace));
      const objects = childrenToCreate(workload, understood(workload, stored));
      for (const object of objects) await client.create(object);
      children += objects.length;
    });
    await census.complete(children);
    const seconds = (census.lastChildAt - startedAt) / 1000;
    return { n, children, seconds, objectsPerSecond: (children + n) / seconds };
  } finally {
    census.close();
  }
}
