/**
 * A pod whose machine has taken it on and whose containers are not made: it may be waiting for a Secret that is gone. No
 * watch tells of Secrets, so this is the sign to read them again.
 */
import type { Children, Pod } from '../../../resources/children.ts';

/** Longer than a volume takes to be mounted, as a rule. */
export const heldUpMs = 10_000;

function isBeingStarted({ status }: Pod): boolean {
  const waiting = status?.containerStatuses?.some(({ state }) => state?.waiting?.reason === 'ContainerCreating');
  return status?.phase === 'Pending' && status.startTime !== undefined && waiting === true;
}

export function areBeingStarted({ pods }: Pick<Children, 'pods'>): boolean {
  return pods.some(isBeingStarted);
}

/** `now` in milliseconds. */
export function isAnyHeldUp({ pods }: Pick<Children, 'pods'>, now: number): boolean {
  return pods.some((pod) => isBeingStarted(pod) && now - Date.parse(pod.status?.startTime ?? '') >= heldUpMs);
}
