/**
 * A member that etcd lists and that has never run: when it is given up, and how long it is looked after eagerly.
 *
 * Nothing that was acknowledged can be on its volume alone, so only time and Kubernetes' word decide. One that waits for
 * room or for an image is left alone: its successor would wait for the same. So is one whose process runs: a large
 * database takes long to copy.
 */
import type { Pod } from '../../../resources/children.ts';
import type { Member, Situation } from '../observe/situation.ts';

/** For a container on its way: mounting the volume and pulling the image end long before, or never. */
const startingMs = 600_000;
const youngMs = 60_000;

/** Why it will not come, in words: its pod has a node, and there its container does not come to run. */
export function neverCame(pod: Pod, at: number): string | undefined {
  const scheduled = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'True');
  const since = Date.parse(scheduled?.lastTransitionTime ?? '');
  const containers = pod.status?.containerStatuses ?? [];
  const isUnderway = containers.every(
    ({ restartCount = 0, state, lastState }) =>
      restartCount === 0 &&
      lastState?.terminated === undefined &&
      (state?.waiting?.reason === 'ContainerCreating' || state?.waiting?.reason === 'PodInitializing'),
  );
  return pod.status?.phase === 'Pending' && isUnderway && at - since > startingMs
    ? `its container has not started within ${startingMs / 60_000} minutes`
    : undefined;
}

/** Whether one of them has just begun, and its vote comes soon. Of a change of its pod the watch tells. */
export function areYoung({ pods, observed }: Situation, learners: readonly Member[]): boolean {
  const begun = learners.flatMap(({ index }) => {
    const pod = index === undefined ? undefined : pods.get(index);
    const running = pod?.status?.containerStatuses?.flatMap(({ state }) => state?.running?.startedAt ?? [])[0];
    const since = Date.parse(running ?? pod?.status?.startTime ?? pod?.metadata.creationTimestamp ?? '');
    return Number.isNaN(since) ? [] : [since];
  });
  return begun.length < learners.length || begun.some((since) => observed.at - since < youngMs);
}
