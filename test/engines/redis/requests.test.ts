/** What a person asks for with an annotation: another primary, or a restart of all members. */
import { describe, expect, it } from 'vitest';
import { restartAnnotation, switchoverAnnotation } from '../../../src/api/maintenance.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { type PlanRow, planned, plannedIn } from '../../support/plan-words.ts';
import { nodeAddress, redisWorld, type Story, type World } from '../../support/redis-situation.ts';

const asking = (annotations: Readonly<Record<string, string>>, story: Story = {}): World => {
  const world = redisWorld(story);
  const { cluster } = world;
  return { ...world, cluster: { ...cluster, metadata: { ...cluster.metadata, uid: 'uid-db', annotations } } };
};
const plannedFor = (to: string, story: Story = {}): string[] =>
  plannedIn(asking({ [switchoverAnnotation]: to }, story));

const preferring: Story = {
  nodes: { 2: { preferred: true } },
  sentinels: {
    all: { replicas: [1, 2].map((i) => ({ address: nodeAddress(i), priority: i === 2 ? 50 : 100, down: false })) },
  },
};

describe('a switchover to a pod', () => {
  it.each<readonly [string, string, Story, string[]]>([
    ['has Sentinel prefer that pod', 'db-2', {}, ['configure db-2 replica-priority=50', 'wait SwitchingOver']],
    ['waits until the sentinels know', 'db-2', { nodes: { 2: { preferred: true } } }, ['wait SwitchingOver']],
    ['asks Sentinel then', 'db-2', preferring, ['hand over db-0 -> db-1|db-2 by db-sentinel-0', 'wait SwitchingOver']],
    ['names no pod of the cluster', 'db-9', {}, ['blocked SwitchoverRefused']],
    ['names a pod that may not be elected', 'db-2', { nodes: { 2: { failoverEligible: false, linkUp: false } } }, []],
    [
      'of a single node is refused',
      'db-1',
      { spec: { mode: 'Standalone', replicas: 1 } },
      ['blocked SwitchoverRefused'],
    ],
    ['waits while a member is away', 'db-2', { nodes: { 1: 'silent' } }, ['wait MembersNotReady']],
  ])('%s', (_, to, story, plan) => {
    const found = plannedFor(to, story);
    if (plan.length === 0) expect(found.join()).not.toContain('hand over');
    else expect(found).toEqual(plan);
  });

  it('is over when the pod is primary: the request goes', () => {
    expect(plannedFor('db-0').join()).toContain(switchoverAnnotation);
  });

  it.each<PlanRow>([
    [
      'that nobody asks for any more prefers nobody',
      { nodes: { 1: { preferred: true } } },
      ['configure db-1 replica-priority=100', 'settled'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

describe('a restart on request', () => {
  const templates = (world: World): string[] => plannedIn(world).filter((line) => line.includes('StatefulSet'));

  it('changes the templates of nodes and sentinels', () => {
    const lines = templates(asking({ [restartAnnotation]: '1' }));
    expect(lines.map((line) => line.replace(/:.*/, ''))).toEqual([
      'apply StatefulSet db',
      'apply StatefulSet db-sentinel',
    ]);
    expect(lines.every((line) => line.includes(restartAnnotation))).toBe(true);
  });

  it('is not taken back when the annotation goes', () => {
    const written = (object: KubeObject): KubeObject => {
      if (object.kind !== 'StatefulSet') return object;
      const spec = object.spec as { readonly template: { readonly metadata: { readonly annotations?: object } } };
      const annotations = { ...spec.template.metadata.annotations, [restartAnnotation]: '1' };
      const metadata = { ...spec.template.metadata, annotations };
      return { ...object, spec: { ...spec, template: { ...spec.template, metadata } } };
    };
    const lines = templates(redisWorld({ children: (objects) => objects.map(written) }));
    expect(lines.join()).not.toContain('spec.template');
  });
});
