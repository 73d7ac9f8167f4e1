/**
 * Why a pod's process cannot be there, as far as Kubernetes tells. The words stand in a status, so they hold nothing that
 * changes while the trouble stays the same, and nothing that a process has said: its last words may quote a password.
 */
import type { ContainerStatus, Pod } from '../resources/children.ts';

const pulling: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
]);
const underway: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/** Kubernetes is on its way with such a container, and may get there. */
export function isUnderway(reason: string): boolean {
  return underway.has(reason);
}

/** Undefined where its process runs, or is on its way. */
export function podProblem({ metadata: { name, deletionTimestamp }, status }: Pod): string | undefined {
  if (deletionTimestamp !== undefined) return `${name} is terminating`;
  const unschedulable = status?.conditions?.find((c) => c.type === 'PodScheduled' && c.status === 'False');
  if (unschedulable !== undefined) return `${name} cannot be scheduled: ${unschedulable.message ?? ''}`;
  const first = (containers: readonly ContainerStatus[] = []): readonly [ContainerStatus, string] | undefined =>
    containers.flatMap((container): [ContainerStatus, string][] => {
      const words = wordsOf(container);
      return words === undefined ? [] : [[container, words]];
    })[0];
  const own = first(status?.containerStatuses);
  if (own !== undefined) return `${name} ${own[1]}`;
  // It is not the database that fails, but one that starts before it or runs beside it.
  const other = first(status?.initContainerStatuses);
  return other === undefined ? undefined : `${name}: container ${other[0].name} ${other[1]}`;
}

function wordsOf({ image = '', state, lastState }: ContainerStatus): string | undefined {
  const { reason, message } = state?.waiting ?? {};
  if (reason === undefined || isUnderway(reason)) return undefined;
  if (pulling.has(reason)) return `has no image: ${image} cannot be pulled`;
  if (reason !== 'CrashLoopBackOff')
    return `cannot be started: ${reason}${message === undefined ? '' : `: ${message}`}`;
  const { exitCode } = lastState?.terminated ?? {};
  return `ends again and again${exitCode === undefined ? '' : ` with code ${exitCode}`}`;
}
