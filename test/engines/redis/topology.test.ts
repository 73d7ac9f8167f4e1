import { describe, expect, it } from 'vitest';
import { choiceAnnotation } from '../../../src/engines/redis/names.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { redisWorld, type Story, termed } from '../../support/redis-situation.ts';

/** `PRIMARY`, or `PRIMARY, ADDRESS is named` where the sentinels name another address, or `nobody`. */
function seen(story: Story): string {
  const { cluster, children, observed } = redisWorld(story);
  const { primary, named } = situationOf(cluster, children, observed).topology;
  const who = primary?.pod ?? 'nobody';
  return named === undefined || named === primary?.address ? who : `${who}, ${named} is named`;
}

const isPrimary = { role: 'primary' } as const;

/** The role was handed to db-1 while all pods went, and the sentinels do not know it. */
const electedByAddress: Story = {
  nodes: { 1: 'unassigned', 2: 'unassigned' },
  sentinels: { all: { primary: '10.8.0.0' } },
  addresses: { 0: '10.8.0.0' },
  terms: { 0: 1, 1: 2 },
};

describe('who is primary', () => {
  it.each<readonly [story: string, situation: Story, seen: string]>([
    ['the sentinels name it and it says so itself', {}, 'db-0'],
    ['a node alone, without sentinels', { spec: { mode: 'Standalone', replicas: 1 } }, 'db-0'],
    ['the named node says that it is a replica', { nodes: { 0: { role: 'replica' } } }, 'nobody, 10.0.0.0 is named'],
    ['the named node is silent', { nodes: { 0: 'silent' } }, 'nobody, 10.0.0.0 is named'],
    ['an isolated old primary has returned: the named one counts', { primary: 1, nodes: { 0: isPrimary } }, 'db-1'],
    [
      'a failover just happened: one sentinel with a newer view outweighs two with the old one',
      {
        primary: 1,
        nodes: { 0: isPrimary },
        sentinels: { 0: { primary: '10.0.0.0' }, 1: { primary: '10.0.0.0' }, 2: { epoch: 2 } },
      },
      'db-1',
    ],
    [
      'a sentinel that was cut off still has the old view',
      { primary: 1, nodes: { 0: isPrimary }, sentinels: { all: { epoch: 2 }, 0: { epoch: 1, primary: '10.0.0.0' } } },
      'db-1',
    ],
    ['of views equally new that of most counts', { sentinels: { 2: { primary: '10.0.0.1' } } }, 'db-0'],
    ['views equally new are split', { sentinels: { 1: { primary: '10.0.0.1' }, 2: 'silent' } }, 'nobody'],
    [
      'R4: the named one is silent and another claims to be primary: not without the sentinels',
      { nodes: { 0: 'silent', 1: isPrimary } },
      'nobody, 10.0.0.0 is named',
    ],
    [
      'a hand-over: the old primary follows the new one before the sentinels have noticed',
      { nodes: { 0: { role: 'replica', follows: '10.0.0.1' }, 1: isPrimary } },
      'db-1, 10.0.0.0 is named',
    ],
    [
      'the old primary follows somebody else than the one that claims the role',
      { nodes: { 0: { role: 'replica', follows: '10.0.0.2' }, 1: isPrimary } },
      'nobody, 10.0.0.0 is named',
    ],
    [
      'every address changed: nobody has the named one, and one node is primary',
      { sentinels: { all: { primary: '10.8.0.1' } } },
      'db-0, 10.8.0.1 is named',
    ],
    [
      'every address changed, and two nodes claim to be primary',
      { nodes: { 1: isPrimary }, sentinels: { all: { primary: '10.8.0.1' } } },
      'nobody, 10.8.0.1 is named',
    ],
    [
      'R4: the primary that they name has lost its address, and one that was primary before it comes back',
      {
        primary: 'nobody',
        nodes: { 0: 'silent', 1: { follows: '10.8.0.1' }, 2: { ...isPrimary, ...termed('primary', 4) } },
        sentinels: { all: { primary: '10.8.0.1' } },
        terms: { 0: 5, 2: 4 },
      },
      'nobody, 10.8.0.1 is named',
    ],
    [
      'unless its own volume tells that it was promoted since, while the operator was away',
      {
        primary: 'nobody',
        nodes: { 0: 'silent', 2: { ...isPrimary, ...termed('primary', 6) } },
        sentinels: { all: { primary: '10.8.0.1' } },
        terms: { 0: 5, 2: 4 },
      },
      'db-2, 10.8.0.1 is named',
    ],
    ['no sentinel watches: the only claim counts', { sentinels: { all: 'forgot' } }, 'db-0'],
    ['nor do they answer', { sentinels: { all: 'silent' } }, 'db-0'],
    [
      'no sentinel watches, and no claim on a volume ranks two nodes',
      { nodes: { 1: isPrimary }, sentinels: { all: 'forgot' }, terms: {} },
      'nobody',
    ],
    [
      'R4: no sentinel watches, and the claims know of a later primary: an old one does not win by answering alone',
      { nodes: { 1: 'silent' }, sentinels: { all: 'forgot' }, terms: { 0: 1, 1: 2 } },
      'nobody',
    ],
    [
      'unless that later one follows it by now: only Sentinel can have told it',
      { sentinels: { all: 'forgot' }, terms: { 0: 1, 1: 2 } },
      'db-0',
    ],
    [
      'or a person says so',
      {
        metadata: { annotations: { [choiceAnnotation]: 'db-0' } },
        nodes: { 1: 'silent' },
        sentinels: { all: 'forgot' },
        terms: { 0: 1, 1: 2 },
      },
      'db-0',
    ],
    [
      'no sentinel watches, two nodes claim the role: the later one counts',
      { nodes: { 1: isPrimary }, sentinels: { all: 'forgot' }, terms: { 0: 1, 1: 2 } },
      'db-1',
    ],
    [
      'a sentinel that watches knows better than the claims: the operator may have been away',
      { sentinels: { 0: 'forgot', 1: 'silent' }, terms: { 1: 2 } },
      'db-0',
    ],
    [
      'a majority names an address that it had before: the election has chosen it, whatever the terms say',
      electedByAddress,
      'db-0, 10.8.0.0 is named',
    ],
    [
      'a minority names an address that it had before',
      { ...electedByAddress, sentinels: { all: 'forgot', 0: { primary: '10.8.0.0' } } },
      'nobody, 10.8.0.0 is named',
    ],
    ['nobody claims the role', { primary: 'nobody' }, 'nobody'],
  ])('%s', (_, story, expected) => expect(seen(story)).toBe(expected));

  it('tells when any sentinel is failing over', () => {
    const failingOver = (story: Story): boolean => {
      const { cluster, children, observed } = redisWorld(story);
      return situationOf(cluster, children, observed).topology.failingOver;
    };
    expect([failingOver({}), failingOver({ sentinels: { 2: { failingOver: true } } })]).toEqual([false, true]);
  });
});
