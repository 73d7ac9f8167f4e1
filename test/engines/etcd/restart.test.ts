import { describe, expect, it } from 'vitest';
import type { Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned } from '../../support/etcd-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

describe('a restart', () => {
  table([
    ['takes one member at a time', { pods: { all: 'outdated' } }, ['delete Pod db-1-0', 'wait Restarting']],
    ['goes on with the next', { pods: { 0: 'outdated', 2: 'outdated' } }, ['delete Pod db-2-0', 'wait Restarting']],
    [
      'takes the leader last, after it has handed over',
      { pods: { 0: 'outdated' } },
      ['lead db-0-0 -> 1', 'wait MovingLeader'],
    ],
    [
      'takes a leader that stands alone',
      { spec: { replicas: 1 }, pods: { 0: 'outdated' } },
      ['delete Pod db-0-0', 'wait Restarting'],
    ],
    [
      'waits while a member is away',
      { pods: { 0: 'outdated', 1: 'outdated' }, members: { 2: 'silent' } },
      ['wait MembersNotReady'],
    ],
    [
      'waits for a third member where two would be one too few',
      { numbers: [0, 1], before: {}, pods: { 1: 'outdated' } },
      ['add 2', 'wait ScalingOut'],
    ],
  ]);
});

describe('the authorities that members trust', () => {
  const tls = { client: { secretRef: { name: 'members' } } };
  const annotation = 'spec.template.metadata.annotations[clusterwright.dev/authorities]';
  table([
    [
      'are others now: the members restart for it',
      { spec: { tls }, authorities: 'old', observed: { authorities: 'new' } },
      [...[0, 1, 2].map((i) => `apply StatefulSet db-${i}: ${annotation}`), 'settled'],
    ],
    ['were never told to those who run', { spec: { tls }, observed: { authorities: 'new' } }, ['settled']],
    [
      'are told to who does not run yet',
      { spec: { tls }, observed: { authorities: 'new' }, members: { 1: 'gone' } },
      ['apply StatefulSet db-1: spec.template.metadata.annotations', 'wait MembersNotReady'],
    ],
    ['are the same', { spec: { tls }, authorities: 'old', observed: { authorities: 'old' } }, ['settled']],
    ['cannot be read now: nobody restarts for that', { spec: { tls }, authorities: 'old' }, ['settled']],
  ]);
});

describe('a new template that Kubernetes has not taken up yet', () => {
  table([
    [
      'is waited for: nobody knows yet who is outdated',
      {
        spec: { replicas: 5 },
        before: { replicas: 3 },
        children: (objects) =>
          objects.map((object) =>
            object.metadata.name === 'db-1' ? { ...object, metadata: { ...object.metadata, generation: 2 } } : object,
          ),
      },
      ['wait Updating'],
    ],
  ]);
});

describe('a template that was wrong and has been corrected', () => {
  const stuck = (i: number): Story => ({ members: { [i]: 'silent' }, pods: { [i]: { crashingForMs: 5_000 } } });
  const outdated: Story['children'] = (objects) =>
    objects.map((object) =>
      object.kind === 'Pod'
        ? {
            ...object,
            metadata: { ...object.metadata, labels: { ...object.metadata.labels, 'controller-revision-hash': 'old' } },
          }
        : object,
    );
  table([
    [
      'is tried by the pod that did not start on the old one',
      { ...stuck(1), children: outdated },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    ['is left to the pod itself where it runs the new one', stuck(1), ['wait MembersNotReady']],
    [
      'needs no majority: nobody is interrupted',
      {
        ...stuck(2),
        leader: 'nobody',
        status: {},
        starts: { all: 'forms' },
        claims: { all: 'blank' },
        children: outdated,
      },
      ['delete Pod db-2-0', 'wait Restarting'],
    ],
    [
      'is not tried by a process that has just been killed and starts again, as long as no majority answers',
      {
        members: { 1: 'silent', 2: 'silent' },
        leader: 'nobody',
        pods: { 1: { crashingForMs: 500, restarts: 1 }, 2: 'unready' },
        children: outdated,
      },
      ['wait QuorumLost'],
    ],
    [
      'is tried by a process that ends again and again, though no majority answers',
      {
        members: { 1: 'silent', 2: 'silent' },
        leader: 'nobody',
        pods: { 1: { crashingForMs: 500, restarts: 5 }, 2: 'unready' },
        children: outdated,
      },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    [
      'is tried by a pod that has no room anywhere, though no majority answers',
      {
        members: { 1: 'silent', 2: 'silent' },
        leader: 'nobody',
        pods: { 1: { unschedulableForMs: 500 }, 2: 'unready' },
        children: outdated,
      },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    [
      'is not tried by a process that runs, and is only out of reach, as long as no majority answers',
      { members: { all: 'silent' }, leader: 'nobody', pods: { all: 'unready' }, children: outdated },
      ['wait QuorumLost'],
    ],
    [
      'is tried by a process that runs and does not answer where the others are a majority',
      { members: { 1: 'silent' }, pods: { 1: 'unready' }, children: outdated },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    [
      'is tried by processes that run and have never formed a cluster',
      {
        members: { all: 'silent' },
        leader: 'nobody',
        status: {},
        starts: { all: 'forms' },
        claims: { all: 'blank' },
        pods: { all: 'unready' },
        children: outdated,
      },
      ['delete Pod db-0-0', 'wait Restarting'],
    ],
    [
      'is tried by a member without a vote, too',
      {
        spec: { replicas: 5 },
        before: { replicas: 3 },
        numbers: [0, 1, 2, 3],
        members: { 3: 'unstarted' },
        pods: { 3: { crashingForMs: 5_000 } },
        starts: { 3: 'joins' },
        children: outdated,
      },
      ['delete Pod db-3-0', 'wait Restarting'],
    ],
  ]);
});
