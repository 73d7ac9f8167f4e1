/**
 * The way out of a majority that is lost for good: the cluster goes on with one member's data, and forgets the others
 * (safety rule E8).
 *
 * What only the others had is lost, so nobody but a person decides it, by an annotation that names the survivor and that
 * counts once. The others are stopped before, and their volumes are kept, so that there are never two clusters. While a
 * majority answers there is nothing to recover, and the request is dropped.
 */
import { etcdKind } from '../../api/etcd.ts';
import { pods as podResource, statefulSets } from '../../api/resource.ts';
import { blocked, type ObjectStep, wait } from '../../plan/plan.ts';
import { refOf } from '../../plan/ref.ts';
import type { EtcdPlan } from './membership.ts';
import { podName, recoverAnnotation } from './names.ts';
import { answering } from './observed.ts';
import { type Roster, resuming } from './roster.ts';
import { heldBy, type Situation } from './situation.ts';
import { retiredMark } from './volumes.ts';

const recheckMs = 1000;
/** A member that starts alone leads itself within an election. One that does not was started before it was told. */
const startMs = 20_000;

export interface Recovery {
  readonly roster: Roster;
  /** Before the objects. */
  readonly marks: readonly ObjectStep[];
  readonly plan: EtcdPlan;
}

/** Undefined where nobody has asked, or where a majority answers. */
export function recoveryOf(situation: Situation): Recovery | undefined {
  const { cluster, members, roster, sets, claims, pods } = situation;
  const named = cluster.metadata.annotations?.[recoverAnnotation];
  if (named === undefined || members !== undefined) return undefined;
  const survivor = [...roster.keys()].find((index) => podName(cluster.metadata.name, index) === named);
  if (survivor === undefined || heldBy(claims.get(survivor)) === undefined) {
    const message = `${recoverAnnotation} names ${named}, which is no member whose volume holds data of this cluster`;
    return { roster, marks: [], plan: { steps: [], outcome: blocked('RecoveryRefused', message) } };
  }
  const start = resuming(cluster, survivor);
  const otherSets = [...sets].filter(([index]) => index !== survivor);
  const otherPods = [...pods.keys()].filter((index) => index !== survivor);
  if (otherSets.length + otherPods.length > 0) {
    const stops = otherSets.flatMap(([, set]): ObjectStep[] => {
      const ref = refOf(set, statefulSets);
      const reason = `the cluster goes on with the data of ${named} alone`;
      return ref === undefined || set.metadata.deletionTimestamp !== undefined ? [] : [{ type: 'delete', ref, reason }];
    });
    return {
      roster: new Map([[survivor, start]]),
      marks: [...claims].filter(([index]) => index !== survivor).flatMap(([, claim]) => retiredMark(claim)),
      plan: { steps: stops, outcome: wait('Recovering', `the members besides ${named} are stopped first`, recheckMs) },
    };
  }
  return {
    roster: new Map([[survivor, { ...start, alone: true }]]),
    marks: [],
    plan: {
      steps: restartFor(situation, survivor),
      outcome: wait('Recovering', `${named} goes on alone`, recheckMs),
    },
  };
}

/** The process takes what the roster says when it starts. */
function restartFor({ cluster, roster, pods, observed }: Situation, survivor: number): ObjectStep[] {
  const pod = pods.get(survivor);
  const ref = pod === undefined ? undefined : refOf(pod, podResource);
  if (pod === undefined || ref === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
  const started = pod.status?.startTime;
  const isOld = started !== undefined && observed.at - Date.parse(started) > startMs;
  const isStuck = isOld && answering(observed.members).some(({ pod: name }) => name === pod.metadata.name);
  if (roster.get(survivor)?.alone === true && !isStuck) return [];
  return [{ type: 'delete', ref, reason: `${podName(cluster.metadata.name, survivor)} is to go on alone` }];
}

/** A request counts once: left standing, it would be carried out again the next time. */
export function requestSteps({ cluster, members }: Situation): ObjectStep[] {
  const from = cluster.metadata.annotations?.[recoverAnnotation];
  const ref = refOf(cluster, etcdKind.resource);
  if (from === undefined || members === undefined || ref === undefined) return [];
  return [
    {
      type: 'patch',
      ref,
      patch: { metadata: { annotations: { [recoverAnnotation]: null } } },
      changes: [{ path: `metadata.annotations[${recoverAnnotation}]`, from }],
    },
  ];
}
