/**
 * What the operator's memory comes to with many clusters, of which some answer with as much as they can. The API server
 * is in memory: nothing of it is weighed.
 */

import { systemClock } from '../../src/system/clock.ts';
import { ApiInMemory } from '../support/api-in-memory.ts';
import { openApiDoor } from './api-door.ts';
import { benchNamespace } from './control-plane.ts';
import { pause, range } from './in-flight.ts';
import { startLargeAnswers } from './large-answers.ts';
import { createPods } from './live-pods.ts';
import { startSubject } from './subject.ts';
import { clusterName, type OwnWorkload } from './workload.ts';

export interface LargeAnswers {
  readonly n: number;
  /** How many of them are hostile. */
  readonly hostile: number;
  /** With every object in the cache, before anybody answers. */
  readonly quietRssBytes: number;
  /** While the hostile ones answer: the largest that was seen. */
  readonly largestRssBytes: number;
  /** For how long. */
  readonly seconds: number;
}

const seconds = 60;

export async function measureAnswers(
  workload: OwnWorkload,
  n: number,
  hostile: number,
  nodeFlags: readonly string[],
): Promise<LargeAnswers> {
  const api = new ApiInMemory();
  for (const i of range(0, n)) api.put(workload.manifest(clusterName(i), benchNamespace));
  const door = await openApiDoor(api);
  const close = await startLargeAnswers(hostile);
  const subject = await startSubject(door.kubeconfig, nodeFlags);
  try {
    while (api.list('StatefulSet').length < 2 * n) await pause(1000);
    await pause(5000);
    const quiet = await subject.usage();
    await createPods(api.client(systemClock), hostile);
    let largest = 0;
    const startedAt = performance.now();
    let lasted = 0;
    // One that ends, because it has lost its lease for example, is weighed up to there.
    for (let isThere = true; isThere && lasted < seconds; lasted = (performance.now() - startedAt) / 1000) {
      await pause(100);
      const usage = await subject.usage().catch(() => undefined);
      // Of one that has ended, and of which nobody has taken note yet, the kernel tells no memory.
      const rss = usage?.rssBytes ?? Number.NaN;
      isThere = !Number.isNaN(rss);
      if (isThere) largest = Math.max(largest, rss);
    }
    return { n, hostile, quietRssBytes: quiet?.rssBytes ?? 0, largestRssBytes: largest, seconds: lasted };
  } finally {
    await subject.stop();
    close();
    door.close();
  }
}
