/** Secrets are not watched: a pod that cannot start is the sign to read them again. */

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { EtcdSpecInput } from '../../../src/engines/etcd/kind/schema.ts';
import { observeEtcd } from '../../../src/engines/etcd/observe/observe.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld, now, type Story } from '../../support/etcd-situation.ts';
import { takesEtcdBackup } from '../../support/etcd-words.ts';
import { scriptedEtcd } from '../../support/scripted-etcd.ts';

const spec: EtcdSpecInput = { tls: { client: { selfManaged: {} }, peer: { secretRef: { name: 'theirs' } } } };
const pod = (ageMs: number, reason: string) => ({
  phase: 'Pending',
  startTime: new Date(now - ageMs).toISOString(),
  containerStatuses: [{ name: 'etcd', state: { waiting: { reason } } }],
});

/** A cluster in which the pods of these numbers have this status. */
const inPlaceOf = (numbers: readonly number[], status: object): Story => ({
  spec,
  members: Object.fromEntries(numbers.map((number) => [number, 'silent'])),
  children: (objects: readonly KubeObject[]) =>
    objects.map((object) =>
      object.kind === 'Pod' && numbers.some((number) => object.metadata.name === `db-${number}-0`)
        ? { ...object, status }
        : object,
    ),
});

async function doubted(story: Story): Promise<string[]> {
  const { cluster, children, observed } = etcdWorld(story);
  const names: string[] = [];
  const { io } = scriptedEtcd(observed);
  await observeEtcd(cluster, children, { ...io, secretRefused: (name) => void names.push(name) });
  return names;
}

const all = ['db-client-ca', 'db-client-tls', 'theirs', 'db-client-user'];

describe('Secrets', () => {
  it.each<[story: string, status: object, names: string[]]>([
    ['a pod that is not made after ten seconds', pod(10_000, 'ContainerCreating'), all],
    ['one that is new', pod(9_999, 'ContainerCreating'), []],
    ['one whose image does not come', pod(60_000, 'ImagePullBackOff'), []],
    ['one that no machine has taken on', { phase: 'Pending' }, []],
  ])('are read again for %s', async (_, status, names) => {
    expect((await doubted(inPlaceOf([1], status))).sort()).toEqual([...names].sort());
  });

  it('are not while everybody runs', async () => {
    expect(await doubted({ spec })).toEqual([]);
  });
});

it.each<[story: string, status: object, recheckMs: number | undefined]>([
  ['looked at again', pod(1, 'ContainerCreating'), 10_000],
  ['not looked at before a watch tells', { phase: 'Pending' }, undefined],
])('a cluster of which nobody runs is %s', (_, status, recheckMs) => {
  const { cluster, children, observed } = etcdWorld({ ...inPlaceOf([0, 1, 2], status), spec: {}, leader: 'nobody' });
  const { outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  expect(outcome).toMatchObject({ reason: 'QuorumLost' });
  expect(outcome.state === 'wait' ? outcome.recheckMs : 'not waiting').toBe(recheckMs);
});
