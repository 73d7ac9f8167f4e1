/**
 * What contradicts itself in a status as it stands in the API server: phase, conditions, generations and the plan's words.
 * `claimContradictions` says it of what an engine claims.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '../../src/api/condition.ts';
import { unobservedStatus } from '../../src/api/observed-generation.ts';
import type { ClusterStatus, Phase } from '../../src/api/status.ts';
import { claimContradictions } from '../../src/testing/claim-contradictions.ts';
import { kstatusContradictions } from './kstatus.ts';

/** They are over for good: nothing comes after them. */
const final: readonly Phase[] = ['Verified', 'Failed'];

const ofClusters: readonly Phase[] = [
  'Creating',
  'Ready',
  'Updating',
  'Degraded',
  'Blocked',
  'Paused',
  'Deleting',
  'Invalid',
];
const phasesOf: Readonly<Record<string, readonly Phase[]>> = {
  RedisCluster: ofClusters,
  EtcdCluster: ofClusters,
  Backup: ['Pending', 'Running', 'Verified', 'Failed', 'Invalid', 'Blocked'],
  BackupSchedule: ['Active', 'Suspended', 'Degraded', 'Invalid', 'Blocked'],
};

export interface ToldObject {
  readonly kind: string;
  readonly metadata: { readonly generation?: number | undefined };
  readonly status?: unknown;
}

export function statusContradictions({ kind, metadata, status }: ToldObject): string[] {
  const told = (status ?? {}) as ClusterStatus;
  // What the API server shows before an operator has written anything.
  if (isDeepStrictEqual(told, {}) || isDeepStrictEqual(told, unobservedStatus)) return [];
  const { phase, conditions = [], plan = {}, observedGeneration } = told;
  const { generation = observedGeneration ?? 0 } = metadata;
  const isStalled = conditions.some(({ type, status: state }) => type === 'Stalled' && state === 'True');
  const said: readonly (readonly [isWrong: boolean, words: string])[] = [
    [phase !== undefined && phasesOf[kind]?.includes(phase) === false, `phase ${phase} of a ${kind}`],
    [observedGeneration === undefined, 'there is no observedGeneration'],
    [
      (observedGeneration ?? 0) > generation,
      `generation ${observedGeneration} is observed, and there is ${generation}`,
    ],
    [plan.blockedBy !== undefined && plan.waitingFor !== undefined, 'the plan waits and is blocked'],
    [plan.blockedBy !== undefined && !isStalled, 'the plan is blocked, and nothing is Stalled'],
    [phase === 'Blocked' && plan.blockedBy === undefined, 'phase Blocked, and the plan is not'],
    [phase === 'Ready' && plan.blockedBy !== undefined, 'phase Ready, and the plan is blocked'],
    [
      plan.blockedBy !== undefined && !conditions.some(({ message }) => message === plan.blockedBy),
      'no condition says what the plan is blocked by',
    ],
    [phase !== undefined && final.includes(phase) && Object.keys(plan).length > 0, `phase ${phase}, and a plan`],
  ];
  return [
    ...claimContradictions(told),
    ...kstatusContradictions(told),
    ...said.flatMap(([isWrong, words]) => (isWrong ? [words] : [])),
    ...conditions.flatMap((condition) => untimely(condition, observedGeneration)),
  ];
}

function untimely({ type, observedGeneration, lastTransitionTime }: Condition, observed: number | undefined): string[] {
  return [
    ...(observedGeneration === observed ? [] : [`${type} is of generation ${observedGeneration}, not of ${observed}`]),
    ...(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(lastTransitionTime) ? [] : [`${type} has no time`]),
  ];
}
