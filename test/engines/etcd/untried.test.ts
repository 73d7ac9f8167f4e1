/** A version that nobody has come to run is gone back from, though nobody is left to say what the data is fit for. */

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { EtcdSpecInput } from '../../../src/engines/etcd/kind/schema.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { takesEtcdBackup, versionWords, words } from '../../support/etcd-words.ts';

const five = '3.5.35';
const six = '3.6.16';

type Mapper = NonNullable<Story['children']>;

/** The pods' only container, as Kubernetes tells of it. */
const container =
  (status: object, pods: readonly string[] = ['db-0-0', 'db-1-0', 'db-2-0']): Mapper =>
  (objects) =>
    objects.map((object) =>
      object.kind === 'Pod' && pods.includes(object.metadata.name)
        ? {
            ...object,
            status: {
              phase: 'Pending',
              conditions: [
                { type: 'PodScheduled', status: 'True' },
                { type: 'Ready', status: 'False' },
              ],
              containerStatuses: [{ name: 'etcd', restartCount: 0, lastState: {}, ...status }],
            },
          }
        : object,
    );
const waiting = (reason: string, more: object = {}): object => ({ state: { waiting: { reason } }, ...more });
const noImage = waiting('ImagePullBackOff');

const labelled =
  (pod: string, version: string): Mapper =>
  (objects) =>
    objects.map((object) =>
      object.kind === 'Pod' && object.metadata.name === pod
        ? {
            ...object,
            metadata: {
              ...object.metadata,
              labels: { ...object.metadata.labels, 'app.kubernetes.io/version': version },
            },
          }
        : object,
    );

const story = (spec: EtcdSpecInput, before: EtcdSpecInput, ran: string | undefined, children: Mapper): Story => ({
  spec,
  before,
  status: { initialized: true, ...(ran === undefined ? {} : { version: ran }) },
  members: { all: 'silent' },
  leader: 'nobody',
  children,
});
const alone = (wanted: string, written: string, ran: string | undefined, status: object): Story =>
  story({ version: wanted, replicas: 1 }, { version: written, replicas: 1 }, ran, container(status));
const three = (children: Mapper): Story => story({ version: five }, { version: six }, five, children);

function look(told: Story) {
  const { cluster, children, observed } = etcdWorld(told);
  const plan = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  const sets = plan.steps.flatMap((step): readonly KubeObject[] =>
    step.type === 'apply' && step.object.kind === 'StatefulSet' ? [step.object] : [],
  );
  const message = plan.outcome.state === 'settled' ? '' : plan.outcome.message;
  return { lines: versionWords(words(plan)), message, sets: JSON.stringify(sets) };
}

describe('a version that nobody has come to run', () => {
  it.each<[string, Story, readonly string[]]>([
    [
      'is gone back from by a member that stands alone',
      alone(five, six, five, noImage),
      ['template db-0', 'wait QuorumLost'],
    ],
    ['is gone back from upwards, too', alone(six, five, six, noImage), ['template db-0', 'wait QuorumLost']],
    [
      'is gone back from where there was no room for it',
      { ...alone(five, six, five, {}), children: (objects) => objects, pods: { all: { unschedulableForMs: 500 } } },
      ['template db-0', 'wait QuorumLost'],
    ],
    [
      'is gone back from where the others, who have never had it, do not answer',
      three((objects) => labelled('db-1-0', five)(labelled('db-2-0', five)(container(noImage, ['db-0-0'])(objects)))),
      ['template db-0', 'template db-1', 'template db-2', 'wait QuorumLost'],
    ],
    [
      'is gone back from by whoever comes after a crash between two templates',
      three((objects) => {
        const { children } = etcdWorld({ spec: { version: five } });
        return container(noImage)(
          objects.map((object) =>
            object.kind === 'StatefulSet' && object.metadata.name === 'db-0'
              ? (children.statefulSet('db-0') ?? object)
              : object,
          ),
        );
      }),
      ['template db-1', 'template db-2', 'wait QuorumLost'],
    ],
    [
      'leaves a pod behind that goes as soon as the template is back',
      {
        ...alone(five, five, five, {}),
        pods: { all: 'outdated' },
        children: (objects) => labelled('db-0-0', six)(container(noImage)(objects)),
      },
      ['delete Pod db-0-0', 'wait Restarting'],
    ],
  ])('%s', (_, told, lines) => expect(look(told).lines).toEqual(lines));

  it('goes with its image', () => {
    const [good, bad] = ['registry.example/etcd:good', 'registry.example/etcd:bad'];
    const { sets } = look(
      story(
        { version: five, image: good, replicas: 1 },
        { version: six, image: bad, replicas: 1 },
        five,
        container(noImage),
      ),
    );
    expect(sets).toContain(good);
    expect(sets).not.toContain(bad);
  });
});

describe('a version that somebody may have run stays until a majority answers', () => {
  it.each<[string, Story]>([
    ['the cluster has run it', alone(five, six, six, noImage)],
    ['nobody knows what the cluster has run', alone(five, six, undefined, noImage)],
    ['its process has ended', alone(five, six, five, waiting('CrashLoopBackOff', { restartCount: 9 }))],
    [
      'its process has been killed once',
      alone(five, six, five, waiting('ImagePullBackOff', { lastState: { terminated: { exitCode: 137 } } })),
    ],
    ['its process is about to start', alone(five, six, five, waiting('ContainerCreating'))],
    ['its process runs', alone(five, six, five, { state: { running: {} } })],
    ['its pod is gone', { ...alone(five, six, five, noImage), members: { all: 'gone' } }],
    [
      'one of three says that it runs it, whatever its pod was made for',
      {
        ...three((objects) => labelled('db-0-0', five)(container(noImage, ['db-1-0', 'db-2-0'])(objects))),
        members: { all: 'silent', 0: { version: six } },
      },
    ],
    ['one of three has run it', three(container(noImage, ['db-0-0', 'db-1-0']))],
  ])('%s', (_, told) => {
    const { lines, message } = look(told);
    expect(lines).toEqual(['wait QuorumLost']);
    expect(message).toMatch(
      /^no majority of the \d member\(s\) answers: .*; 3\.5\.35 waits for a majority that answers$/,
    );
  });
});
