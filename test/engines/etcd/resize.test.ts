import { expect, it } from 'vitest';
import { type PlanRow, planned } from '../../support/etcd-words.ts';
import { done, due, refused, resizing, underway } from '../../support/resizing.ts';

it.each<PlanRow>([
  [
    'a member that differs in resources alone is resized in place',
    {
      pods: { all: 'outdated' },
      children: resizing({ 'db-0-0': due('etcd'), 'db-1-0': due('etcd'), 'db-2-0': due('etcd') }),
    },
    ['db-1-0: resize new now', 'resize db-1-0: limits.memory 2Gi', 'wait Resizing'],
  ],
  [
    'the leader is the last, and stays leader',
    { pods: { 0: 'outdated' }, children: resizing({ 'db-0-0': due('etcd') }) },
    ['db-0-0: resize new now', 'resize db-0-0: limits.memory 2Gi', 'wait Resizing'],
  ],
  [
    'the others wait for one that has begun, leader or not',
    { pods: { all: 'outdated' }, children: resizing({ 'db-0-0': underway, 'db-1-0': due('etcd') }) },
    ['wait Resizing'],
  ],
  [
    'it gets the label of the template when that is done',
    { pods: { 1: 'outdated' }, children: resizing({ 'db-1-0': done }) },
    ['db-1-0: metadata.labels[controller-revision-hash] new, resize undefined', 'wait Resizing'],
  ],
  [
    'it waits for a member that is not well, as for a restart',
    { pods: { 1: 'outdated' }, members: { 2: 'silent' }, children: resizing({ 'db-1-0': due('etcd') }) },
    ['wait MembersNotReady'],
  ],
  [
    'it restarts where that is refused',
    { pods: { 1: 'outdated' }, children: resizing({ 'db-1-0': refused }) },
    ['delete Pod db-1-0', 'wait Restarting'],
  ],
  [
    'a leader hands over where that is refused',
    { pods: { 0: 'outdated' }, children: resizing({ 'db-0-0': refused }) },
    ['lead db-0-0 -> 1', 'wait MovingLeader'],
  ],
])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
