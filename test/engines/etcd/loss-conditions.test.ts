/** How long a member has been away, by the conditions of its pod, and whether the other members are a majority. */
import { describe, expect, it } from 'vitest';
import type { Alarm } from '../../../src/engines/etcd/observe/observed.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { isReplaceable } from '../../../src/engines/etcd/plan/failed-member.ts';
import { etcdWorld, memberId, now, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned } from '../../support/etcd-words.ts';

const affinity = '0/2 nodes: 2 had volume node affinity conflict';
const silent = { members: { 1: 'silent' } } as const;

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

/** The conditions of a pod, in the order that is given: type, whether it is so, for how many milliseconds. */
const conditions =
  (
    ...all: readonly (readonly [type: string, status: 'True' | 'False', ms: number, message?: string])[]
  ): NonNullable<Story['children']> =>
  (objects) =>
    objects.map((object) =>
      object.metadata.name === 'db-1-0'
        ? {
            ...object,
            status: {
              ...(object.status as object),
              conditions: all.map(([type, status, ms, message = '']) => {
                return { type, status, message, lastTransitionTime: new Date(now - ms).toISOString() };
              }),
            },
          }
        : object,
    );

describe('E1: how long a member has been away is told by the condition of its pod', () => {
  const ends: Story = { ...silent, pods: { 1: { crashingForMs: 900_000 } } };
  const [removed, waited] = [['remove 1', 'wait Replacing'], ['wait MembersNotReady']];
  table([
    [
      'that says it is not ready, and not by another one',
      { ...ends, children: conditions(['ContainersReady', 'False', 900_000], ['Ready', 'False', 1000]) },
      waited,
    ],
    [
      'that says it, and not that it was ready long before',
      { ...ends, children: conditions(['Ready', 'True', 900_000]) },
      waited,
    ],
    [
      'that says where its volume is, whatever stands before it',
      {
        ...silent,
        pods: { 1: { unschedulableForMs: 1 } },
        children: conditions(['Ready', 'False', 900_000], ['PodScheduled', 'False', 181_000, affinity]),
      },
      removed,
    ],
  ]);
});

describe('E1: who stays when a member is lost', () => {
  const corrupt = (number: number): Alarm => ({ type: 'CORRUPT', memberId: memberId(number) });
  it.each<readonly [story: string, situation: Story, may: boolean]>([
    ['a majority of all members', { members: { 1: 'silent' } }, true],
    ['is no majority where the lost one is counted that still answers', { members: { 2: 'silent' } }, false],
    [
      'is no majority where two of five are corrupt',
      { spec: { replicas: 5 }, members: { 1: 'silent' }, alarms: [corrupt(2), corrupt(3)] },
      false,
    ],
    [
      'is a majority where other alarms stand',
      { spec: { replicas: 5 }, members: { 1: 'silent' }, alarms: [{ type: 'NOSPACE', memberId: memberId(2) }] },
      true,
    ],
  ])('%s', (_, story, may) => {
    const { cluster, children, observed } = etcdWorld(story);
    const situation = situationOf(cluster, children, observed);
    const members = situation.members ?? [];
    const lost = members.find(({ index }) => index === 1);
    expect(lost !== undefined && isReplaceable(situation, members, lost)).toBe(may);
  });
});
