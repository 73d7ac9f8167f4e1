import { expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { situationOf } from '../../../src/engines/etcd/situation.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { etcdWorld } from '../../support/etcd-situation.ts';

it("a second pod of a member's set, and its claim, are not taken for the member's own", () => {
  const { cluster, children, observed } = etcdWorld({ members: { 1: 'silent' } });
  const second = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, name: object.metadata.name.replace(/-0$/, '-1'), annotations: {} },
  });
  const more = children.objects.filter(({ kind }) => kind === 'Pod' || kind === 'PersistentVolumeClaim').map(second);
  const found = situationOf(cluster, childrenOf([...children.objects, ...more]), observed);
  const names = (objects: ReadonlyMap<number, KubeObject>): string[] =>
    [...objects.values()].map(({ metadata }) => metadata.name);
  expect(names(found.claims)).toEqual(['data-db-0-0', 'data-db-1-0', 'data-db-2-0']);
  expect(names(found.pods)).toEqual(['db-0-0', 'db-1-0', 'db-2-0']);
  expect([...found.taken]).toEqual([0, 1, 2]);
});
