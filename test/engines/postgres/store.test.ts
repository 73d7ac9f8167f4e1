/** Which of Patroni's ConfigMaps the operator makes again: never one whose absence would let the wrong member be promoted. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { stateToMake } from '../../../src/engines/postgres/plan/store.ts';
import { postgresWorld, type StateName, type Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned, words } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const lost = ['blocked StateLost'];
const gone = (...missing: readonly StateName[]): Story => ({ missing });
/** Without a lock nobody is primary, whoever takes writes. */
const withoutPrimary = (...missing: readonly StateName[]): Story => ({ missing, primary: 'nobody' });

describe('a ConfigMap of Patroni that is gone while a primary holds the lock', () => {
  table([
    ['is made again: the configuration', gone('config'), ['create ConfigMap db-config', 'settled']],
    ['is made again: the synchronous state', gone('sync'), ['create ConfigMap db-sync', 'settled']],
    ['is made again: the request for a switchover', gone('failover'), ['create ConfigMap db-failover', 'settled']],
    [
      'is made again: all but the lock',
      gone('config', 'failover', 'sync'),
      [...['config', 'failover', 'sync'].map((name) => `create ConfigMap db-${name}`), 'settled'],
    ],
    [
      'is made again: the lock, while the others tell who may be elected',
      gone('leader'),
      ['create ConfigMap db-leader', 'wait NoPrimary'],
    ],
  ]);

  it('says that the primary alone may be elected, until the primary writes who else may', () => {
    const { cluster, children, observed } = postgresWorld(gone('sync'));
    const [step] = planPostgres(situationOf(cluster, children, observed), () => undefined).steps;
    const made = step?.type === 'create' ? step.object : undefined;
    expect(made?.metadata.annotations).toMatchObject({ leader: 'db-0-0', sync_standby: '', quorum: '0' });
  });
});

describe('a ConfigMap of Patroni that is gone while nobody is primary', () => {
  table([
    ['is not made: the configuration', withoutPrimary('config'), lost],
    ['is not made: the synchronous state', withoutPrimary('sync'), lost],
    [
      'is made: the request for a switchover',
      withoutPrimary('failover'),
      ['create ConfigMap db-failover', 'wait NoPrimary'],
    ],
    [
      'is made: the lock, while the others tell who may be elected',
      withoutPrimary('leader'),
      ['create ConfigMap db-leader', 'wait NoPrimary'],
    ],
    [
      'is made: the lock, though nobody is named who may be elected, while all members answer',
      { ...withoutPrimary('leader'), sync: {} },
      ['create ConfigMap db-leader', 'wait NoPrimary'],
    ],
    [
      'is not made: the lock, where nobody is named who may be elected, and a member is away',
      { ...withoutPrimary('leader'), sync: {}, members: { 1: 'silent' } },
      lost,
    ],
    ['is not made: the lock without the synchronous state', withoutPrimary('leader', 'sync'), lost],
    ['is not made: the lock without the configuration', withoutPrimary('leader', 'config'), lost],
    ['is not made: any of the four', withoutPrimary('config', 'leader', 'failover', 'sync'), lost],
  ]);
});

describe('the lock', () => {
  const made = (story: Story): readonly string[] => {
    const { cluster, children, observed } = postgresWorld(story);
    return stateToMake(situationOf(cluster, children, observed)).map(({ object }) => object.metadata.name);
  };
  it.each<[string, Story, boolean]>([
    ['may be made where the rest is there', withoutPrimary('leader'), true],
    ['may not be made without the synchronous state', withoutPrimary('leader', 'sync'), false],
    ['may not be made without the configuration', withoutPrimary('leader', 'config'), false],
  ])('%s', (_, story, isMade) => expect(made(story).includes('db-leader')).toBe(isMade));
});

describe('the loss of all four', () => {
  const all: readonly StateName[] = ['config', 'leader', 'failover', 'sync'];
  const unknown = { missing: all, primary: 'nobody', status: {}, claims: { all: 'blank' } } as const satisfies Story;
  const blank = { systemId: undefined, role: undefined } as never;
  table([
    [
      'is no new cluster where the status says that there was one',
      { ...unknown, status: { initialized: true }, members: { all: blank } },
      lost,
    ],
    [
      'is no new cluster where a volume has a mark',
      { ...unknown, claims: { 0: 'blank', 1: 'blank' }, members: { all: blank } },
      lost,
    ],
    ['is no new cluster where a member tells of a database', { ...unknown, members: { 0: blank, 1: blank } }, lost],
    [
      'is a new cluster where nobody has ever told of a database',
      { ...unknown, members: { all: blank } },
      [...all.map((name) => `create ConfigMap db-${name}`), 'wait Forming'],
    ],
    [
      'leaves those that run as they are',
      { ...unknown, spec: { instances: 5 }, before: {}, pods: { all: 'outdated' } },
      lost,
    ],
    [
      'keeps a parked cluster parked',
      { ...unknown, spec: { instances: 0 }, before: {}, status: { initialized: true } },
      lost,
    ],
  ]);
});

describe('what Patroni writes', () => {
  it('is no news: it is never written over', () => {
    const scribbled = (objects: readonly KubeObject[]): readonly KubeObject[] =>
      objects.map((object) =>
        ['db-config', 'db-leader', 'db-sync', 'db-failover'].includes(object.metadata.name)
          ? {
              ...object,
              metadata: {
                ...object.metadata,
                labels: {},
                annotations: { ...object.metadata.annotations, history: '[]' },
              },
            }
          : object,
      );
    const { cluster, children, observed } = postgresWorld({ children: scribbled });
    expect(words(planPostgres(situationOf(cluster, children, observed), () => undefined))).toEqual(['settled']);
  });
});

describe('what an earlier cluster of the name has left', () => {
  const left: Story = { status: {}, numbers: [], rostered: [], primary: 'nobody' };
  const isState = ({ kind, metadata }: KubeObject): boolean =>
    kind === 'ConfigMap' && /^db-(config|leader|failover|sync)$/.test(metadata.name);
  it('is no cluster without a volume: nothing is started, and nothing is changed', () => {
    const story: Story = { ...left, children: (objects) => objects.filter(isState) };
    expect(planned(story)).toEqual(['blocked DataLost']);
    const isVolume = ({ kind }: KubeObject): boolean => kind === 'PersistentVolumeClaim';
    const replaced: Story = {
      ...story,
      numbers: [0],
      claims: { 0: 'retired' },
      members: { 0: 'gone' },
      children: (objects) => objects.filter((object) => isState(object) || isVolume(object)),
    };
    expect(planned(replaced)).toEqual(['blocked DataLost']);
    const withoutIdentifier: Story = {
      ...story,
      children: (objects) => objects.filter((object) => isState(object) && !object.metadata.name.endsWith('-config')),
    };
    expect(planned(withoutIdentifier)).toEqual(['blocked DataLost']);
    expect(planned({ ...story, children: () => [] }).at(-1)).toBe('wait Forming');
  });
});
