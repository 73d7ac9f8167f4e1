import { expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import { persistentVolumeClaims, pods } from '../../src/api/resource.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import { acting } from '../../src/engines/etcd/plan/membership.ts';
import { type ActStep, blocked, type Outcome, type Step, settled, wait } from '../../src/plan/plan.ts';
import type { EventNote } from '../../src/runtime/event-recorder.ts';
import { outcomeEvents } from '../../src/runtime/outcome-events.ts';
import { testCluster, testEngine } from '../support/test-engine.ts';

function recorded(steps: readonly Step[], outcome: Outcome = settled, before?: ClusterStatus): string[] {
  const notes: EventNote[] = [];
  const tell = outcomeEvents({ record: (note) => void notes.push(note), drain: async () => undefined });
  tell(testEngine(), testCluster('db') as Cluster, before, { steps, outcome });
  return notes.map(({ reason, action, note }) => `${reason} ${action}: ${note}`);
}

const via = { pod: 'db-0', address: '10.0.0.1' };

it.each<readonly [story: string, step: ActStep, events: readonly string[]]>([
  [
    'a leader that hands over is told of',
    acting({ type: 'etcd.moveLeader', via, to: '2' }, 'make db-1 the leader', settled).steps[0] as ActStep,
    ['RoleMoves MoveLeader: make db-1 the leader'],
  ],
  [
    'a learner that gets its vote is no role that moves',
    acting({ type: 'etcd.promote', via, memberId: '2' }, 'give db-1 its vote', settled).steps[0] as ActStep,
    [],
  ],
  [
    'a planned failover is told of, by the word of its step',
    { type: 'act', action: { type: 'redis.handOver' }, summary: 'ask Sentinel for a failover', event: 'HandOver' },
    ['RoleMoves HandOver: ask Sentinel for a failover'],
  ],
])('%s', (_, step, events) => {
  expect(recorded([step])).toEqual(events);
});

it.each([
  ['a pod is told of', pods, ['Restart DeletePod: restart db-0: it is outdated']],
  ['a volume is not', persistentVolumeClaims, []],
] as const)('of what is deleted, %s', (_, resource, events) => {
  const ref = { resource, namespace: 'apps', name: 'db-0', uid: 'uid' };
  expect(recorded([{ type: 'delete', ref, reason: 'it is outdated' }])).toEqual(events);
});

it('a pod that is resized in place is told of, and what it gets', () => {
  const ref = { resource: pods, namespace: 'apps', name: 'db-0', uid: 'uid' };
  const changes = [{ path: 'spec.containers[redis].resources.limits.memory', from: '1Gi', to: '2Gi' }];
  expect(recorded([{ type: 'resize', ref, containers: [], changes }])).toEqual([
    'Resize ResizePod: resize db-0 in place: [redis].resources.limits.memory 2Gi',
  ]);
});

it.each<readonly [story: string, outcome: Outcome, before: ClusterStatus | undefined, events: readonly string[]]>([
  ['is told of', blocked('DataLost', 'it is gone'), undefined, ['DataLost Reconcile: it is gone']],
  ['is told of once', blocked('DataLost', 'it is gone'), { plan: { blockedBy: 'it is gone' } }, []],
  [
    'for another reason is told of again',
    blocked('DataLost', 'it is gone'),
    { plan: { blockedBy: 'a name is taken' } },
    ['DataLost Reconcile: it is gone'],
  ],
  ['is more than one that waits', wait('Joining', 'it catches up'), undefined, []],
])('a cluster that is blocked %s', (_, outcome, before, events) => {
  expect(recorded([], outcome, before)).toEqual(events);
});

it.each<readonly [story: string, before: ClusterStatus | undefined, events: readonly string[]]>([
  ['is told of', undefined, ['Replacing Reconcile: db-1 is replaced']],
  ['is told of once', { plan: { waitingFor: 'db-1 is replaced' } }, []],
  [
    'is told of after another one',
    { plan: { waitingFor: 'db-0 is replaced' } },
    ['Replacing Reconcile: db-1 is replaced'],
  ],
])('a member that is replaced %s', (_, before, events) => {
  expect(recorded([], wait('Replacing', 'db-1 is replaced'), before)).toEqual(events);
});
