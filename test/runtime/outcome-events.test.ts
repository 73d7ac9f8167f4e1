import { expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import { acting } from '../../src/engines/etcd/membership.ts';
import { type ActStep, settled } from '../../src/plan/plan.ts';
import type { EventNote } from '../../src/runtime/event-recorder.ts';
import { outcomeEvents } from '../../src/runtime/outcome-events.ts';
import { testCluster, testEngine } from '../support/test-engine.ts';

function recorded(steps: readonly ActStep[]): string[] {
  const notes: EventNote[] = [];
  const tell = outcomeEvents({ record: (note) => void notes.push(note), drain: async () => undefined });
  tell(testEngine(), testCluster('db') as Cluster, undefined, { steps, outcome: settled });
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
