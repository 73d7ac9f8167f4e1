/**
 * The way out of a majority that is lost for good: the cluster goes on with one member's data, and forgets the others
 * (safety rule E8).
 *
 * What only the others had is lost, so nobody but a person decides it, by an annotation that names the survivor and that
 * counts once (`recovery-request.ts`). The others are stopped before, and their volumes are kept, so that there are never
 * two clusters. While a majority answers there is nothing to recover, and the request is dropped. From the moment on in
 * which it is carried out it stands in the roster, so that whoever comes after a crash goes on with it.
 */

import { pods as podResource, statefulSets } from '../../../api/resource.ts';
import { type ObjectStep, wait } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import { etcdKind } from '../kind/schema.ts';
import { podName, recoverAnnotation } from '../names.ts';
import { answering } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { type Roster, resuming } from '../resources/roster.ts';
import { isGoing } from './going-volumes.ts';
import type { EtcdPlan } from './membership.ts';
import { judged, offers, type Verdict } from './recovery-request.ts';
import { retiredMark } from './volumes.ts';

const recheckMs = 1000;
/** A member that starts alone leads itself within an election. One that does not was started before it was told. */
const startMs = 20_000;

export interface Recovery {
  readonly state: 'granted';
  readonly roster: Roster;
  /** Before the objects. */
  readonly marks: readonly ObjectStep[];
  readonly plan: EtcdPlan;
}

/** Undefined where nobody has asked, or where a majority answers. `message`: why a request is not carried out, or not yet. */
export function recoveryOf(
  situation: Situation,
): Recovery | { readonly state: 'refused' | 'early'; readonly message: string } | undefined {
  const { cluster, members, roster, sets, claims, pods } = situation;
  const asked = cluster.metadata.annotations?.[recoverAnnotation];
  if (asked === undefined || members !== undefined) return undefined;
  const verdict = accepted(roster, asked) ?? judged(situation, asked);
  if (verdict.state !== 'granted') return verdict;
  const { survivor } = verdict;
  const named = podName(cluster.metadata.name, survivor);
  if (isGoing(situation, survivor)) {
    const why = `names ${named}, which has to start anew, and whose volume goes with its pod`;
    return { state: 'refused', message: `${recoverAnnotation} ${why}${offers(situation)}` };
  }
  const start = { ...resuming(cluster, survivor), request: asked };
  const otherSets = [...sets].filter(([index]) => index !== survivor);
  const otherPods = [...pods.keys()].filter((index) => index !== survivor);
  if (otherSets.length + otherPods.length > 0) {
    const stops = otherSets.flatMap(([, set]): ObjectStep[] => {
      const ref = refOf(set, statefulSets);
      const reason = `the cluster goes on with the data of ${named} alone`;
      return ref === undefined || set.metadata.deletionTimestamp !== undefined ? [] : [{ type: 'delete', ref, reason }];
    });
    return {
      state: 'granted',
      roster: new Map([[survivor, start]]),
      marks: [...claims].filter(([index]) => index !== survivor).flatMap(([, claim]) => retiredMark(claim)),
      plan: { steps: stops, outcome: wait('Recovering', `the members besides ${named} are stopped first`, recheckMs) },
    };
  }
  return {
    state: 'granted',
    roster: new Map([[survivor, { ...start, forceNewCluster: true }]]),
    marks: [],
    plan: {
      steps: restartFor(situation, survivor),
      outcome: wait('Recovering', `${named} goes on alone`, recheckMs),
    },
  };
}

/** It has begun: the roster names no one else, and says for which request. The survivor may be starting anew by now. */
function accepted(roster: Roster, asked: string): Verdict | undefined {
  const [entry, ...others] = [...roster];
  if (entry === undefined || others.length > 0 || entry[1].request !== asked) return undefined;
  return { state: 'granted', survivor: entry[0] };
}

/** The process takes what the roster says when it starts. */
function restartFor({ cluster, roster, pods, observed }: Situation, survivor: number): ObjectStep[] {
  const pod = pods.get(survivor);
  const ref = pod === undefined ? undefined : refOf(pod, podResource);
  if (pod === undefined || ref === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
  const started = pod.status?.startTime;
  const isOld = started !== undefined && observed.at - Date.parse(started) > startMs;
  const isStuck = isOld && answering(observed.members).some(({ pod: name }) => name === pod.metadata.name);
  if (roster.get(survivor)?.forceNewCluster === true && !isStuck) return [];
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
