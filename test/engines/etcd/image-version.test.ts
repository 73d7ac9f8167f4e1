/** An image that holds another minor than the version says. */

import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned, takesEtcdBackup } from '../../support/etcd-words.ts';

const five = '3.5.35';
const six = '3.6.16';
const own = 'registry.example/etcd:ours';
const said = (story: Story): string => {
  const { cluster, children, observed } = etcdWorld(story);
  const { outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  return 'message' in outcome ? outcome.message : '';
};

/** All members run 3.6 from the image, and the version says 3.5. */
const wrong: Story = {
  spec: { version: five, image: own },
  members: { all: { version: six, storageVersion: '3.6.0' } },
};

describe('E6: an image of another minor than the version says', () => {
  it.each<PlanRow>([
    ['is refused where it runs: nothing is asked of etcd, and nobody restarts', wrong, ['blocked VersionMismatch']],
    [
      'is refused where the first member has come to run it: the others stay',
      {
        spec: { version: five, image: own },
        members: { 0: { version: six }, all: { version: five } },
        pods: { 1: 'outdated', 2: 'outdated' },
      },
      ['blocked VersionMismatch'],
    ],
    [
      'ends a downgrade that was begun for it',
      { ...wrong, members: { all: { version: six, storageVersion: '3.6.0', downgradeTarget: '3.5.0' } } },
      ['cancelDowngrade', 'wait CancellingDowngrade'],
    ],
    [
      'does not keep a lost member from being replaced',
      { ...wrong, members: { ...wrong.members, 1: 'silent' }, claims: { 1: 'blank' } },
      ['remove 1', 'wait Replacing'],
    ],
    [
      'is refused by its tag before anything runs from it: the templates stay',
      { spec: { version: five, image: 'registry.example:5000/etcd:v3.6.16-2' }, before: { version: five } },
      ['blocked VersionMismatch'],
    ],
    [
      'is refused by its tag for a new cluster: no member is started',
      { spec: { version: five, image: 'etcd:3.6' }, numbers: [], leader: 'nobody', status: {}, children: () => [] },
      [
        'create Secret db-root',
        'create ConfigMap db-members',
        'create Service db',
        'create Service db-client',
        'create PodDisruptionBudget db',
        'blocked VersionMismatch',
      ],
    ],
    [
      'is what its process says, not what its tag says',
      { spec: { version: five, image: 'etcd:3.6' }, members: { all: { version: five } } },
      ['settled'],
    ],
    [
      'is not what runs by the template before it: that says nothing of the image',
      {
        spec: { version: five, image: own },
        pods: { all: 'outdated' },
        members: { all: { version: six, storageVersion: '3.5.0', downgradeTarget: '3.5.0' } },
      },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    [
      'is not told by a member that has yet to say what it runs',
      { spec: { version: five, image: own }, members: { 0: { version: '' }, all: { version: five } } },
      ['settled'],
    ],
    [
      'does not keep the StatefulSet of a member that runs from coming back',
      {
        ...wrong,
        children: (objects) =>
          objects.filter(({ metadata, kind }) => kind !== 'StatefulSet' || metadata.name !== 'db-2'),
      },
      ['create StatefulSet db-2', 'blocked VersionMismatch'],
    ],
    ['is nobody’s trouble where the tag says nothing', { spec: { version: five, image: own } }, ['settled']],
    ['is nobody’s trouble where the tag is of a patch', { spec: { version: six, image: 'etcd:v3.6.1' } }, ['settled']],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('is told with what runs and what to set', () => {
    expect(said(wrong)).toBe(
      `db-0-0 runs ${six} from ${own}, and spec.version is ${five}: set spec.version to what the image holds, or spec.image to one of 3.5`,
    );
  });

  it('goes on where the version is set to what the image holds', () => {
    const mended: Story = { ...wrong, spec: { version: six, image: own }, before: { version: five, image: own } };
    expect(planned(mended).filter((line) => !line.startsWith('apply'))).toEqual(['wait Updating']);
    expect(planned(mended).filter((line) => line.startsWith('apply StatefulSet'))).toHaveLength(3);
  });
});
