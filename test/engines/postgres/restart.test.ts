import { describe, expect, it } from 'vitest';
import type { Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const restarting = (line: string) => [line, 'wait Restarting'];

describe('a new template', () => {
  table([
    ['is taken by one standby first', { pods: { all: 'outdated' } }, restarting('delete Pod db-1-0')],
    ['is taken by the next standby', { pods: { 0: 'outdated', 2: 'outdated' } }, restarting('delete Pod db-2-0')],
    [
      'is taken by a standby whose number is lower than the primary’s',
      { primary: 2, pods: { all: 'outdated' } },
      restarting('delete Pod db-0-0'),
    ],
    [
      'makes the primary hand over to a synchronous standby before it restarts',
      { pods: { 0: 'outdated' } },
      ['switch over db-0-0 -> db-1-0', 'wait SwitchingOver'],
    ],
    [
      'waits until commits wait for every standby',
      { pods: { 0: 'outdated' }, members: { 1: { isSynchronous: false } } },
      ['wait MembersNotReady'],
    ],
    ['is taken by the old primary last', { primary: 1, pods: { 0: 'outdated' } }, restarting('delete Pod db-0-0')],
    [
      'makes the primary hand over to the standby that has the most, where commits wait for none',
      { spec: { synchronous: { count: 0 } }, pods: { 0: 'outdated' }, members: { 1: { lsn: 900 }, 2: { lsn: 950 } } },
      ['switch over db-0-0 -> db-2-0', 'wait SwitchingOver'],
    ],
    [
      'is taken by a primary that stands alone',
      { spec: { instances: 1 }, pods: { 0: 'outdated' } },
      restarting('delete Pod db-0-0'),
    ],
    [
      'is waited for until Kubernetes has taken it up',
      {
        pods: { 2: 'outdated' },
        children: (objects) =>
          objects.map((object) =>
            object.kind === 'StatefulSet' && object.metadata.name === 'db-1'
              ? { ...object, metadata: { ...object.metadata, generation: 2 } }
              : object,
          ),
      },
      ['wait Updating'],
    ],
  ]);
});

describe('a template that was wrong and has been corrected', () => {
  const stuck = (number: number): Story => ({
    members: { [number]: 'silent' },
    pods: { [number]: 'outdated and crashing' },
  });
  table([
    ['is taken by the pod that did not start on the old one', stuck(1), restarting('delete Pod db-1-0')],
    ['needs no primary: nobody is interrupted', { ...stuck(1), primary: 'nobody' }, restarting('delete Pod db-1-0')],
    [
      'is left to the pod itself where it runs the new one',
      { members: { 1: 'silent' }, pods: { 1: 'crashing' } },
      ['wait MembersNotReady'],
    ],
    ['is not taken by a pod whose Patroni answers', { pods: { 1: 'outdated and crashing' } }, ['wait MembersNotReady']],
  ]);
});

describe('settings that count from a start on', () => {
  const pending = { restartPending: true } as const;
  const lowered = { restartPending: true, awaitsPrimary: true } as const;
  table([
    [
      'restart PostgreSQL of one standby, and the pod stays',
      { members: { all: pending } },
      restarting('restart db-1-0'),
    ],
    ['restart the next standby', { members: { 0: pending, 2: pending } }, restarting('restart db-2-0')],
    ['make the primary hand over', { members: { 0: pending } }, ['switch over db-0-0 -> db-1-0', 'wait SwitchingOver']],
    [
      'restart a primary that stands alone',
      { spec: { instances: 1 }, members: { 0: pending } },
      restarting('restart db-0-0'),
    ],
    ['restart nobody while a member is away', { members: { 1: pending, 2: 'silent' } }, ['wait MembersNotReady']],
    [
      'that are lowered restart the primary in its place first: no standby may have less',
      { members: { all: lowered } },
      restarting('restart db-0-0'),
    ],
    [
      'that are lowered restart the standbys then',
      { members: { 1: lowered, 2: lowered } },
      restarting('restart db-1-0'),
    ],
    [
      'are taken along by a new pod',
      { members: { 1: pending }, pods: { 1: 'outdated' } },
      restarting('delete Pod db-1-0'),
    ],
  ]);
});
