import { expect, it } from 'vitest';
import { type PlanRow, planned } from '../../support/postgres-words.ts';
import { done, due, refused, resizing, underway } from '../../support/resizing.ts';

const switchoverTo = (pod: string) => ({ metadata: { annotations: { 'clusterwright.dev/switchover-to': pod } } });

it.each<PlanRow>([
  [
    'a standby that differs in resources alone is resized in place',
    { pods: { all: 'outdated' }, children: resizing({ 'db-0-0': due('postgres'), 'db-1-0': due('postgres') }) },
    ['db-1-0: resize new now', 'resize db-1-0: limits.memory 2Gi', 'wait Resizing'],
  ],
  [
    'the primary is the last, and stays primary',
    { pods: { 0: 'outdated' }, children: resizing({ 'db-0-0': due('postgres') }) },
    ['db-0-0: resize new now', 'resize db-0-0: limits.memory 2Gi', 'wait Resizing'],
  ],
  [
    'the others wait for one that has begun, primary or not',
    { pods: { all: 'outdated' }, children: resizing({ 'db-0-0': underway, 'db-1-0': due('postgres') }) },
    ['wait Resizing'],
  ],
  [
    'it gets the label of the template when that is done',
    { pods: { 1: 'outdated' }, children: resizing({ 'db-1-0': done }) },
    ['db-1-0: metadata.labels[controller-revision-hash] new, resize undefined', 'wait Resizing'],
  ],
  [
    'a pod restarts where PostgreSQL has to restart for a setting, once for both',
    {
      pods: { 1: 'outdated' },
      members: { 1: { restartPending: true } },
      children: resizing({ 'db-1-0': due('postgres') }),
    },
    ['delete Pod db-1-0', 'wait Restarting'],
  ],
  [
    'so does one that has begun, in its turn: the primary last',
    {
      pods: { all: 'outdated' },
      members: { all: { restartPending: true } },
      children: resizing({ 'db-0-0': underway }),
    },
    ['delete Pod db-1-0', 'wait Restarting'],
  ],
  [
    'a switchover that a person asks for does not wait for a kubelet',
    { ...switchoverTo('db-1-0'), pods: { 1: 'outdated' }, children: resizing({ 'db-1-0': underway }) },
    ['switch over db-0-0 -> db-1-0', 'wait SwitchingOver'],
  ],
  [
    'one that is refused leaves the resize as it is',
    { ...switchoverTo('db-9-0'), pods: { 1: 'outdated' }, children: resizing({ 'db-1-0': underway }) },
    ['wait Resizing'],
  ],
  [
    'it restarts where that is refused',
    { pods: { 1: 'outdated' }, children: resizing({ 'db-1-0': refused }) },
    ['delete Pod db-1-0', 'wait Restarting'],
  ],
])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
