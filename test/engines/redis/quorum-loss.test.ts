import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { choiceAnnotation } from '../../../src/engines/redis/names.ts';
import type { SentinelView } from '../../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { knownPeers, knownReplicas, redisWorld, type Story, termed } from '../../support/redis-situation.ts';

const initialized = { initialized: true } as const;
const choosing = (pod: string): Story => ({ metadata: { annotations: { [choiceAnnotation]: pod } } });

describe('two machines lost of three, and one of them is back', () => {
  /**
   * Machine 0 restarted: db-0, which was primary, has another address, and its sentinel has learned from the one of machine 2 whom to watch.
   * The two know nobody in common, and machine 1 does not return.
   */
  const returned: Story = {
    status: initialized,
    primary: 'nobody',
    terms: { 0: 1 },
    addresses: { 0: '10.8.0.0', 1: '10.0.0.1', 2: '10.0.0.2' },
    nodes: { 1: 'silent' },
    sentinels: {
      0: { primary: '10.8.0.0', primaryDown: true, replicas: [], peers: [] },
      1: 'silent',
      2: {
        primary: '10.8.0.0',
        primaryDown: true,
        replicas: knownReplicas(1, 2),
        peers: [
          { address: '10.8.1.0', down: true },
          { address: '10.0.1.1', down: true },
        ],
      },
    },
    pods: { 'db-1': 'unready', 'db-sentinel-1': 'unready' },
  };
  const choose = (ordinal: number, uid = `uid-Pod-db-${ordinal}`): Story => choosing(`db-${ordinal}:${uid}`);

  it.each<PlanRow>([
    ['who is left cannot elect, and a person is told so', returned, ['wait QuorumLost']],
    ['a person goes on with the last primary', { ...returned, ...choose(0) }, ['promote db-0', 'wait Promoting']],
    ['or with another of its term', { ...returned, ...choose(2) }, ['promote db-2', 'wait Promoting']],
    ['a choice without the UID was made for another day', { ...returned, ...choosing('db-0') }, ['wait QuorumLost']],
    ['so was one of an earlier pod of the name', { ...returned, ...choose(0, 'before') }, ['wait QuorumLost']],
    ['who does not answer cannot be chosen', { ...returned, ...choose(1) }, ['wait QuorumLost']],
    [
      'R4: nor one of an earlier term than another that answers',
      { ...returned, ...choose(2), nodes: { 1: 'silent', 0: termed('primary', 5), 2: termed('replica', 4) } },
      ['wait QuorumLost'],
    ],
    [
      'nor one that does not hold its dataset',
      { ...returned, ...choose(2), nodes: { 1: 'silent', 2: { failoverEligible: false } } },
      ['wait QuorumLost'],
    ],
    [
      'Kubernetes calls one of them ready: it may elect',
      { ...returned, ...choose(0), pods: { 'db-1': 'unready' } },
      ['wait FailoverPending'],
    ],
    [
      'the two know each other: the failover is theirs',
      {
        ...returned,
        ...choose(0),
        sentinels: { ...returned.sentinels, 0: { primary: '10.8.0.0', replicas: [], peers: knownPeers(2) } },
      },
      ['wait FailoverPending'],
    ],
    [
      'the two know each other, and all that they could elect is lost',
      {
        ...returned,
        ...choose(0),
        sentinels: {
          1: 'silent',
          0: { primary: '10.8.0.0', replicas: [], peers: knownPeers(2) },
          2: { primary: '10.8.0.0', replicas: knownReplicas(1), peers: knownPeers(0) },
        },
      },
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'a failover is under way',
      {
        ...returned,
        ...choose(0),
        sentinels: { ...returned.sentinels, 2: { primary: '10.8.0.0', failingOver: true } },
      },
      ['wait FailoverPending'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('the status says who was primary last, and how to go on', () => {
    const { cluster, children, observed } = redisWorld(returned);
    expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({
      message:
        'the 2 sentinels that answer cannot elect a primary without those that do not; no answer from db-1, db-sentinel-1; ' +
        'db-0 was primary last; if the others are gone for good, set the annotation ' +
        'clusterwright.dev/choose-primary to db-0:uid-Pod-db-0',
    });
  });

  it('where another kept running when it ended, it says that this one has the most', () => {
    const { cluster, children, observed } = redisWorld({
      ...returned,
      nodes: { 0: { offset: 0 }, 1: 'silent', 2: { follows: '10.8.0.0', linkUp: false, offset: 5000 } },
    });
    expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({
      message: expect.stringContaining(
        '; db-2 has the most data of those that answer (term 1, offset 5000); if the others are gone for good, set the ' +
          'annotation clusterwright.dev/choose-primary to db-2:uid-Pod-db-2',
      ),
    });
  });

  it('where that one is being stopped, it says who was primary last', () => {
    const { cluster, children, observed } = redisWorld({
      ...returned,
      nodes: { 0: { offset: 0 }, 1: 'silent', 2: { follows: '10.8.0.0', linkUp: false, offset: 5000 } },
      pods: { ...returned.pods, 'db-2': 'terminating' },
    });
    expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({
      message: expect.stringContaining('; db-0 was primary last; if the others are gone for good'),
    });
  });

  it('where the last primary is not whole, it says who has the most data', () => {
    const { cluster, children, observed } = redisWorld({ ...returned, nodes: { 0: 'blank', 1: 'silent' } });
    expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({
      message: expect.stringContaining('; db-2 has the most data of those that answer (term 1, offset 1000); if'),
    });
  });
});

describe('two machines lost of three', () => {
  /** db-1 and a sentinel are left, and Kubernetes has lost sight of the others. */
  const lost: Story = {
    status: initialized,
    nodes: { 0: 'silent', 2: 'silent' },
    sentinels: { 0: 'silent', 2: 'silent', 1: { primaryDown: true, seesPrimary: false } },
    pods: { 'db-0': 'unready', 'db-2': 'unready', 'db-sentinel-0': 'unready', 'db-sentinel-2': 'unready' },
  };
  const uid = (pod: string): string => `uid-Pod-${pod}`;
  /** Every pod had another address when it was written down. */
  const moved: Story = { primary: 'nobody', terms: { 1: 1 }, addresses: { 1: '10.8.0.1' } };
  const knowing = (change: Partial<SentinelView['replicas'][number]>): Partial<SentinelView> => ({
    replicas: [{ address: '10.0.0.1', priority: 100, down: false, ...change }],
  });
  const starting = (pod: KubeObject): KubeObject => ({
    ...pod,
    status: {
      phase: 'Pending',
      conditions: [
        { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status: 'False' },
      ],
    },
  });
  const chosen = { ...lost, ...choosing(`db-1:${uid('db-1')}`) };

  it.each<PlanRow>([
    ['nobody is chosen yet', lost, ['wait QuorumLost']],
    [
      'a person chooses who is left: the sentinel that is left makes it primary',
      chosen,
      ['fail over by db-sentinel-1', 'wait Promoting'],
    ],
    [
      'their pods wait for a machine: nothing runs at the named address any more',
      {
        ...chosen,
        pods: {
          'db-0': 'unschedulable',
          'db-2': 'unschedulable',
          'db-sentinel-0': 'unschedulable',
          'db-sentinel-2': 'unschedulable',
        },
      },
      ['fail over by db-sentinel-1', 'wait Promoting'],
    ],
    [
      'their pods are gone',
      { ...chosen, nodes: { 0: 'gone', 2: 'gone' }, sentinels: { ...chosen.sentinels, 0: 'gone', 2: 'gone' } },
      ['fail over by db-sentinel-1', 'wait Promoting'],
    ],
    ['a choice without the UID was made for another day', { ...lost, ...choosing('db-1') }, ['wait QuorumLost']],
    ['so was one of an earlier pod of the name', { ...lost, ...choosing('db-1:uid-before') }, ['wait QuorumLost']],
    [
      'nor is it one that has the UID of another pod',
      { ...lost, ...choosing(`db-0:${uid('db-1')}`) },
      ['wait QuorumLost'],
    ],
    ['who does not answer cannot be chosen', { ...lost, ...choosing(`db-0:${uid('db-0')}`) }, ['wait QuorumLost']],
    [
      'nor one on a blank volume',
      { ...chosen, nodes: { ...chosen.nodes, 1: { failoverEligible: false } } },
      ['wait FailoverPending'],
    ],
    [
      'nor that, where another holds all that it had',
      {
        ...lost,
        ...choosing(`db-2:${uid('db-2')}`),
        nodes: { 0: 'silent', 2: { failoverEligible: false, offset: 2000 } },
        pods: { 'db-0': 'unready', 'db-sentinel-0': 'unready', 'db-sentinel-2': 'unready' },
      },
      ['wait QuorumLost'],
    ],
    [
      'R4: nor one that has less than another that answers',
      {
        ...chosen,
        nodes: { 0: 'silent', 2: { offset: 1001 } },
        pods: { 'db-0': 'unready', 'db-sentinel-0': 'unready', 'db-sentinel-2': 'unready' },
      },
      ['wait QuorumLost'],
    ],
    [
      'R4: nor one of an earlier term, however far it has counted by itself',
      {
        ...lost,
        ...choosing(`db-2:${uid('db-2')}`),
        nodes: { 0: 'silent', 1: termed('replica', 5), 2: { offset: 2000, ...termed('primary', 4) } },
        pods: { 'db-0': 'unready', 'db-sentinel-0': 'unready', 'db-sentinel-2': 'unready' },
      },
      ['wait QuorumLost'],
    ],
    [
      'Sentinel would elect that one, and is told not to',
      {
        ...chosen,
        nodes: { 0: 'silent', 1: termed('replica', 5), 2: { offset: 2000, ...termed('primary', 4) } },
        pods: { 'db-0': 'unready', 'db-sentinel-0': 'unready', 'db-sentinel-2': 'unready' },
      },
      ['configure db-2 replica-priority=0', 'wait Demoting'],
    ],
    [
      'and is asked once it knows',
      {
        ...chosen,
        nodes: {
          0: 'silent',
          1: termed('replica', 5),
          2: { offset: 2000, failoverEligible: false, ...termed('primary', 4) },
        },
        sentinels: { ...chosen.sentinels, 1: { primaryDown: true, seesPrimary: false, replicas: knownReplicas(1) } },
        pods: { 'db-0': 'unready', 'db-sentinel-0': 'unready', 'db-sentinel-2': 'unready' },
      },
      ['fail over by db-sentinel-1', 'wait Promoting'],
    ],
    [
      'Kubernetes calls one of them ready: the operator alone may be cut off, and a primary runs',
      { ...chosen, pods: { 'db-2': 'unready', 'db-sentinel-0': 'unready', 'db-sentinel-2': 'unready' } },
      ['wait FailoverPending'],
    ],
    [
      'one more sentinel answers: the failover is theirs',
      { ...chosen, sentinels: { 0: 'silent', 1: { primaryDown: true }, 2: { primaryDown: true } } },
      ['wait FailoverPending'],
    ],
    [
      'it is under way',
      { ...chosen, sentinels: { ...chosen.sentinels, 1: { failingOver: true } } },
      ['wait FailoverPending'],
    ],
    [
      'the sentinel that is left does not know who was chosen',
      { ...chosen, sentinels: { ...chosen.sentinels, 1: { replicas: [] } } },
      ['wait QuorumLost'],
    ],
    [
      'it knows another alone',
      { ...chosen, sentinels: { ...chosen.sentinels, 1: { replicas: knownReplicas(2) } } },
      ['wait QuorumLost'],
    ],
    [
      'it takes it for dead',
      { ...chosen, sentinels: { ...chosen.sentinels, 1: knowing({ down: true }) } },
      ['wait QuorumLost'],
    ],
    [
      'it has been told not to elect it',
      { ...chosen, sentinels: { ...chosen.sentinels, 1: knowing({ priority: 0 }) } },
      ['wait QuorumLost'],
    ],
    [
      'their pods are being deleted: nobody restarts them as they are',
      { ...chosen, pods: { ...lost.pods, 'db-0': 'terminating', 'db-sentinel-2': 'terminating' } },
      ['fail over by db-sentinel-1', 'wait Promoting'],
    ],
    [
      'one was asked for, and its pod has gone since',
      { ...chosen, children: (all) => all.filter(({ metadata }) => metadata.name !== 'db-2') },
      ['fail over by db-sentinel-1', 'wait Promoting'],
    ],
    [
      'one of them is being started: it may bring more',
      {
        ...chosen,
        children: (all) => all.map((object) => (object.metadata.name === 'db-2' ? starting(object) : object)),
      },
      ['wait FailoverPending'],
    ],
    [
      'nobody needs to be chosen: the address that the sentinel names was that of the node that is left',
      { ...lost, ...moved, sentinels: { ...lost.sentinels, 1: { primary: '10.8.0.1', replicas: [] } } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'nobody knows who was primary: that comes first',
      { ...lost, ...moved, sentinels: { ...lost.sentinels, 1: { primary: '10.8.0.9', replicas: [] } } },
      ['blocked PrimaryUnknown'],
    ],
    [
      'no sentinel is left: it is made primary, and the next ones are told',
      {
        ...chosen,
        sentinels: { all: 'silent' },
        pods: { ...chosen.pods, 'db-sentinel-1': 'unready' },
      },
      ['promote db-1', 'wait Promoting'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('a person is told of those who do not answer only where there are any', () => {
    const { cluster, children, observed } = redisWorld({
      ...lost,
      nodes: { 0: 'gone', 2: 'gone' },
      sentinels: { ...lost.sentinels, 0: 'gone', 2: 'gone' },
    });
    expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({
      message: expect.stringMatching(/^1 of 3 sentinels answer, too few to elect a primary; db-1 has the most data/),
    });
  });

  it('the status says what a person has to know, and how to choose', () => {
    const { cluster, children, observed } = redisWorld(lost);
    expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({
      message:
        '1 of 3 sentinels answer, too few to elect a primary; no answer from db-0, db-2, db-sentinel-0, db-sentinel-2; ' +
        'db-1 has the most data of those that answer (term 1, offset 1000); if the others are gone for good, ' +
        `set the annotation clusterwright.dev/choose-primary to db-1:${uid('db-1')}`,
    });
  });

  it('whoever was chosen is primary, and stays chosen until a majority of the sentinels says so', () => {
    const won: Story = {
      ...chosen,
      primary: 1,
      terms: { 0: 1 },
      nodes: { 0: 'silent', 2: 'silent' },
      sentinels: { 0: 'silent', 2: 'silent' },
    };
    expect(planned(won)).toEqual(['wait MembersNotReady']);
  });
});

describe('a quorum that is raised with more sentinels, of which none runs yet, and the node of the primary is lost', () => {
  const knowing = (...peers: readonly number[]) => ({ primaryDown: true, peers: knownPeers(...peers) });
  const lost: Story = {
    status: initialized,
    before: {},
    spec: { sentinel: { replicas: 5, quorum: 3 } },
    sentinelSize: 5,
    nodes: { 0: 'silent' },
    sentinels: { 0: 'silent', 1: knowing(0, 2), 2: knowing(0, 1), 3: 'gone', 4: 'gone' },
    pods: { 'db-0': 'unready', 'db-sentinel-0': 'unready' },
  };
  const newcomer: Story = {
    ...lost,
    sentinels: { ...lost.sentinels, 2: 'silent', 3: knowing() },
    pods: { ...lost.pods, 'db-sentinel-2': 'unready' },
  };

  it.each([
    ['the two that are left elect by the quorum of before', lost, 'wait FailoverPending'],
    ['not one of them beside one that nobody knows', newcomer, 'wait QuorumLost'],
  ] as const)('%s', (_, story, outcome) => expect(planned(story).at(-1)).toBe(outcome));
});
