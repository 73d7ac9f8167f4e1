/**
 * Whether the minor of the spec is the one that the data was last seen with, and nobody has come to run another since: a
 * rollout whose pods could not even start may be taken back, though nobody answers who could say what the data is fit for.
 *
 * The status alone opens nothing: each pod has to say that it has never had a process. Where both are wrong, etcd itself
 * refuses to start an earlier minor on data that a later one has taken over.
 */
import { cannotStart } from '../../../plan/rollout.ts';
import type { Pod } from '../../../resources/children.ts';
import { minorNumber, versionLabel } from '../kind/versions.ts';
import { answering } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';

/** `wanted`: a minor. False as soon as a majority answers: it is asked then. */
export function noOtherMinorStarted({ cluster, members, observed, pods, sets }: Situation, wanted: number): boolean {
  if (members !== undefined || minorNumber(cluster.status?.version) !== wanted) return false;
  const isWanted = (version: string | undefined): boolean => minorNumber(version) === wanted;
  return (
    answering(observed.members).every(({ version }) => version === '' || isWanted(version)) &&
    [...sets].every(([index, { spec }]) => {
      const pod = pods.get(index);
      if (pod === undefined) return isWanted(spec?.template?.metadata?.labels?.[versionLabel]);
      return isWanted(pod.metadata.labels?.[versionLabel]) || hasNeverRun(pod);
    })
  );
}

/** Nor is Kubernetes about to start it. */
function hasNeverRun(pod: Pod): boolean {
  const containers = pod.status?.containerStatuses ?? [];
  return (
    cannotStart(pod) &&
    containers.every(
      ({ restartCount = 0, state, lastState }) =>
        state?.waiting !== undefined && restartCount === 0 && lastState?.terminated === undefined,
    )
  );
}
