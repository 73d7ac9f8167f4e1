/** Restarts of what stands beside the members: pods that keep nothing. */
import type { ObjectStep } from '../../../plan/plan.ts';
import { isGenerationObserved, outdatedPods, restartSteps } from '../../../plan/rollout.ts';
import { type Pod, podIsReady } from '../../../resources/children.ts';
import { componentLabel } from '../../../resources/metadata.ts';
import { exporterComponent, exporterName, postgresNames } from '../names.ts';
import { poolerPods } from '../observe/poolers.ts';
import type { Situation } from '../observe/situation.ts';

export function besideSteps(situation: Situation): ObjectStep[] {
  return [...poolerRestart(situation), ...exporterRestarts(situation)];
}

/** Whether any of them has yet to restart with its present template. */
export function isBesideOutdated({ cluster, children, roster }: Situation): boolean {
  const { name } = cluster.metadata;
  const sets = [postgresNames(name).pooler, ...[...roster.keys()].map((index) => exporterName(name, index))];
  return sets.some((set) => {
    const pods = children.pods.filter(({ metadata }) => metadata.name.startsWith(`${set}-`));
    const found = children.statefulSet(set);
    return found !== undefined && (!isGenerationObserved(found) || outdatedPods(found, pods).length > 0);
  });
}

/** One pod at a time, so that clients find another one. One that serves nobody goes at once. */
function poolerRestart({ cluster, children }: Situation): ObjectStep[] {
  const pods = poolerPods(cluster, children);
  const outdated = outdatedPods(children.statefulSet(postgresNames(cluster.metadata.name).pooler), pods);
  const idle = outdated.find((pod) => !podIsReady(pod));
  const next = idle ?? (pods.every(isServing) ? outdated[0] : undefined);
  return next === undefined ? [] : restartSteps(next);
}

function isServing(pod: Pod): boolean {
  return podIsReady(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** All at once: nobody waits for a metric. */
function exporterRestarts({ cluster, children, roster }: Situation): ObjectStep[] {
  const { name } = cluster.metadata;
  const pods = children.pods.filter(({ metadata }) => metadata.labels?.[componentLabel] === exporterComponent);
  return [...roster.keys()].flatMap((index) => {
    const set = exporterName(name, index);
    const own = pods.filter(({ metadata }) => metadata.name === `${set}-0`);
    return outdatedPods(children.statefulSet(set), own).flatMap(restartSteps);
  });
}
