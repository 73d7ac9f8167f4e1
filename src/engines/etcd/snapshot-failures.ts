/**
 * How often a member has failed to take up the snapshot of its leader. One that is further behind than the leader's log
 * goes back gets the whole database, and writes it beside its own: where the volume has no room for both, it fails, and
 * the leader sends it anew, about once a second and without end. A new member on a blank volume has room.
 */
import type { Pod } from '../../resources/children.ts';
import type { EngineIO } from '../engine-io.ts';
import { metricsOf } from './metrics.ts';

/** A large database takes minutes to copy, and a network may break in between. */
const patienceMs = 600_000;
const manyFailures = 3;

const line = /^etcd_network_snapshot_receive_failures\{/;

function isLongUnready({ status }: Pod, at: number): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const isRunning = status?.phase === 'Running' && status.podIP !== undefined;
  return isRunning && ready?.status === 'False' && at - Date.parse(ready.lastTransitionTime ?? '') > patienceMs;
}

/** By pod; only those are asked that have not been ready for long. Who does not say is left out. */
export async function snapshotFailures(
  pods: readonly Pod[],
  io: EngineIO,
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

export function failsToCatchUp(
  pod: Pod | undefined,
  failures: Readonly<Record<string, number>> | undefined,
  at: number,
): boolean {
  return pod !== undefined && isLongUnready(pod, at) && (failures?.[pod.metadata.name] ?? 0) >= manyFailures;
}
