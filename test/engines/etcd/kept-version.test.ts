/** What members go on running while the version of the spec may not be rolled out. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { releasedImage } from '../../../src/engines/etcd/kind/released-image.ts';
import { type Situation, situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { keeps, pinnedVersion } from '../../../src/engines/etcd/plan/pinned-version.ts';
import type { PinnedVersion } from '../../../src/engines/etcd/resources/resources.ts';
import type { ObjectStep } from '../../../src/plan/plan.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';

const five = '3.5.35';
const six = '3.6.16';

function situation(story: Story): Situation {
  const { cluster, children, observed } = etcdWorld(story);
  return situationOf(cluster, children, observed);
}
const up: Story = { spec: { version: six }, before: { version: five } };
const ofItsOwn: Story = {
  spec: { version: six, image: 'registry/etcd:new' },
  members: { all: { version: five } },
};
const setsOf = (change: (set: KubeObject) => KubeObject): NonNullable<Story['children']> => {
  return (objects) => objects.map((object) => (object.kind === 'StatefulSet' ? change(object) : object));
};
const templateOf = (version: string) => (set: KubeObject) => {
  const spec = structuredClone(set.spec) as { template: { metadata: { labels: Record<string, string> } } };
  spec.template.metadata.labels['app.kubernetes.io/version'] = version;
  return { ...set, spec };
};
const runningImages: NonNullable<Story['children']> = (objects) =>
  objects.map((object) =>
    object.kind === 'Pod'
      ? {
          ...object,
          status: {
            ...(object.status as object),
            containerStatuses: [
              { name: 'proxy', image: 'proxy', restartCount: 0 },
              { name: 'etcd', image: `registry/of-${object.metadata.name}`, restartCount: 0 },
            ],
          },
        }
      : object,
  );

describe('the version that a member keeps', () => {
  type Row = readonly [story: string, world: Story, number: number, kept: PinnedVersion | undefined];
  it.each<Row>([
    [
      'is the one that it runs',
      { ...up, members: { 1: { version: '3.5.21' } } },
      1,
      { version: '3.5.21', image: releasedImage('3.5.21') },
    ],
    [
      'is the one of its template where it does not answer',
      { ...up, members: { 0: { version: six }, 1: 'silent' } },
      1,
      { version: five, image: releasedImage(five) },
    ],
    [
      'is the one of its template where it does not say',
      { ...up, members: { 1: { version: '' } } },
      1,
      { version: five, image: releasedImage(five) },
    ],
    [
      'of a new one is the earliest that runs',
      { ...up, members: { 0: { version: '3.6.1' }, 1: { version: five }, 2: { version: '3.5.9' } } },
      3,
      { version: '3.5.9', image: releasedImage('3.5.9') },
    ],
    [
      'of a new one is the earliest of the templates where nobody answers',
      {
        ...up,
        members: { all: 'silent' },
        leader: 'nobody',
        children: setsOf((set) => (set.metadata.name === 'db-1' ? templateOf('3.5.9')(set) : set)),
      },
      3,
      { version: '3.5.9', image: releasedImage(five) },
    ],
    [
      'is unknown where there is nothing that says it',
      {
        ...up,
        members: { all: 'silent' },
        leader: 'nobody',
        children: (objects) => objects.filter(({ kind }) => kind !== 'StatefulSet'),
      },
      1,
      undefined,
    ],
    [
      'has the image of a template that names it',
      { ...ofItsOwn, before: { version: five, image: 'registry/etcd:old' } },
      1,
      { version: five, image: 'registry/etcd:old' },
    ],
    [
      'has the image of a pod that runs it, where every template names another by now',
      {
        ...ofItsOwn,
        members: { 0: { version: six }, 1: { version: five }, 2: { version: five } },
        children: runningImages,
      },
      2,
      { version: five, image: 'registry/of-db-1-0' },
    ],
    [
      'has the image of the spec where no pod tells one',
      { ...ofItsOwn },
      1,
      { version: five, image: 'registry/etcd:new' },
    ],
    [
      'has the image of the spec where no pod runs it',
      {
        ...ofItsOwn,
        members: { all: 'silent' },
        leader: 'nobody',
        children: (objects) =>
          runningImages(objects).map((object) =>
            object.kind === 'StatefulSet'
              ? { ...object, spec: { template: { metadata: { labels: { 'app.kubernetes.io/version': five } } } } }
              : object,
          ),
      },
      1,
      { version: five, image: 'registry/etcd:new' },
    ],
  ])('%s', (_, world, number, kept) => expect(pinnedVersion(situation(world), number)).toEqual(kept));
});

describe('a step while versions are kept', () => {
  const world = situation(up);
  const live = world.sets.get(1) as KubeObject;
  const apply = (object: KubeObject, path: string): ObjectStep => ({ type: 'apply', object, changes: [{ path }] });
  const template = 'spec.template.spec.containers';
  it.each<readonly [story: string, step: ObjectStep, keeps: boolean]>([
    ['that changes what a member starts with is not taken', apply(live, template), false],
    ['that changes how many there are is', apply(live, 'spec.replicas'), true],
    ['that gives a member back its version is', apply(templateOf(six)(live), template), true],
    ['on something else is', apply({ ...live, kind: 'ConfigMap' }, template), true],
    ['that makes something is', { type: 'create', object: live }, true],
  ])('%s', (_, step, expected) => expect(keeps(situation(up), step)).toBe(expected));

  it('that does several things at once is, where one of them is how many there are', () => {
    const step: ObjectStep = {
      type: 'apply',
      object: live,
      changes: [{ path: template }, { path: 'spec.replicas' }],
    };
    expect(keeps(situation(up), step)).toBe(true);
  });
});
