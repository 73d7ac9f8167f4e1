/** A member that is behind the log of its leader, and whose volume has no room for a second database. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { observeEtcd } from '../../../src/engines/etcd/observe/observe.ts';
import { failuresIn } from '../../../src/engines/etcd/observe/snapshot-failures.ts';
import { etcdWorld, now, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned } from '../../support/etcd-words.ts';
import { scriptedEtcd } from '../../support/scripted-etcd.ts';

const unreadyFor =
  (ms: number): NonNullable<Story['children']> =>
  (objects) =>
    objects.map((object): KubeObject => {
      if (object.metadata.name !== 'db-1-0' || object.kind !== 'Pod') return object;
      const lastTransitionTime = new Date(now - ms).toISOString();
      const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime }];
      return { ...object, status: { ...(object.status as object), conditions } };
    });
/** The others. */
const readySince =
  (ms: number): NonNullable<Story['children']> =>
  (objects) =>
    objects.map((object) => {
      if (object.kind !== 'Pod' || object.metadata.name === 'db-1-0') return object;
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: new Date(now - ms).toISOString() }];
      return { ...object, status: { ...(object.status as object), conditions } };
    });
const failed = (count: number, story: Story = {}): Story => ({
  members: { 1: 'silent' },
  children: unreadyFor(601_000),
  observed: { failedSnapshots: { 'db-1-0': count } },
  ...story,
});

describe('E1: a member that fails to take up the snapshot of its leader', () => {
  it.each<PlanRow>([
    ['again and again is replaced: a blank volume has room', failed(3), ['remove 1', 'wait Replacing']],
    ['is replaced where it answers all the same', failed(3, { members: {} }), ['remove 1', 'wait Replacing']],
    [
      'stays where nobody has been ready for long: a majority that was away for longer is back',
      failed(9, { members: {}, children: (objects) => readySince(59_000)(unreadyFor(601_000)(objects)) }),
      ['wait MembersNotReady'],
    ],
    [
      'is replaced where the others have been ready again for a minute',
      failed(9, { members: {}, children: (objects) => readySince(60_000)(unreadyFor(601_000)(objects)) }),
      ['remove 1', 'wait Replacing'],
    ],
    ['stays where it leads by now', failed(9, { leader: 1, members: {} }), ['wait MembersNotReady']],
    ['once or twice is waited for', failed(2), ['wait MembersNotReady']],
    [
      'is waited for while it has not done so for long',
      failed(9, { children: unreadyFor(599_000) }),
      ['wait MembersNotReady'],
    ],
    [
      'is not replaced where the others would be no majority',
      failed(3, { members: { 1: 'silent', 2: 'leaderless' } }),
      ['blocked TooFewHealthy'],
    ],
    [
      'and has no vote is waited for: the next one would have no more room',
      failed(9, { spec: { replicas: 3 }, members: { 1: 'copying' } }),
      ['promote 1', 'wait Joining'],
    ],
    [
      'is waited for once its pod does not run any more: the next process may fare better',
      failed(9, {
        children: (objects) =>
          unreadyFor(601_000)(objects).map((object) =>
            object.metadata.name === 'db-1-0' && object.kind === 'Pod'
              ? { ...object, status: { ...(object.status as object), phase: 'Failed' } }
              : object,
          ),
      }),
      ['wait MembersNotReady'],
    ],
    ['is left alone where it is ready', failed(9, { members: {}, children: (objects) => objects }), ['settled']],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

/** As etcd 3.6.16 writes them. */
const metrics = [
  'etcd_network_snapshot_receive_failures{From="8350dfdb98f61ba6"} 6',
  'etcd_network_snapshot_receive_failures{From="b82403f238c8d7e8"} 1',
].join('\n');

describe('how often it has failed', () => {
  const asked = async (story: Story): Promise<readonly [unknown, readonly string[]]> => {
    const { cluster, children, observed } = etcdWorld(story);
    const etcd = scriptedEtcd(observed, ({ path }) =>
      path === '/metrics' ? { status: 200, body: metrics } : undefined,
    );
    const { failedSnapshots } = await observeEtcd(cluster, children, etcd.io);
    return [failedSnapshots, etcd.asked.filter((line) => line.includes('/metrics'))];
  };

  it('is told by the metrics of a pod that has not been ready for long', async () => {
    expect(await asked({ members: { 1: 'silent' }, children: unreadyFor(601_000) })).toEqual([
      { 'db-1-0': 7 },
      ['10.0.0.1 /metrics '],
    ]);
  });

  it('is not asked of anybody else', async () => {
    expect(await asked({ members: { 1: 'silent' }, children: unreadyFor(599_000) })).toEqual([undefined, []]);
    expect(await asked({})).toEqual([undefined, []]);
  });

  it('is 0 where no metric tells', () => {
    expect([failuresIn(''), failuresIn('etcd_network_snapshot_receive_failures{From="1"} NaN')]).toEqual([0, 0]);
    expect(failuresIn('etcd_network_snapshot_receive_failures{From="1"} 1.2e+01')).toBe(12);
  });
});
