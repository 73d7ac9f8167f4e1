/** No node is primary, and the sentinels watch an address: whether they elect somebody, or the controller has to. */
import { describe, expect, it } from 'vitest';
import { choiceAnnotation } from '../../../src/engines/redis/names.ts';
import type { SentinelView } from '../../../src/engines/redis/observe/observed.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { knownPeers, knownReplicas, type Story, termed } from '../../support/redis-situation.ts';

const nobody: Story = { primary: 'nobody' };
const choosing = (pod: string): Story => ({ metadata: { annotations: { [choiceAnnotation]: pod } } });

/** Every pod has a new address; the sentinels know the old ones. */
const moved: Story = {
  ...nobody,
  sentinels: { all: { primary: '10.8.0.1', replicas: [] } },
  terms: { 1: 1 },
  addresses: { 0: '10.8.0.0', 1: '10.8.0.1', 2: '10.8.0.2' },
};
/** The last primary and another node have each other's address. */
const swapped = { ...moved.addresses, 1: '10.0.0.2', 2: '10.0.0.1' };
/** Begun just before the primary ended: it has told them nothing. */
const strange: Partial<SentinelView> = { primary: '10.8.0.1', replicas: [], peers: [] };
/** The sentinels have seen a failover that the terms know nothing of. */
const failedOver: Story = { ...moved, sentinels: { all: { primary: '10.8.0.2', replicas: [] } } };

describe('sentinels that watch a primary which is none', () => {
  it.each<PlanRow>([
    ['they name a living pod: the controller waits', { ...nobody, sentinels: { all: {} } }, ['wait FailoverPending']],
    [
      'one of them is enough, whatever a person has chosen',
      { ...nobody, ...choosing('db-1'), sentinels: { 2: {} } },
      ['wait FailoverPending'],
    ],
    [
      'equally new views name different nodes',
      { ...nobody, sentinels: { 0: {}, 1: { primary: '10.0.0.1' } } },
      ['wait SentinelsDisagree'],
    ],
    [
      'they name an address that is gone, but know a replica that lives: the failover is theirs',
      { ...moved, sentinels: { all: { primary: '10.8.0.1' } } },
      ['wait FailoverPending'],
    ],
    [
      'one of them knows one that lives, among others that are gone',
      {
        ...moved,
        sentinels: {
          all: { primary: '10.8.0.1', replicas: [] },
          2: {
            primary: '10.8.0.1',
            replicas: [...knownReplicas(1), { address: '10.8.0.2', priority: 100, down: true }],
          },
        },
      },
      ['wait FailoverPending'],
    ],
    [
      'one alone knows replicas that live, and no sentinel another, nor ever will: the one that is meant is promoted',
      { ...moved, sentinels: { all: strange, 1: { ...strange, replicas: knownReplicas(0, 2) } } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'each knows another replica: they meet nowhere',
      {
        ...moved,
        sentinels: {
          all: strange,
          1: { ...strange, replicas: knownReplicas(0) },
          2: { ...strange, replicas: knownReplicas(2) },
        },
      },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'two of them know the same one: they meet there, and the failover is theirs',
      {
        ...moved,
        sentinels: {
          all: strange,
          1: { ...strange, replicas: knownReplicas(0, 2) },
          2: { ...strange, replicas: knownReplicas(2) },
        },
      },
      ['wait FailoverPending'],
    ],
    [
      'so they do where each knows another one as well',
      {
        ...moved,
        sentinels: {
          all: strange,
          1: { ...strange, replicas: knownReplicas(0, 1) },
          2: { ...strange, replicas: knownReplicas(1, 2) },
        },
      },
      ['wait FailoverPending'],
    ],
    [
      'they meet at no replica that is gone',
      {
        ...moved,
        sentinels: {
          all: { ...strange, replicas: [{ address: '10.8.0.2', priority: 100, down: true }] },
          1: { ...strange, replicas: [...knownReplicas(0), { address: '10.8.0.2', priority: 100, down: true }] },
        },
      },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'the one that knows replicas knows another sentinel',
      { ...moved, sentinels: { all: strange, 1: { ...strange, replicas: knownReplicas(0), peers: knownPeers(2) } } },
      ['wait FailoverPending'],
    ],
    [
      'and two more, which have gone: of the four that it has met, two are no majority',
      {
        ...moved,
        sentinels: {
          all: strange,
          1: {
            ...strange,
            replicas: knownReplicas(0),
            peers: knownPeers(2, 3, 4).map((one) => ({ ...one, down: true })),
          },
        },
      },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'another sentinel knows the one that knows replicas',
      {
        ...moved,
        sentinels: {
          all: strange,
          1: { ...strange, replicas: knownReplicas(0) },
          2: { ...strange, peers: knownPeers(1) },
        },
      },
      ['wait FailoverPending'],
    ],
    [
      'another sentinel knows only one that has gone',
      {
        ...moved,
        sentinels: {
          all: strange,
          1: { ...strange, replicas: knownReplicas(0) },
          2: { ...strange, peers: [{ address: '10.8.1.9', down: true }] },
        },
      },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'one is silent, and may know whom it knows',
      { ...moved, sentinels: { all: strange, 1: { ...strange, replicas: knownReplicas(0) }, 2: 'silent' } },
      ['wait FailoverPending'],
    ],
    [
      'one that watches nobody meets nobody',
      { ...moved, sentinels: { all: strange, 1: { ...strange, replicas: knownReplicas(0) }, 2: 'forgot' } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'by the smaller quorum that it was told before, it needs nobody else',
      {
        ...moved,
        sentinels: { all: strange, 1: { ...strange, replicas: knownReplicas(0), settings: { quorum: '1' } } },
      },
      ['wait FailoverPending'],
    ],
    [
      'the same goes for one that must not be elected, while a failover is under way that may have begun before',
      {
        ...moved,
        sentinels: {
          all: { primary: '10.8.0.1', replicas: [] },
          0: { primary: '10.8.0.1', replicas: [{ address: '10.0.0.2', priority: 0, down: false }], failingOver: true },
        },
      },
      ['wait FailoverPending'],
    ],
    [
      'all that they know is one that must not be elected, and no failover is under way: the one that is meant is promoted',
      {
        ...moved,
        sentinels: { all: { primary: '10.8.0.1', replicas: [{ address: '10.0.0.2', priority: 0, down: false }] } },
      },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'a failover is under way, and all that it could elect are gone: it never ends',
      {
        ...moved,
        sentinels: {
          all: { primary: '10.8.0.1', replicas: [] },
          0: {
            primary: '10.8.0.0',
            replicas: [{ address: '10.8.0.1', priority: 100, down: true }],
            failingOver: true,
          },
        },
      },
      ['promote db-1', 'wait Promoting'],
    ],
    ['every address is new: the node that had the named one is promoted', moved, ['promote db-1', 'wait Promoting']],
    [
      'another node has the named one by now: it is not meant',
      { ...moved, sentinels: { all: { primary: '10.0.0.2', replicas: [] } }, addresses: swapped },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'the node that is meant has it and follows nobody, since its volume did not bear its address yet',
      { ...moved, sentinels: { all: { primary: '10.0.0.1', replicas: [] } }, addresses: { 1: '10.0.0.1' } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'the same on a volume without its dataset, and nobody may be elected: a person chooses',
      {
        ...moved,
        nodes: { all: { failoverEligible: false } },
        sentinels: { all: { primary: '10.0.0.1', replicas: [{ address: '10.0.0.2', priority: 0, down: false }] } },
        addresses: { 1: '10.0.0.1' },
      },
      ['blocked PrimaryVolumeLost'],
    ],
    [
      'a person has chosen another there',
      {
        ...moved,
        ...choosing('db-0:uid-Pod-db-0'),
        nodes: { all: { failoverEligible: false } },
        sentinels: { all: { primary: '10.0.0.1', replicas: [{ address: '10.0.0.2', priority: 0, down: false }] } },
        addresses: { 1: '10.0.0.1' },
      },
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'the node that is meant has it and follows another: it does not wait, and the failover is theirs',
      {
        ...moved,
        nodes: { 1: { follows: '10.0.0.2' } },
        sentinels: { all: { primary: '10.0.0.1', replicas: [] } },
        addresses: { 1: '10.0.0.1' },
      },
      ['wait FailoverPending'],
    ],
    [
      'another node has it, and the one that is meant does not answer: that one is waited for',
      {
        ...moved,
        nodes: { 1: 'silent' },
        sentinels: { all: { primary: '10.0.0.2', replicas: [] } },
        addresses: swapped,
      },
      ['wait PrimaryStarting'],
    ],
    [
      'a pod has it that was not primary last, and no claim tells whose it was: that pod may be the one that is meant',
      { ...moved, sentinels: { all: { primary: '10.0.0.2', replicas: [] } }, addresses: {} },
      ['wait FailoverPending'],
    ],
    [
      'the same while it does not answer: its entry point may be asking for a failover',
      {
        ...moved,
        nodes: { 1: 'silent' },
        sentinels: { all: { primary: '10.0.0.1', replicas: [] } },
        addresses: { 1: '10.0.0.1' },
      },
      ['wait FailoverPending'],
    ],
    [
      'the last primary has it, and was killed before its claim said so',
      { ...moved, sentinels: { all: { primary: '10.0.0.1', replicas: [] } } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'the same at an address that another had before: no sentinel has elected anybody, so the operator has told them of the last primary',
      { ...moved, sentinels: { all: { primary: '10.0.0.1', replicas: [], epoch: 0 } }, addresses: { 2: '10.0.0.1' } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'the same after an election: the other one may have won it',
      { ...moved, sentinels: { all: { primary: '10.0.0.1', replicas: [] } }, addresses: { 2: '10.0.0.1' } },
      ['promote db-2', 'wait Promoting'],
    ],
    [
      'nobody was elected, and one has the address that was not primary last: the one that it was told of is meant',
      { ...moved, sentinels: { all: { primary: '10.0.0.2', replicas: [], epoch: 0 } }, addresses: swapped },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'the same, and a volume has heard of a later term: another may have had that address',
      {
        ...moved,
        nodes: { 0: termed('replica', 2), 2: 'silent' },
        sentinels: { all: { primary: '10.0.0.1', replicas: [] } },
      },
      ['wait PrimaryStarting'],
    ],
    [
      'the same, and they know a replica that lives: the failover is theirs',
      { ...moved, sentinels: { all: { primary: '10.0.0.1', replicas: knownReplicas(2) } } },
      ['wait FailoverPending'],
    ],
    [
      'another has it, but a replica that they know lives: the failover is theirs',
      { ...moved, sentinels: { all: { primary: '10.0.0.2', replicas: knownReplicas(1) } }, addresses: swapped },
      ['wait FailoverPending'],
    ],
    [
      'whatever the status says',
      { ...moved, status: { primary: 'db-0', members: [{ name: 'db-0', role: 'primary', ready: true }] } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'they name another than the last primary by the terms: they have seen a failover that nobody wrote down',
      failedOver,
      ['promote db-2', 'wait Promoting'],
    ],
    [
      'one sentinel alone names another: it may have slept through a failover',
      { ...failedOver, sentinels: { all: 'forgot', 1: { primary: '10.8.0.2', replicas: [] } } },
      ['blocked PrimaryUnknown'],
    ],
    [
      'one alone names the last primary by the terms',
      { ...moved, sentinels: { all: 'forgot', 1: { primary: '10.8.0.1', replicas: [] } } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'one alone names another, and nobody knows where the last primary by the terms ran',
      {
        ...failedOver,
        sentinels: { all: 'forgot', 1: { primary: '10.8.0.2', replicas: [] } },
        addresses: { 2: '10.8.0.2' },
      },
      ['blocked PrimaryUnknown'],
    ],
    ['that node does not answer yet', { ...failedOver, nodes: { 2: 'silent' } }, ['wait PrimaryStarting']],
    ['R1: that node lost its volume', { ...failedOver, nodes: { 2: 'blank' } }, ['blocked PrimaryVolumeLost']],
    [
      'R1: a person names a replica instead',
      { ...failedOver, ...choosing('db-1'), nodes: { 2: 'blank' } },
      ['promote db-1', 'wait Promoting'],
    ],
    [
      'that node was scaled away meanwhile',
      { ...failedOver, spec: { replicas: 2 }, keptClaims: [2] },
      ['blocked PrimaryScaledAway'],
    ],
    [
      'nobody ever had the named address, as far as is written down: anybody may have been primary after the last term',
      { ...moved, sentinels: { all: { primary: '10.8.0.9', replicas: [] } } },
      ['blocked PrimaryUnknown'],
    ],
    [
      'nor was anybody ever primary, as far as is written down',
      { ...moved, terms: {}, sentinels: { all: { primary: '10.8.0.9', replicas: [] } } },
      ['blocked PrimaryUnknown'],
    ],
    [
      'the status, which may be older, says whose the address was: only claims are believed where there are any',
      {
        ...moved,
        sentinels: { all: { primary: '10.8.0.9', replicas: [] } },
        status: { members: [{ name: 'db-1', role: 'primary', ready: true, address: '10.8.0.9' }] },
      },
      ['blocked PrimaryUnknown'],
    ],
    [
      'nodes without claims: the status tells whose the address was',
      {
        ...failedOver,
        spec: { storage: { ephemeral: true } },
        status: {
          primary: 'db-0',
          members: [
            { name: 'db-0', role: 'replica', ready: true, address: '10.8.0.0' },
            { name: 'db-2', role: 'primary', ready: true, address: '10.8.0.2' },
          ],
        },
      },
      ['promote db-2', 'wait Promoting'],
    ],
    [
      'no address was ever written down: the terms tell',
      { ...moved, addresses: {} },
      ['promote db-1', 'wait Promoting'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

describe('sentinels of which as many name one address as another', () => {
  const told = (primary: string, more: Partial<SentinelView> = {}): Partial<SentinelView> => {
    return { primary, epoch: 0, replicas: [], ...more };
  };
  /** The operator ended while it told the sentinels of a primary that had moved: it had one of them forget, and told another. */
  const half: Story = {
    terms: { 1: 1 },
    sentinels: { 0: told('10.0.0.1'), 1: told('10.8.0.1'), 2: 'forgot' },
  };
  /** The primary has moved again meanwhile. */
  const gone: Story = { ...moved, sentinels: { 0: told('10.8.0.1'), 1: told('10.8.0.2'), 2: 'forgot' } };
  it.each<PlanRow>([
    [
      'the others are told of the primary that takes writes, where no pod has the other address',
      { ...half, primary: 1 },
      ['monitor db-sentinel-1 -> db-1 (replace)', 'monitor db-sentinel-2 -> db-1', 'wait Repairing'],
    ],
    [
      'not where another was primary after it',
      { ...half, primary: 1, terms: { 1: 1, 2: 2 }, nodes: { 2: 'unassigned' } },
      ['wait SentinelsDisagree'],
    ],
    [
      'not where a pod has the other address',
      { ...half, primary: 1, sentinels: { ...half.sentinels, 1: told('10.0.0.2') } },
      ['wait SentinelsDisagree'],
    ],
    ['the last primary by the terms is promoted, where no pod has either', gone, ['promote db-1', 'wait Promoting']],
    [
      'not where somebody has been elected',
      { ...gone, sentinels: { 0: told('10.8.0.1', { epoch: 3 }), 1: told('10.8.0.2', { epoch: 3 }), 2: 'forgot' } },
      ['wait SentinelsDisagree'],
    ],
    [
      'not where one of them may elect a replica that lives',
      {
        ...gone,
        sentinels: { all: told('10.8.0.1'), 1: told('10.8.0.2', { replicas: knownReplicas(1) }), 2: 'forgot' },
      },
      ['wait SentinelsDisagree'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});
