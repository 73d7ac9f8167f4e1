/** Claims that somebody has made under the name that a new member's has: what is on them nobody knows. */

import { describe, expect, it } from 'vitest';
import { observeEtcd } from '../../../src/engines/etcd/observe/observe.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { takesEtcdBackup, words } from '../../support/etcd-words.ts';
import { scriptedEtcd } from '../../support/scripted-etcd.ts';

/** What is planned where these claims are there, and which ones were asked for. */
async function look(story: Story, there: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const { cluster, children, observed } = etcdWorld(story);
  const asked: string[] = [];
  const { io } = scriptedEtcd(observed);
  const claim: typeof io.claim = async (name) => {
    asked.push(name);
    const labels = there[name];
    if (labels === undefined) return undefined;
    const metadata = { name, namespace: 'apps', labels };
    return { claim: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata }, pods: [], sets: [] };
  };
  const seen = await observeEtcd(cluster, children, { ...io, claim });
  const plan = planEtcd(situationOf(cluster, children, seen), takesEtcdBackup);
  return { lines: words(plan), outcome: plan.outcome, asked };
}

const fresh: Story = { status: {}, leader: 'nobody', members: { all: 'gone' }, children: () => [] };
const of = (member: string) => ({
  'app.kubernetes.io/managed-by': 'clusterwright',
  'clusterwright.dev/member': member,
});

describe('a cluster that is formed', () => {
  it('starts nobody on a volume that was there before', async () => {
    const { lines, outcome } = await look(fresh, { 'data-db-1-0': {} });
    expect(lines).toEqual(['blocked DataExists']);
    expect(outcome).toMatchObject({ message: expect.stringMatching(/^the volume\(s\) data-db-1-0 were there before/) });
  });

  it('does where there is none, and where the StatefulSet has just made it', async () => {
    for (const there of [{}, { 'data-db-0-0': of('db-0') }]) {
      const { lines, asked } = await look(fresh, there);
      expect(lines.filter((line) => line.includes('StatefulSet'))).toHaveLength(3);
      expect(asked).toEqual(['data-db-0-0', 'data-db-1-0', 'data-db-2-0']);
    }
  });
});

describe('a cluster that runs', () => {
  const growing: Story = { before: {}, spec: { replicas: 5 } };

  it('takes no member in for whom a volume is there', async () => {
    expect((await look(growing, { 'data-db-3-0': {} })).lines.at(-1)).toBe('blocked DataExists');
    expect((await look(growing, {})).lines.at(-1)).toBe('wait ScalingOut');
  });

  it('takes nobody in on a copy that bears the labels of the volume that it was made from', async () => {
    expect((await look(growing, { 'data-db-3-0': of('db-0') })).lines.at(-1)).toBe('blocked DataExists');
  });

  it('takes nobody in under a number whose volume the view does not show yet', async () => {
    expect((await look(growing, { 'data-db-3-0': of('db-3') })).lines.at(-1)).toBe('blocked DataExists');
  });

  it('takes in no second one either', async () => {
    const story: Story = { ...growing, numbers: [0, 1, 2, 3], members: { 3: 'copying' } };
    const lines = async (there: Parameters<typeof look>[1]) => (await look(story, there)).lines;
    expect(await lines({})).toContain('add 4');
    expect(await lines({ 'data-db-4-0': {} })).not.toContain('add 4');
  });

  it('asks nobody while it is whole, or leads to fewer', async () => {
    const stories: readonly Story[] = [
      {},
      { before: {}, spec: { replicas: 1 } },
      { before: {}, spec: { replicas: 0 } },
    ];
    for (const story of stories) {
      expect((await look(story, {})).asked).toEqual([]);
    }
  });
});
