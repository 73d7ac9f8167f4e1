/** Whose data a volume holds, as it is written on its claim, and what becomes of the volumes of removed members. */

import { describe, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../../src/api/object.ts';
import {
  corruptAnnotation,
  holdsAnnotation,
  homeAnnotation,
  retiredAnnotation,
} from '../../../src/engines/etcd/names.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { corrupt, holding, inconsistent, unready } from '../../support/etcd-doubt.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { type PlanRow, planned, takesEtcdBackup } from '../../support/etcd-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

type Change = (metadata: ObjectMeta) => ObjectMeta;

const changed =
  (name: string, change: Change) =>
  (objects: readonly KubeObject[]): KubeObject[] =>
    objects.map((object) =>
      object.metadata.name === name ? { ...object, metadata: change(object.metadata) } : object,
    );
const annotated =
  (annotations: Readonly<Record<string, string>>): Change =>
  (metadata) => ({ ...metadata, annotations: { ...metadata.annotations, ...annotations } });
const without =
  (...names: readonly string[]) =>
  (objects: readonly KubeObject[]): KubeObject[] =>
    objects.filter(({ metadata }) => !names.includes(metadata.name));

describe('the mark of whose data a volume holds', () => {
  const marks = (story: Story) => {
    const { cluster, children, observed } = etcdWorld(story);
    return planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).steps.filter(
      ({ type }) => type === 'patch',
    );
  };
  const path = `metadata.annotations[${holdsAnnotation}]`;

  it('is set on a blank volume once its member answers', () => {
    expect(marks({ claims: { 1: 'blank' } })).toStrictEqual([
      {
        type: 'patch',
        ref: expect.objectContaining({ name: 'data-db-1-0', namespace: 'apps' }),
        patch: { metadata: { annotations: { [holdsAnnotation]: '3e8/2', [homeAnnotation]: 'apps' } } },
        changes: [
          { path, to: '3e8/2' },
          { path: `metadata.annotations[${homeAnnotation}]`, to: 'apps' },
        ],
      },
    ]);
  });

  it('is not set while its member does not answer', () => {
    expect(marks({ claims: { 1: 'blank' }, members: { 1: 'silent' } })).toEqual([]);
  });

  it('follows the member of that number, and shows what it was', () => {
    const children = changed('data-db-1-0', annotated({ [holdsAnnotation]: '3e8/9' }));
    expect(marks({ children })).toMatchObject([{ changes: [{ path, from: '3e8/9', to: '3e8/2' }] }]);
  });
});

describe('the volume of a member that is removed for its data', () => {
  const story: Story = { ...unready, ...corrupt(1), ...holding({ 0: 'a', 1: 'b', 2: 'a' }) };
  table([
    [
      'is not marked twice',
      { ...story, children: changed('data-db-1-0', annotated({ [corruptAnnotation]: '3e8/2' })) },
      ['remove 1', 'wait Replacing'],
    ],
    ['may be gone already', { ...story, claims: { 1: 'none' } }, ['remove 1', 'wait Replacing']],
  ]);
});

describe('a member that etcd lists no more', () => {
  const going: Story = {
    spec: { deletionPolicy: 'Delete' },
    numbers: [0, 1, 2, 3],
    members: { 3: 'unlisted' },
    starts: { 3: 'unwritten' },
    children: without('db-3', 'db-3-0'),
  };
  const removed = ['delete PersistentVolumeClaim data-db-3-0', 'settled'];
  table([
    ['gives up its volume under deletionPolicy Delete', going, removed],
    [
      'does so once: a volume that is going already is not asked again',
      {
        ...going,
        children: (objects) =>
          changed('data-db-3-0', (metadata) => ({ ...metadata, deletionTimestamp: '2030-06-01T11:59:00Z' }))(
            without('db-3', 'db-3-0')(objects),
          ),
      },
      ['settled'],
    ],
    [
      'gives it up though another did not start once for what it had found, since that one answers now',
      { ...going, pods: { 1: { ...(inconsistent as object), isRunning: true } } },
      ['delete PersistentVolumeClaim data-db-3-0', 'wait MembersNotReady'],
    ],
    [
      'keeps it while that one does not answer',
      { ...going, members: { 1: 'silent', 3: 'unlisted' }, pods: { 1: inconsistent } },
      ['data-db-3-0: retired 3e8/4', 'blocked DataCorrupt'],
    ],
  ]);
});

describe('a pod of a member that etcd lists no more, whose StatefulSet no watch shows', () => {
  const orphan = (change: Change = (metadata) => metadata, claim: Change = (metadata) => metadata): Story => ({
    numbers: [0, 1, 2, 3],
    members: { 3: 'unlisted' },
    starts: { 3: 'joins' },
    claims: { 3: 'retired' },
    children: (objects) => changed('data-db-3-0', claim)(changed('db-3-0', change)(without('db-3')(objects))),
  });
  const owner = (more: object) => ({ apiVersion: 'v1', kind: 'Other', name: 'other', uid: 'uid-of-other', ...more });
  const owned =
    (...owners: readonly object[]): Change =>
    (metadata) => ({ ...metadata, ownerReferences: owners as NonNullable<ObjectMeta['ownerReferences']> });
  const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db-3', uid: 'uid-of-db-3', controller: true };
  const stopped = ['apply ConfigMap db-members: ', 'delete StatefulSet db-3', 'settled'];
  const left = ['apply ConfigMap db-members: ', 'settled'];
  table([
    [
      'ends also where its volume was retired before it held anything',
      orphan(undefined, (metadata) => ({ ...metadata, annotations: { [retiredAnnotation]: 'blank' } })),
      stopped,
    ],
    ['ends by its controller, whoever else it names', orphan(owned(owner({}), set)), stopped],
    [
      'ends by no StatefulSet that does not control it',
      orphan(owned({ ...set, name: 'x', controller: false }, set)),
      stopped,
    ],
    ['is left where something else controls it', orphan(owned(owner({ controller: true }))), left],
    ['is left where nobody does', orphan(owned()), left],
  ]);
});

describe('volumes that hold data of another cluster than the one that answers', () => {
  it('block where they are of members', () => {
    expect(planned({ claims: { 1: 'foreign' } }).at(-1)).toMatch(/^blocked /);
  });
  it('do not where no member has them', () => {
    expect(
      planned({
        numbers: [0, 1, 2, 3],
        members: { 3: 'unlisted' },
        starts: { 3: 'unwritten' },
        claims: { 3: 'foreign' },
        children: without('db-3', 'db-3-0'),
      }),
    ).toEqual(['data-db-3-0: retired 7d0/4', 'settled']);
  });
});
