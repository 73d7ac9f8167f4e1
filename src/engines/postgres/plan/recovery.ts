/**
 * The way out where Patroni promotes nobody, or cannot: the cluster goes on with the data of one member, which a person has named, and
 * replaces the others.
 *
 * What only the others had is lost to the cluster. So they are stopped before, and their volumes are kept: there are never two primaries,
 * and nothing is rewound that somebody may still want to read. From the moment in which it is carried out, the request is in the roster,
 * so that the operator continues with it after a crash. As soon as there is a primary, the request is dropped.
 */
import { statefulSets } from '../../../api/resource.ts';
import type { ObjectStep, Step } from '../../../plan/plan.ts';
import { wait } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import type { PostgresAction } from '../action.ts';
import { postgresKind } from '../kind/schema.ts';
import { recoverAnnotation } from '../names.ts';
import { podOf, type Situation } from '../observe/situation.ts';
import type { Roster } from '../resources/roster.ts';
import { isAbandoned } from './failed-member.ts';
import type { PostgresPlan } from './postgres-plan.ts';
import { judged, type Verdict } from './recovery-request.ts';
import { asked, recheckMs } from './restart.ts';
import { retiredMarks } from './volumes.ts';

export interface Recovery extends PostgresPlan {
  readonly state: 'granted';
  readonly survivor: string;
  /** Nobody else runs any more. */
  readonly isAlone: boolean;
  readonly request: string;
  readonly roster: Roster;
}

/** Undefined where nobody has asked, or where there is a primary. `message`: why a request is not carried out, or not yet. */
export function recoveryOf(
  situation: Situation,
): Recovery | { readonly state: 'refused' | 'early'; readonly message: string } | undefined {
  const { cluster, primary, sets, pods, claims, walClaims, live } = situation;
  const request = cluster.metadata.annotations?.[recoverAnnotation];
  if (request === undefined || primary !== undefined) return undefined;
  const verdict = accepted(situation, request) ?? judged(situation, request);
  if (verdict.state !== 'granted') return verdict;
  const { survivor } = verdict;
  const name = podOf(situation, survivor);
  const others = [...new Set([...sets.keys(), ...pods.keys()])].filter(
    (index) => index !== survivor && (sets.has(index) || !isAbandoned(situation, pods.get(index))),
  );
  const roster: Roster = new Map([[survivor, 'resume']]);
  const granted = { state: 'granted', survivor: name, request, roster, isAlone: others.length === 0 } as const;
  if (others.length > 0) {
    const stops = [...sets].flatMap(([index, set]): ObjectStep[] => {
      const ref = index === survivor ? undefined : refOf(set, statefulSets);
      const reason = `the cluster goes on with the data of ${name} alone`;
      return ref === undefined || set.metadata.deletionTimestamp !== undefined ? [] : [{ type: 'delete', ref, reason }];
    });
    const owners = new Set([...claims.keys(), ...walClaims.keys()]);
    const marks = [...owners].flatMap((index) => (index === survivor ? [] : retiredMarks(situation, index)));
    return {
      ...granted,
      steps: [...marks, ...stops],
      outcome: wait('Recovering', `the members besides ${name} are stopped first`, recheckMs),
    };
  }
  const member = live.get(survivor);
  const steps: Step<PostgresAction>[] =
    member === undefined
      ? []
      : [
          {
            type: 'act',
            action: { type: 'postgres.failover', member: asked(member) },
            summary: `make ${name} the primary, as ${recoverAnnotation} says`,
            event: 'Recovering',
            destructive: true,
          },
        ];
  return { ...granted, steps, outcome: wait('Recovering', `${name} becomes primary`, recheckMs) };
}

/** It has begun: the roster says for which request, and names nobody else. */
function accepted({ roster, request }: Situation, wanted: string): Verdict | undefined {
  const [survivor, ...others] = roster.keys();
  return survivor !== undefined && others.length === 0 && request === wanted
    ? { state: 'granted', survivor }
    : undefined;
}

/** A request counts once. */
export function dropAnnotation({ cluster }: Situation, annotation: string): ObjectStep[] {
  const from = cluster.metadata.annotations?.[annotation];
  const ref = refOf(cluster, postgresKind.resource);
  if (from === undefined || ref === undefined) return [];
  return [
    {
      type: 'patch',
      ref,
      patch: { metadata: { annotations: { [annotation]: null } } },
      changes: [{ path: `metadata.annotations[${annotation}]`, from }],
    },
  ];
}
