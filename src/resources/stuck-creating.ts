/**
 * A pod whose machine has taken it on and whose containers are not made: it may be waiting for a Secret that is gone. No
 * watch tells of Secrets, so this is the sign to read them again.
 */
import type { Children, Pod } from './children.ts';

/** Longer than a volume takes to be mounted, as a rule. */
export const stuckCreatingMs = 10_000;

/** The second is said of all containers of a pod that has init containers. */
const beingMade: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

function isCreating({ status }: Pod): boolean {
  const { phase, startTime, initContainerStatuses: [first] = [], containerStatuses = [] } = status ?? {};
  // The others wait for the first of the init containers, where there are any.
  const waiting = (first === undefined ? containerStatuses : [first]).some(({ state }) =>
    beingMade.has(state?.waiting?.reason ?? ''),
  );
  return phase === 'Pending' && startTime !== undefined && waiting;
}

export function areCreating({ pods }: Pick<Children, 'pods'>): boolean {
  return pods.some(isCreating);
}

/** `now` in milliseconds. */
export function isAnyStuckCreating({ pods }: Pick<Children, 'pods'>, now: number): boolean {
  return pods.some((pod) => isCreating(pod) && now - Date.parse(pod.status?.startTime ?? '') >= stuckCreatingMs);
}
