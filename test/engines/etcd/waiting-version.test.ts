/** Another minor that waits for a maintenance window: nothing of it is done before, not even its backup. */
import { describe, expect, it } from 'vitest';
import { etcdKind } from '../../../src/engines/etcd/kind/schema.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdStatus } from '../../../src/engines/etcd/status.ts';
import { writesTemplate } from '../../../src/plan/template-use.ts';
import { target } from '../../support/backup-story.ts';
import { etcdWorld, now, type Story } from '../../support/etcd-situation.ts';
import { takesEtcdBackup, versionWords, words } from '../../support/etcd-words.ts';
import { heldBack, judgedBoth } from '../../support/held-back.ts';

const five = '3.5.35';
const six = '3.6.16';
const backup = { target };
const status = { initialized: true, phase: 'Ready', observedGeneration: 1 } as const;

function held(story: Story) {
  const { cluster, children, observed } = etcdWorld({ status, ...story });
  const situation = situationOf(cluster, children, observed);
  const plan = planEtcd(situation, takesEtcdBackup);
  const assessment = judgedBoth(plan, (one) => etcdStatus(situation, one));
  const found = heldBack('window', cluster, children, assessment, { at: now, resource: etcdKind.resource });
  return { ...found, lines: versionWords(words(found.plan as ReturnType<typeof planEtcd>)) };
}

describe('another minor', () => {
  it.each<readonly [string, Story, string[]]>([
    [
      'takes no backup, and writes no template',
      { spec: { version: six, backup }, before: { version: five, backup } },
      ['wait WaitingForWindow'],
    ],
    [
      'of a cluster without backups writes no template',
      { spec: { version: six }, before: { version: five } },
      ['wait WaitingForWindow'],
    ],
    [
      'on the way down is not announced to etcd',
      {
        spec: { version: five },
        before: { version: six },
        members: { all: { version: six, storageVersion: '3.6.0' } },
      },
      ['wait WaitingForWindow'],
    ],
    [
      'that has begun goes on',
      { spec: { version: six }, members: { all: { version: five } }, pods: { 1: 'outdated' } },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    [
      'that has begun goes on with the templates that were not written then, and by which nobody is about to restart',
      {
        spec: { version: six },
        before: { version: five },
        members: { 0: { version: six }, all: { version: five } },
      },
      ['template db-0', 'template db-1', 'template db-2', 'wait Updating'],
    ],
    [
      'waits also while members restart for something else, which goes on without it',
      { spec: { version: six }, before: { version: five }, pods: { 1: 'outdated' } },
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    [
      'that is refused says why',
      { spec: { version: six }, before: { version: '3.5.31' } },
      ['blocked UpgradePrerequisite'],
    ],
    ['waits as a patch does', { spec: { version: six }, before: { version: '3.6.1' } }, ['wait WaitingForWindow']],
  ])('%s', (_, story, lines) => expect(held(story).lines).toEqual(lines));

  it.each<readonly [string, Story]>([
    ['with a backup', { spec: { version: six, backup }, before: { version: five, backup } }],
    ['without one', { spec: { version: six }, before: { version: five } }],
    [
      'after a time in which a member was away',
      { spec: { version: six }, before: { version: five }, status: { ...status, phase: 'Degraded' } },
    ],
  ])('that waits %s leaves the cluster ready', (_, story) => {
    const found = held(story);
    expect(found.status.phase).toBe('Ready');
    expect(found.status.conditions[0]).toMatchObject({ type: 'Ready', status: 'True', reason: 'WaitingForWindow' });
  });

  it('that waits leaves a cluster degraded that has lost a member', () => {
    const found = held({ spec: { version: six }, before: { version: five }, members: { 1: 'gone' } });
    expect(found.status.phase).toBe('Degraded');
  });

  it('that has waited is an update when its time has come, and no failure', () => {
    const { cluster, children, observed } = etcdWorld({
      status,
      spec: { version: six, backup },
      before: { version: five, backup },
    });
    const situation = situationOf(cluster, children, observed);
    expect(etcdStatus(situation, planEtcd(situation, takesEtcdBackup)).phase).toBe('Updating');
  });

  it('on the way down that etcd allows has begun: it keeps its place, and waits for no window', () => {
    const down = (storageVersion: string): Story => ({
      spec: { version: five },
      before: { version: six },
      members: { all: { version: six, storageVersion, downgradeTarget: '3.5.0' } },
    });
    const planned = (story: Story) => {
      const { cluster, children, observed } = etcdWorld({ status, ...story });
      return planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
    };
    const [waiting, ready] = [planned(down('3.6.0')), planned(down('3.5.0'))];
    expect([waiting.isUnderway, ready.isUnderway, ready.otherwise]).toEqual([true, true, undefined]);
    const over = planned({ spec: { version: five }, members: { all: { version: five, downgradeTarget: '3.5.0' } } });
    expect([waiting.goesOn, ready.goesOn, over.isUnderway, over.goesOn]).toEqual([true, true, true, undefined]);
    expect(held(down('3.5.0')).lines.join()).toMatch(/^template db-0/);
  });

  it.each<readonly [string, Story, string[]]>([
    [
      'a member that finds no node',
      { members: { 1: 'silent' }, pods: { 1: { unschedulableForMs: 60_000 } } },
      ['db-1'],
    ],
    [
      'a majority that finds none',
      {
        leader: 'nobody',
        members: { 1: 'silent', 2: 'silent' },
        pods: { 1: { unschedulableForMs: 60_000 }, 2: { unschedulableForMs: 60_000 } },
      },
      ['db-1', 'db-2'],
    ],
  ])('that waits holds up no edit that repairs %s, and comes not with it', (_, story, repaired) => {
    const { plan } = held({
      spec: { version: six, scheduling: { nodeSelector: { disk: 'ssd' } } },
      before: { version: five, scheduling: { nodeSelector: { disk: 'nvme' } } },
      status: { ...status, observedGeneration: 0 },
      ...story,
    });
    const written = plan.steps.flatMap((step) => (writesTemplate(step) ? [step.object] : []));
    expect(written.map(({ metadata }) => metadata.name)).toEqual(repaired);
    const text = JSON.stringify(written);
    expect(text).toContain('"disk":"ssd"');
    expect(text).not.toContain(six);
  });

  it('that waits does not hold up a member that is made again: it gets the version of the others', () => {
    const { plan, lines } = held({
      spec: { version: six },
      before: { version: five },
      numbers: [0, 1, 2],
      children: (objects) => objects.filter(({ kind, metadata }) => kind !== 'StatefulSet' || metadata.name !== 'db-1'),
      members: { 1: 'gone' },
    });
    expect(lines).toEqual(['create StatefulSet db-1', 'wait MembersNotReady']);
    const made = plan.steps.flatMap((step) => (step.type === 'create' ? [JSON.stringify(step.object.spec)] : []));
    expect(made).toEqual([expect.stringContaining(five)]);
    expect(made.join()).not.toContain(six);
  });
});
