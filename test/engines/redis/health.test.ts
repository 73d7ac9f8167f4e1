import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { disruptionBlockers, readinessProblems } from '../../../src/engines/redis/plan/health.ts';
import { atSize } from '../../../src/plan/objects.ts';
import { knownPeers, knownReplicas, nodeAddress, redisWorld, type Story } from '../../support/redis-situation.ts';

/** The StatefulSet has been scaled in, and the pods are still there. */
const atThree = (object: KubeObject): KubeObject => (object.kind === 'StatefulSet' ? atSize(object, 3) : object);

function problems(story: Story): { readonly readinessProblems: string[]; readonly disruptionBlockers: string[] } {
  const { cluster, children, observed } = redisWorld(story);
  const situation = situationOf(cluster, children, observed);
  const { primary } = situation.topology;
  if (primary === undefined) throw new Error('the story has no primary');
  return {
    readinessProblems: readinessProblems(situation, primary),
    disruptionBlockers: disruptionBlockers(situation, primary),
  };
}

describe('what users could notice', () => {
  it.each<readonly [story: string, situation: Story, troubles: readonly string[]]>([
    ['nothing', {}, []],
    ['nothing on a node alone', { spec: { mode: 'Standalone', replicas: 1 } }, []],
    ['nothing with one node under Sentinel', { spec: { replicas: 1 } }, []],
    [
      'pods are missing',
      { nodes: { 1: 'gone', 2: 'gone' }, sentinels: { 1: 'gone' } },
      ['2 data node(s) have no pod', '1 sentinel(s) have no pod'],
    ],
    ['a pod is terminating', { pods: { 'db-1': 'terminating' } }, ['db-1 is terminating']],
    [
      'a pod cannot be scheduled',
      { nodes: { 1: 'silent' }, pods: { 'db-1': 'unschedulable' } },
      ['db-1 cannot be scheduled: 0/3 nodes are available'],
    ],
    ['a node is silent', { nodes: { 2: 'silent' } }, ['db-2 does not answer']],
    ['a node follows another', { nodes: { 2: { follows: nodeAddress(1) } } }, ['db-2 does not follow db-0']],
    ['a node copies', { nodes: { 2: { linkUp: false } } }, ['db-2 is copying from db-0']],
    [
      'a node cannot load what it copies',
      { nodes: { 2: { copyRefused: true, linkUp: false } } },
      ['db-2 cannot load what it copies from db-0'],
    ],
    [
      'a node says that a restart could lose data',
      {
        nodes: { 1: { findings: [{ type: 'DiskFull', message: 'the volume of db-1 is full', holdsRestarts: true }] } },
      },
      ['the volume of db-1 is full'],
    ],
    [
      'nothing where it says what a restart cannot harm',
      { nodes: { 1: { findings: [{ type: 'PersistenceFailing', message: 'db-1 could not save a snapshot' }] } } },
      [],
    ],
    [
      'pods are leaving',
      { size: 4, before: { replicas: 4 }, children: (all) => all.map(atThree) },
      ['1 data node(s) are leaving'],
    ],
    [
      'a sentinel cannot be scheduled',
      { sentinels: { 1: 'silent' }, pods: { 'db-sentinel-1': 'unschedulable' } },
      ['db-sentinel-1 cannot be scheduled: 0/3 nodes are available'],
    ],
    ['a node catches up', { nodes: { 0: { replicas: [nodeAddress(1)] } } }, ['db-2 is catching up with db-0']],
    ['a pod is not ready', { pods: { 'db-0': 'unready' } }, ['db-0 is not ready']],
    ['a sentinel is silent', { sentinels: { 1: 'silent' } }, ['db-sentinel-1 does not answer']],
    ['a sentinel watches nobody', { sentinels: { 1: 'forgot' } }, ['db-sentinel-1 watches nobody']],
    [
      'a sentinel watches another',
      { sentinels: { 1: { primary: nodeAddress(2), epoch: 0 } } },
      ['db-sentinel-1 does not watch db-0 yet'],
    ],
    ['a sentinel is not ready', { pods: { 'db-sentinel-1': 'unready' } }, ['db-sentinel-1 is not ready']],
    ['a failover runs', { sentinels: { 1: { failingOver: true } } }, ['Sentinel is failing over']],
    [
      'R3: only one of three sentinels is alive: a failover could not happen',
      { sentinels: { 0: 'silent', 1: 'silent' } },
      ['db-sentinel-0 does not answer', 'db-sentinel-1 does not answer'],
    ],
    [
      'R3: the sentinels do not know each other: none of them could get a majority',
      { sentinels: { all: { peers: [] } } },
      ['too few sentinels know and reach the members'],
    ],
    [
      'R3: the operator reaches the primary, and most sentinels do not',
      { sentinels: { 1: { primaryDown: true }, 2: { primaryDown: true } } },
      ['too few sentinels know and reach the members'],
    ],
    ['nothing, where one of three sentinels does not reach it', { sentinels: { 1: { primaryDown: true } } }, []],
    [
      'R3: the sentinels reach no replica',
      { sentinels: { all: { replicas: knownReplicas(1, 2).map((known) => ({ ...known, down: true })) } } },
      ['too few sentinels know and reach the members'],
    ],
    [
      'R3: the sentinels do not reach each other',
      { sentinels: { all: { peers: knownPeers(0, 1, 2).map((known) => ({ ...known, down: true })) } } },
      ['too few sentinels know and reach the members'],
    ],
    [
      'R3: the sentinels know peers that are dead',
      { sentinels: { all: { peers: [{ address: '10.8.1.1', down: true }] } } },
      ['too few sentinels know and reach the members'],
    ],
    [
      'R3: the sentinels know only replicas that are gone',
      { sentinels: { all: { replicas: [{ address: '10.8.0.1', priority: 100, down: true }] } } },
      ['too few sentinels know and reach the members'],
    ],
    [
      'R3: the sentinels know no replica that they could elect',
      { sentinels: { 0: { replicas: [] }, 1: { replicas: [] } } },
      ['too few sentinels know and reach the members'],
    ],
  ])('%s', (_, story, expected) => {
    const found = problems(story);
    expect(found.readinessProblems).toEqual(expected);
    if (expected.length > 0) expect(found.disruptionBlockers).toEqual(expected);
  });
});

it('R3: two of three sentinels that know a majority are enough for a failover', () => {
  expect(problems({ sentinels: { 2: { peers: [] } } }).readinessProblems).toEqual([]);
  expect(
    problems({ sentinels: { 0: { peers: knownPeers(1) }, 1: { peers: knownPeers(0) } } }).readinessProblems,
  ).toEqual([]);
});

describe('what has to settle before anybody is interrupted', () => {
  it.each<readonly [story: string, situation: Story, troubles: readonly string[]]>([
    ['nothing', {}, []],
    [
      'one sentinel of three has yet to find a peer',
      { sentinels: { 2: { peers: knownPeers(0) } } },
      ['db-sentinel-2 does not know every member yet'],
    ],
    [
      'or a replica',
      { sentinels: { 0: { replicas: knownReplicas(2) } } },
      ['db-sentinel-0 does not know every member yet'],
    ],
  ])('%s', (_, story, expected) => {
    expect(problems(story)).toEqual({ readinessProblems: [], disruptionBlockers: expected });
  });
});
