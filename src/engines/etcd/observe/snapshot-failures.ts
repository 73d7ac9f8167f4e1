/**
 * How often a member has failed to take up the snapshot of its leader. One that is further behind than the leader's log
 * goes back gets the whole database, and writes it beside its own: where the volume has no room for both, it fails, and
 * the leader sends it anew, about once a second and without end. A new member on a blank volume has room.
 */

import type { EngineContext } from '../../../engine/engine-context.ts';
import { type Pod, podIsReady } from '../../../resources/children.ts';
import { metricsOf } from '../client/metrics.ts';
import type { Member, Situation } from './situation.ts';

/** A large database takes minutes to copy, and a network may break in between. */
const patienceMs = 600_000;
const manyFailures = 3;
/** For those who have been away with it to be ready again. */
const calmMs = 60_000;

const line = /^etcd_network_snapshot_receive_failures\{/;

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];

function readyOf({ status }: Pod): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

function isLongUnready(pod: Pod, at: number): boolean {
  const { status } = pod;
  const ready = readyOf(pod);
  const isRunning = status?.phase === 'Running' && status.podIP !== undefined;
  return isRunning && ready?.status === 'False' && at - Date.parse(ready.lastTransitionTime ?? '') > patienceMs;
}

/** By pod; only those are asked that have not been ready for long. Who does not say is left out. */
export async function snapshotFailures(
  pods: readonly Pod[],
  io: EngineContext,
): Promise<Readonly<Record<string, number>> | undefined> {
  const late = pods.filter((pod) => isLongUnready(pod, io.now()));
  const told = await Promise.all(
    late.map(async ({ metadata, status }): Promise<[string, number][]> => {
      const metrics = await metricsOf(status?.podIP ?? '', line, io).catch(() => undefined);
      io.signal.throwIfAborted();
      const count = failuresIn(metrics ?? '');
      return count === 0 ? [] : [[metadata.name, count]];
    }),
  );
  const found = told.flat();
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** From all who have sent one; since its process has started. */
export function failuresIn(metrics: string): number {
  const counts = metrics.split('\n').flatMap((text) => (line.test(text) ? [Number(text.split(' ').at(-1))] : []));
  return counts.filter((count) => Number.isFinite(count)).reduce((sum, count) => sum + count, 0);
}

/**
 * Failures are counted for as long as the process runs, and nobody is ready while a majority is away. So somebody else has
 * to have been ready for a while: then it is not ready for a reason of its own.
 */
export function failsToCatchUp(
  { pods, observed, leader }: Situation,
  { index, id }: Pick<Member, 'index' | 'id'>,
): boolean {
  const pod = index === undefined ? undefined : pods.get(index);
  if (pod === undefined || id === leader?.id || !isLongUnready(pod, observed.at)) return false;
  const isAlone = [...pods.values()].some(
    (other) => podIsReady(other) && observed.at - Date.parse(readyOf(other)?.lastTransitionTime ?? '') >= calmMs,
  );
  return isAlone && (observed.failedSnapshots?.[pod.metadata.name] ?? 0) >= manyFailures;
}
