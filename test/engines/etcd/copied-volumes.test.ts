/** Volumes that were copied from another namespace: their members know the others there, and would vote among them. */

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { homeAnnotation } from '../../../src/engines/etcd/names.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned, takesEtcdBackup } from '../../support/etcd-words.ts';

const homes =
  (home: string | undefined, ...numbers: readonly number[]): NonNullable<Story['children']> =>
  (objects) =>
    objects.map((object): KubeObject => {
      if (!numbers.some((number) => object.metadata.name === `data-db-${number}-0`)) return object;
      const { [homeAnnotation]: _, ...annotations } = object.metadata.annotations ?? {};
      const own = home === undefined ? annotations : { ...annotations, [homeAnnotation]: home };
      return { ...object, metadata: { ...object.metadata, annotations: own } };
    });
const onlyClaims = (objects: readonly KubeObject[]): readonly KubeObject[] =>
  objects.filter(({ kind }) => kind === 'PersistentVolumeClaim');
const copied: Story = {
  status: {},
  leader: 'nobody',
  members: { all: 'gone' },
  starts: { all: 'unwritten' },
  children: (objects) => onlyClaims(homes('elsewhere', 0, 1, 2)(objects)),
};

describe('volumes of a cluster in another namespace', () => {
  it.each<PlanRow>([
    ['start no member', copied, ['blocked CopiedVolumes']],
    [
      'start none where it is one of them',
      { ...copied, children: (objects) => onlyClaims(homes('elsewhere', 1)(objects)) },
      ['blocked CopiedVolumes'],
    ],
    ['stop nobody who runs', { children: homes('elsewhere', 1) }, ['blocked CopiedVolumes']],
    [
      'are of no matter once their member has been removed',
      {
        numbers: [0, 1, 2, 3],
        members: { 3: 'unlisted' },
        claims: { 3: 'retired' },
        starts: { 3: 'unwritten' },
        children: (objects) => homes('elsewhere', 3)(objects.filter(({ metadata }) => metadata.name !== 'db-3')),
      },
      ['settled'],
    ],
    [
      'are told by a mark that each volume gets, those of before as well',
      { children: homes(undefined, 1) },
      ['data-db-1-0: etcd-namespace apps', 'settled'],
    ],
    [
      'which comes with that of its member',
      { claims: { 1: 'blank' } },
      ['data-db-1-0: etcd-member 3e8/2, etcd-namespace apps', 'settled'],
    ],
  ])('%s', (_, story, plan) => {
    expect(planned(story)).toEqual(plan);
  });

  it('are told of with what to do', () => {
    const { cluster, children, observed } = etcdWorld(copied);
    const { outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
    expect(outcome).toMatchObject({
      message:
        'the volumes data-db-0-0, data-db-1-0, data-db-2-0 hold members of a cluster in the namespace elsewhere, and would vote there: delete these claims, and begin with a backup (bootstrap.restore)',
    });
  });
});
