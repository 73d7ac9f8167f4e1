import { describe, expect, it } from 'vitest';
import { recoverAnnotation } from '../../../src/engines/etcd/names.ts';
import { now, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned } from '../../support/etcd-words.ts';

const asked = (pod: string): Story => ({ metadata: { annotations: { [recoverAnnotation]: pod } } });
const lost: Story = {
  leader: 'nobody',
  members: { 1: 'silent', 2: 'silent' },
  claims: { 1: 'blank', 2: 'blank' },
};
const named: Story = { ...lost, ...asked('db-0-0') };
/** Of the member 0 alone: the others have been stopped, their volumes are kept. */
const alone = (more: Story): Story => ({
  ...asked('db-0-0'),
  numbers: [0],
  before: { replicas: 1 },
  spec: { replicas: 3 },
  leader: 'nobody',
  ...more,
});
const startedAgo =
  (ms: number): NonNullable<Story['children']> =>
  (objects) =>
    objects.map((object) => {
      const startTime = new Date(now - ms).toISOString();
      return object.kind === 'Pod' ? { ...object, status: { ...(object.status as object), startTime } } : object;
    });

describe('E8: a request to go on with one member', () => {
  it.each<PlanRow>([
    [
      'first stops the others, and keeps their volumes apart',
      named,
      [
        'data-db-1-0: retired blank',
        'data-db-2-0: retired blank',
        'apply ConfigMap db-members: ',
        'delete StatefulSet db-1',
        'delete StatefulSet db-2',
        'wait Recovering',
      ],
    ],
    [
      'waits until nobody else runs',
      {
        ...named,
        claims: { 1: 'retired', 2: 'retired' },
        starts: { 1: 'unwritten' },
        children: (objects) => objects.filter(({ metadata }) => !/^db-[12]$/.test(metadata.name)),
      },
      ['apply ConfigMap db-members: ', 'wait Recovering'],
    ],
    [
      'then tells the survivor, and has it start again',
      alone({ children: startedAgo(1000) }),
      ['apply ConfigMap db-members: db-0.alone=true', 'delete Pod db-0-0', 'wait Recovering'],
    ],
    ['waits for it', alone({ starts: { 0: 'alone' }, children: startedAgo(1000) }), ['wait Recovering']],
    [
      'has it start again where it was not told in time',
      alone({ starts: { 0: 'alone' }, children: startedAgo(21_000) }),
      ['delete Pod db-0-0', 'wait Recovering'],
    ],
    [
      'waits where it does not answer yet',
      alone({ members: { 0: 'silent' }, starts: { 0: 'alone' }, children: startedAgo(21_000) }),
      ['wait Recovering'],
    ],
    [
      'is over when it leads, and what it was told is taken back before anybody joins it',
      alone({ leader: 0, starts: { 0: 'alone' }, children: startedAgo(1000) }),
      ['db: recover-from undefined', 'apply ConfigMap db-members: ', 'add 1, 2', 'wait ScalingOut'],
    ],
    ['is dropped where there is a majority', asked('db-0-0'), ['db: recover-from undefined', 'settled']],
    ['is refused where it names nobody', { ...lost, ...asked('db-7-0') }, ['blocked RecoveryRefused']],
    ['is refused where it names a blank volume', { ...lost, ...asked('db-1-0') }, ['blocked RecoveryRefused']],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});
