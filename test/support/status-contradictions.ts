/**
 * What of a status contradicts itself: phase, conditions, generations and the plan's words are told from one judgement, so
 * no reader may find one of them saying what another denies. The conditions are read as kstatus reads them.
 *
 * Pure. `claimContradictions` holds for what an engine claims, `statusContradictions` for what stands in the API server.
 */
import type { Condition, DesiredCondition } from '../../src/api/condition.ts';
import type { ClusterStatus, Phase } from '../../src/api/status.ts';

export interface Claimed {
  readonly phase?: Phase | undefined;
  readonly conditions?: readonly DesiredCondition[];
}

/** What a phase says of the conditions; undefined: it says nothing. `ready: 'asFound'`: either. */
interface Meaning {
  readonly ready: 'True' | 'False' | 'asFound';
  readonly progressing?: boolean;
  readonly degraded?: boolean;
  readonly stalled: boolean | 'asFound';
}

const phases: Readonly<Record<Phase, Meaning>> = {
  Creating: { ready: 'False', progressing: true, degraded: false, stalled: false },
  Ready: { ready: 'True', progressing: false, degraded: false, stalled: false },
  Updating: { ready: 'False', progressing: true, degraded: false, stalled: false },
  Degraded: { ready: 'False', degraded: true, stalled: false },
  Blocked: { ready: 'False', progressing: false, stalled: true },
  // Nothing is changed, whatever is found.
  Paused: { ready: 'asFound', progressing: false, stalled: 'asFound' },
  Deleting: { ready: 'False', progressing: true, stalled: false },
  Invalid: { ready: 'False', progressing: false, stalled: true },
  Pending: { ready: 'False', progressing: true, degraded: false, stalled: false },
  Running: { ready: 'False', progressing: true, degraded: false, stalled: false },
  // It may hold less than the one before, which is worth a page.
  Verified: { ready: 'True', progressing: false, stalled: false },
  Failed: { ready: 'False', progressing: false, degraded: true, stalled: true },
  Active: { ready: 'True', progressing: false, stalled: false },
  Suspended: { ready: 'True', progressing: false, degraded: false, stalled: false },
};

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

/** These are there with every state; any other exists while it holds, and at no other time. */
const standing: readonly string[] = ['Ready', 'Progressing', 'Degraded'];

export function claimContradictions({ phase, conditions = [] }: Claimed): string[] {
  const types = conditions.map(({ type }) => type);
  const of = (type: string): DesiredCondition | undefined => conditions.find((condition) => condition.type === type);
  const holds = (type: string): boolean => of(type)?.status === 'True';
  const [isReady, isReconciling, isStalled] = [holds('Ready'), holds('Reconciling'), holds('Stalled')];
  const said: readonly (readonly [isWrong: boolean, words: string])[] = [
    [phase === undefined, 'there is no phase'],
    [of('Ready') === undefined, 'there is no condition Ready'],
    [new Set(types).size !== types.length, 'a condition is there twice'],
    [isReady && isReconciling, 'Ready and Reconciling'],
    [isReady && isStalled, 'Ready and Stalled'],
    [isReady && holds('Progressing'), 'Ready and Progressing'],
    [isReconciling && isStalled, 'Reconciling and Stalled'],
    [isReconciling !== holds('Progressing'), 'Progressing and Reconciling differ'],
    [isReconciling && !agree(of('Reconciling'), of('Progressing')), 'Progressing and Reconciling differ in words'],
  ];
  return [
    ...said.flatMap(([isWrong, words]) => (isWrong ? [words] : [])),
    ...conditions.flatMap(wordless),
    ...(phase === undefined ? [] : phaseContradictions(phase, of)),
  ];
}

function agree(some: DesiredCondition | undefined, other: DesiredCondition | undefined): boolean {
  return some?.reason === other?.reason && some?.message === other?.message;
}

function wordless({ type, status, reason, message }: DesiredCondition): string[] {
  return [
    ...(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason) ? [] : [`${type} has no reason`]),
    ...(message.trim() === '' ? [`${type} has no message`] : []),
    ...(!standing.includes(type) && status !== 'True' ? [`${type} is there and ${status}`] : []),
  ];
}

function phaseContradictions(phase: Phase, of: (type: string) => DesiredCondition | undefined): string[] {
  const meaning = phases[phase];
  const mismatch = (type: string, wanted: boolean | 'asFound' | undefined): string[] => {
    if (wanted === undefined || wanted === 'asFound') return [];
    const status = of(type)?.status;
    return (status === 'True') === wanted ? [] : [`phase ${phase} and ${type} ${status ?? 'absent'}`];
  };
  return [
    ...mismatch('Ready', meaning.ready === 'asFound' ? 'asFound' : meaning.ready === 'True'),
    ...mismatch('Progressing', meaning.progressing),
    ...mismatch('Degraded', meaning.degraded),
    ...mismatch('Stalled', meaning.stalled),
  ];
}

export interface ToldObject {
  readonly kind: string;
  readonly metadata: { readonly generation?: number | undefined };
  readonly status?: unknown;
}

export function statusContradictions({ kind, metadata, status }: ToldObject): string[] {
  const told = (status ?? {}) as ClusterStatus;
  if (Object.keys(told).length === 0) return [];
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
