import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { choiceAnnotation } from '../../../src/engines/redis/names.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { blocked } from '../../../src/plan/plan.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';

const choosing = (pod: string): Story => ({ metadata: { annotations: { [choiceAnnotation]: pod } } });
const alone: Story = {
  primary: 'nobody',
  spec: { mode: 'Standalone', replicas: 1 },
  nodes: { all: 'blank' },
  terms: {},
};

describe('a node that stands alone and follows nobody', () => {
  it.each<PlanRow>([
    ['is promoted where the cluster is new', alone, ['promote db-0', 'wait Promoting']],
    ['does not answer yet', { ...alone, nodes: { 0: 'silent' } }, ['wait MembersStarting']],
    [
      'holds its dataset',
      { ...alone, terms: { 0: 3 }, nodes: { 0: 'unassigned' } },
      ['promote db-0', 'wait Promoting'],
    ],
    ['G8: has lost its volume, as the claim tells', { ...alone, terms: { 0: 3 } }, ['blocked VolumesLost']],
    [
      'G8: has lost its claim, as the status tells',
      { ...alone, status: { initialized: true } },
      ['blocked VolumesLost'],
    ],
    [
      'begins anew where a person wants it to',
      { ...alone, terms: { 0: 3 }, ...choosing('db-0:uid-Pod-db-0') },
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'that keeps nothing begins anew',
      { ...alone, spec: { ...alone.spec, storage: { ephemeral: true } }, status: { initialized: true } },
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'holds less than it had',
      { ...alone, terms: { 0: 3 }, nodes: { 0: { failoverEligible: false } } },
      ['blocked PrimaryVolumeLost'],
    ],
    [
      'takes writes, though another that was scaled away was primary after it',
      { ...alone, terms: { 0: 1, 1: 2 }, keptClaims: [1], nodes: { 0: { role: 'primary' } } },
      ['blocked PrimaryScaledAway'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('is told of with what a person has to write', () => {
    const { cluster, children, observed } = redisWorld({ ...alone, terms: { 0: 3 } });
    expect(planRedis(situationOf(cluster, children, observed)).outcome).toEqual(
      blocked(
        'VolumesLost',
        'the volume is blank, though this cluster has held data; restore a backup into a new cluster, or, to begin anew without data, set the annotation clusterwright.dev/choose-primary to db-0:uid-Pod-db-0',
      ),
    );
  });
});

describe('nodes beside one that stands alone, since somebody has scaled its StatefulSet', () => {
  const scaled: Story = {
    spec: alone.spec ?? {},
    size: 3,
    primary: 0,
    nodes: { 1: 'blank', 2: 'blank' },
    terms: { 0: 1 },
  };
  const shrinks = (story: Story): boolean =>
    planned(story).some((line) => /StatefulSet db: .*spec\.replicas/.test(line));
  it.each<readonly [string, Story, boolean]>([
    ['go one after the other, though nobody has told them whom to follow', scaled, true],
    ['stay while nobody takes writes', { ...scaled, primary: 'nobody' }, false],
    [
      'stay where the last one takes writes, and was primary last',
      { ...scaled, primary: 2, nodes: { 0: 'blank', 1: 'blank' }, terms: { 2: 2 } },
      false,
    ],
  ])('%s', (_, story, isShrinking) => expect(shrinks(story)).toBe(isShrinking));
});

describe('a volume that somebody has deleted, and that stays as long as its pod', () => {
  const going = (objects: readonly KubeObject[]): readonly KubeObject[] =>
    objects.map((object) =>
      object.kind === 'PersistentVolumeClaim'
        ? { ...object, metadata: { ...object.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } }
        : object,
    );
  /** Its finalizer was taken away as well: the pod runs on, on a volume that nobody claims. */
  const gone = (objects: readonly KubeObject[]): readonly KubeObject[] =>
    objects.filter(({ kind }) => kind !== 'PersistentVolumeClaim');
  const unplaced = (objects: readonly KubeObject[]): readonly KubeObject[] =>
    gone(objects).map((object) => (object.kind === 'Pod' ? { ...object, spec: {} } : object));
  const outdated: Story = {
    spec: { mode: 'Standalone', replicas: 1 },
    pods: { 'db-0': 'outdated' },
    status: { initialized: true },
  };
  const stuck: Story = {
    primary: 'nobody',
    nodes: { all: 'silent' },
    sentinels: { all: 'forgot' },
    pods: { 'db-0': 'stuck', 'db-1': 'stuck', 'db-2': 'stuck' },
  };
  it.each<PlanRow>([
    ['a node that stands alone restarts for a change', outdated, ['delete Pod db-0', 'wait Restarting']],
    ['and not where its volume would go', { ...outdated, children: going }, ['blocked VolumesGoing']],
    ['nor where its claim has gone before', { ...outdated, children: gone }, ['blocked VolumesGoing']],
    [
      'which has none where it keeps nothing',
      { ...outdated, spec: { ...outdated.spec, storage: { ephemeral: true } } },
      ['delete Pod db-0', 'wait Restarting'],
    ],
    [
      'and holds none where its pod is on no node yet',
      { ...outdated, primary: 'nobody', nodes: { 0: 'silent' }, pods: { 'db-0': 'stuck' }, children: unplaced },
      ['delete Pod db-0', 'wait MembersStarting'],
    ],
    [
      'nor where it cannot start',
      { ...outdated, primary: 'nobody', nodes: { 0: 'silent' }, pods: { 'db-0': 'stuck' }, children: going },
      ['wait MembersStarting'],
    ],
    [
      'nor one of three that cannot start, where nobody is primary from whom it could have its data',
      { ...stuck, status: { initialized: true }, children: going },
      ['wait MembersStarting'],
    ],
    [
      'which restarts where its volume stays',
      { ...stuck, status: { initialized: true } },
      ['delete Pod db-2', 'wait MembersStarting'],
    ],
    [
      'one of three has the data from the others',
      { pods: { 'db-2': 'outdated' }, children: going },
      ['delete Pod db-2', 'wait Restarting'],
    ],
    [
      'and so has a primary, which hands over first',
      { pods: { 'db-0': 'outdated' }, children: going },
      ['hand over db-0 -> db-1|db-2 by db-sentinel-0', 'wait HandingOver'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('is told of where it keeps a pod from being restarted, with what a person has to do', () => {
    const said = (children: Story['children'] & {}): unknown => {
      const story = { ...outdated, primary: 'nobody', nodes: { 0: 'silent' }, pods: { 'db-0': 'stuck' } } as const;
      const { cluster, children: found, observed } = redisWorld({ ...story, children });
      return planRedis(situationOf(cluster, found, observed)).outcome;
    };
    const held = /the volume data-db-0 .*so that db-0 is not restarted: set persistentVolumeReclaimPolicy: Retain/;
    expect(said(going)).toMatchObject({ state: 'wait', message: expect.stringMatching(held) });
    expect(said(gone)).toMatchObject({ state: 'wait', message: expect.stringMatching(held) });
    expect(said((objects) => objects)).not.toMatchObject({ message: expect.stringContaining('not restarted') });
  });
});
