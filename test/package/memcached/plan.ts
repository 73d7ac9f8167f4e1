/** What a cache needs next: objects first, then one restart at a time. A pod that is lost comes back empty, as caches do. */
import {
  type Children,
  type Cluster,
  desiredConditions,
  type EngineAction,
  isGenerationObserved,
  nextToRestart,
  objectSteps,
  outdatedPods,
  type Plan,
  podIsReady,
  podProblem,
  restartSteps,
  type StatusReport,
  selectorLabels,
  settled,
  stuckPod,
  wait,
} from 'clusterwright/engine';
import type { MemcachedSpec } from './kind.js';
import type { MemcachedObserved } from './observe.js';
import { part, port, resources } from './resources.js';

/** It has none: whatever changes, changes by its objects. */
export type MemcachedAction = EngineAction & { readonly type: never };

type MemcachedPlan = Plan<MemcachedAction>;

/** One pass's findings, for the plan and for the status. */
export interface MemcachedSituation {
  readonly cluster: Cluster<MemcachedSpec>;
  readonly children: Children;
  readonly observed: MemcachedObserved;
}

export function plan({ cluster, children, observed: { versions } }: MemcachedSituation): MemcachedPlan {
  const steps = objectSteps(resources(cluster), children);
  const set = children.statefulSet(cluster.metadata.name);
  if (steps.length > 0 || !isGenerationObserved(set))
    return { steps, outcome: wait('Applying', 'objects are brought in line') };
  const stuck = stuckPod(set, children.pods, () => true);
  if (stuck !== undefined) return restarting(stuck.metadata.name, restartSteps(stuck));
  const trouble = children.pods.map(podProblem).find((words) => words !== undefined);
  if (trouble !== undefined) return { steps: [], outcome: wait('PodNotReady', trouble) };
  const well = children.pods.filter((pod) => podIsReady(pod) && versions[pod.metadata.name] !== undefined);
  const { replicas } = cluster.spec;
  if (well.length < replicas || children.pods.length > replicas) {
    return { steps: [], outcome: wait('PodsNotReady', `${well.length} of ${replicas} pods answer`, 1_000) };
  }
  const next = nextToRestart(outdatedPods(set, children.pods), () => false);
  return next === undefined ? { steps: [], outcome: settled } : restarting(next.metadata.name, restartSteps(next));
}

function restarting(pod: string, steps: MemcachedPlan['steps']): MemcachedPlan {
  return { steps, outcome: wait('Restarting', `${pod} restarts with the new template`) };
}

export function status(
  { cluster, children: { pods }, observed: { versions } }: MemcachedSituation,
  { outcome }: MemcachedPlan,
): StatusReport {
  const { metadata, spec, status: before } = cluster;
  const ready = pods.filter(podIsReady);
  const isReady = ready.length >= spec.replicas && (outcome.state === 'settled' || outcome.reason === 'Restarting');
  const initialized = before?.initialized === true || isReady;
  const { reason, message } = outcome.state === 'settled' ? { reason: 'Ready', message: 'every pod answers' } : outcome;
  const phase = isReady ? (outcome.state === 'settled' ? 'Ready' : 'Updating') : initialized ? 'Degraded' : 'Creating';
  const judged = { progressing: outcome.state === 'wait', degraded: phase === 'Degraded' };
  return {
    phase,
    conditions: desiredConditions(isReady ? 'True' : 'False', reason, message, judged),
    replicas: pods.length,
    readyReplicas: ready.length,
    selector: Object.entries(selectorLabels(cluster, part(spec.version)))
      .map((pair) => pair.join('='))
      .join(','),
    version: spec.version,
    members: pods.map((pod) => ({
      name: pod.metadata.name,
      role: 'cache',
      ready: podIsReady(pod),
      ...(versions[pod.metadata.name] === undefined ? {} : { version: versions[pod.metadata.name] ?? '' }),
    })),
    connection: { services: [{ role: 'cache', host: metadata.name, port }] },
    ...(initialized ? { initialized } : {}),
  };
}
