/** Whatever an engine claims and whatever befalls its steps: what is written does not contradict itself. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import { type DesiredCondition, mergeConditions } from '../../src/api/condition.ts';
import type { ClusterStatus, Phase } from '../../src/api/status.ts';
import { desiredConditions, type Judged } from '../../src/engine/desired-conditions.ts';
import type { StatusReport } from '../../src/engine/engine.ts';
import { blocked, type Outcome, settled, wait } from '../../src/plan/plan.ts';
import { StepFailed } from '../../src/runtime/executor.ts';
import { NameConflict } from '../../src/runtime/name-conflict.ts';
import { endingStatus, failedStatus, pausedStatus, plainStatus, planStatus } from '../../src/runtime/pass-status.ts';
import { statusContradictions } from '../support/status-contradictions.ts';
import { coherent } from '../support/truthful-engine.ts';

const act = { type: 'act', action: { type: 'test.act' }, summary: 'ask for something' } as const;
const waits = wait('Repairing', 'members are brought in line');
const stuck = blocked('DataLost', 'every volume is gone');

/** What engines claim, with the outcome that they claim it of. */
const claims: readonly (readonly [kind: string, phase: Phase, judged: Judged, outcome: Outcome])[] = [
  ['RedisCluster', 'Creating', { progressing: true }, waits],
  ['RedisCluster', 'Ready', {}, settled],
  ['RedisCluster', 'Ready', {}, waits],
  ['EtcdCluster', 'Updating', { progressing: true }, waits],
  ['EtcdCluster', 'Degraded', { progressing: true, degraded: true }, waits],
  ['EtcdCluster', 'Blocked', { degraded: true, stalled: true }, stuck],
  ['RedisCluster', 'Blocked', { stalled: true }, stuck],
  ['Backup', 'Pending', { progressing: true }, waits],
  ['Backup', 'Running', { progressing: true }, waits],
  ['BackupSchedule', 'Active', {}, settled],
  ['BackupSchedule', 'Suspended', {}, settled],
  ['BackupSchedule', 'Degraded', { degraded: true }, waits],
];

function claimOf(phase: Phase, judged: Judged, outcome: Outcome): StatusReport {
  const ready = ['Ready', 'Active', 'Suspended'].includes(phase) ? 'True' : 'False';
  const { reason, message } =
    outcome.state === 'settled' ? { reason: 'AllMembersReady', message: 'all is well' } : outcome;
  return { phase, conditions: desiredConditions(ready, reason, message, judged) };
}

const before = fc.record(
  {
    phase: fc.constantFrom<Phase>('Creating', 'Ready', 'Updating', 'Degraded', 'Blocked', 'Paused'),
    observedGeneration: fc.constantFrom(1, 2),
  },
  { requiredKeys: [] },
);
const failure = fc.constantFrom<unknown>(
  new StepFailed(act, new Error('NOPERM')),
  new NameConflict('Service db exists and belongs to somebody else'),
  new TypeError('undefined is not a function'),
);

function clusterOf(kind: string, status: ClusterStatus): Cluster {
  const metadata = { name: 'db', namespace: 'apps', uid: 'uid', generation: 2 };
  return { apiVersion: 'clusterwright.dev/v1alpha1', kind, metadata, spec: {}, status };
}

/** As the status writer puts it together. */
function written(cluster: Cluster, { conditions, ...rest }: StatusReport, plan: ClusterStatus['plan']): Cluster {
  const merged = mergeConditions(cluster.status?.conditions ?? [], conditions, 2, '2030-01-01T00:00:00Z');
  const status = { ...rest, observedGeneration: 2, conditions: merged };
  return { ...cluster, status: plan === undefined ? status : { ...status, plan } };
}

describe('a status does not contradict itself', () => {
  it.each(claims)('%s %s: the claim as such', (kind, phase, judged, outcome) => {
    const claim = coherent(claimOf(phase, judged, outcome));
    expect(statusContradictions(written(clusterOf(kind, {}), claim, planStatus({ steps: [], outcome })))).toEqual([]);
  });

  it.each(claims)('%s %s: a step fails', (kind, phase, judged, outcome) => {
    fc.assert(
      fc.property(before, failure, (status, error) => {
        const cluster = clusterOf(kind, status);
        const isConflict = error instanceof NameConflict;
        const said = planStatus(
          isConflict ? { steps: [], outcome: blocked('NameConflict', error.message) } : { steps: [act], outcome },
        );
        const failed = failedStatus(cluster, claimOf(phase, judged, outcome), error);
        expect(statusContradictions(written(cluster, failed, said))).toEqual([]);
        expect(failed.conditions.find(({ type }) => type === 'Ready')?.status).toBe('False');
      }),
    );
  });

  it.each(claims.filter(([kind]) => kind.endsWith('Cluster')))(
    '%s %s: it is paused',
    (kind, phase, judged, outcome) => {
      const paused = wait('Paused', 'spec.paused is true: nothing is changed');
      const cluster = clusterOf(kind, {});
      const claim = pausedStatus(claimOf(phase, judged, outcome), paused);
      expect(statusContradictions(written(cluster, claim, planStatus({ steps: [], outcome: paused })))).toEqual([]);
    },
  );

  it.each(['RedisCluster', 'EtcdCluster', 'Backup', 'BackupSchedule'])('%s: it is not valid', (kind) => {
    const cluster = clusterOf(kind, { phase: 'Ready' });
    const claim = plainStatus(cluster, 'Invalid', { state: 'blocked', reason: 'InvalidSpec', message: 'spec: no' });
    expect(statusContradictions(written(cluster, claim, undefined))).toEqual([]);
  });

  it.each([
    waits,
    settled,
    wait('LastBackupFailed', 'the last backup failed'),
    wait('LastBackupHeldUp', 'no member is ready'),
  ])('it is on its way out: %j', (outcome) => {
    fc.assert(
      fc.property(before, fc.option(failure), (status, error) => {
        const cluster = clusterOf('RedisCluster', status);
        const ending = endingStatus(cluster, outcome);
        const isConflict = error instanceof NameConflict;
        const said = isConflict ? blocked('NameConflict', error.message) : outcome;
        const claim = error === null ? ending : failedStatus(cluster, ending, error);
        expect(statusContradictions(written(cluster, claim, planStatus({ steps: [], outcome: said })))).toEqual([]);
      }),
    );
  });
});

describe('what is written', () => {
  it.each<readonly [story: string, plan: Parameters<typeof planStatus>[0], status: ClusterStatus['plan']]>([
    ['names the next step', { steps: [act, act], outcome: settled }, { next: 'ask for something' }],
    ['names what is waited for', { steps: [], outcome: waits }, { waitingFor: 'members are brought in line' }],
    ['names what is in the way', { steps: [], outcome: stuck }, { blockedBy: 'every volume is gone' }],
    ['names nothing', { steps: [], outcome: settled }, {}],
  ])('of a plan %s', (_, plan, status) => expect(planStatus(plan)).toStrictEqual(status));

  const shown = ({ phase, conditions }: StatusReport): readonly string[] => [
    String(phase),
    ...conditions.flatMap(({ type, status, reason }) => (status === 'True' ? [`${type} ${reason}`] : [])),
  ];
  const failed = new StepFailed(act, new Error('NOPERM'));
  const failing = (status: ClusterStatus, phase: Phase, judged: Judged, outcome: Outcome): readonly string[] =>
    shown(failedStatus(clusterOf('RedisCluster', status), claimOf(phase, judged, outcome), failed));
  type Failure = readonly [
    story: string,
    status: ClusterStatus,
    claim: readonly [Phase, Judged, Outcome],
    shown: readonly string[],
  ];
  const updating = ['Updating', 'Progressing StepFailed', 'Reconciling StepFailed'];
  it.each<Failure>([
    [
      'that nobody has changed is degraded',
      { phase: 'Ready', observedGeneration: 2 },
      ['Ready', {}, settled],
      ['Degraded', 'Progressing StepFailed', 'Degraded StepFailed', 'Reconciling StepFailed'],
    ],
    ['whose spec has changed is updated', { phase: 'Ready', observedGeneration: 1 }, ['Ready', {}, settled], updating],
    ['that is being updated still is', { phase: 'Updating', observedGeneration: 2 }, ['Ready', {}, settled], updating],
    [
      'whose runs are missed is degraded',
      { phase: 'Active', observedGeneration: 2 },
      ['Active', {}, settled],
      ['Degraded', 'Degraded StepFailed'],
    ],
    [
      'that is stuck says so, and not that a step has failed',
      {},
      ['Blocked', { stalled: true, degraded: true }, stuck],
      ['Blocked', 'Degraded DataLost', 'Stalled DataLost'],
    ],
    [
      'that is being made is, and is degraded for what it was',
      {},
      ['Degraded', { progressing: true, degraded: true }, waits],
      ['Degraded', 'Progressing StepFailed', 'Degraded Repairing', 'Reconciling StepFailed'],
    ],
  ])('of a step that fails, a cluster %s', (_, status, claim, expected) => {
    expect(failing(status, ...claim)).toEqual(expected);
  });

  it('of a step that fails keeps what else is said, once', () => {
    const other: DesiredCondition = { type: 'DiskFull', status: 'True', reason: 'X', message: 'x' };
    const claim = claimOf('Ready', {}, settled);
    const both = { ...claim, conditions: [...claim.conditions, other] };
    for (const error of [failed, new NameConflict('Service db exists')]) {
      const types = failedStatus(clusterOf('RedisCluster', {}), both, error).conditions.map(({ type }) => type);
      expect(types).toContain('DiskFull');
      expect(new Set(types).size).toBe(types.length);
    }
  });

  it.each<readonly [story: string, outcome: Outcome, isDegraded: boolean]>([
    ['is taken', wait('LastBackup', 'x'), false],
    ['has failed', wait('LastBackupFailed', 'x'), true],
    ['is held up', wait('LastBackupHeldUp', 'x'), true],
    ['holds suddenly little', wait('LastBackupSuddenLoss', 'x'), true],
    ['cannot be begun', blocked('ClaimInUse', 'x'), true],
    ['is over', settled, false],
  ])('of a cluster on its way out whose last backup %s', (_, outcome, isDegraded) => {
    const ending = endingStatus(clusterOf('RedisCluster', { phase: 'Ready', initialized: true }), outcome);
    expect(ending).toMatchObject({ phase: 'Deleting', initialized: true });
    expect(ending.conditions.find(({ type }) => type === 'Degraded')?.status).toBe(isDegraded ? 'True' : 'False');
  });

  it.each<readonly [story: string, outcome: Outcome, reason: string]>([
    ['is waited for', wait('Resuming', 'x'), 'Resuming'],
    ['is well', settled, 'Paused'],
  ])('of a paused cluster where something %s', (_, outcome, reason) => {
    const { phase, conditions } = pausedStatus(claimOf('Updating', { progressing: true }, waits), outcome);
    expect(phase).toBe('Paused');
    expect(conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
      'Ready False Repairing',
      `Progressing False ${reason}`,
      'Degraded False Repairing',
    ]);
  });
});
