import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { noChildren } from '../../../src/resources/children.ts';
import { type PlanRow, planned, words } from '../../support/plan-words.ts';
import { redisCluster, redisWorld, type Story } from '../../support/redis-situation.ts';

/** Valkey 8.1 behind Valkey 9.1, which has a hash whose fields expire. */
const leftBehind = { version: '7.0.15', linkUp: false } as const;
const asked = { fullSyncs: 20 } as const;
const alone = { mode: 'Standalone', replicas: 1 } as const;

describe('restarts for a new template', () => {
  it.each<PlanRow>([
    [
      'sentinels come first',
      { pods: { 'db-sentinel-0': 'outdated', 'db-sentinel-2': 'outdated', 'db-1': 'outdated' } },
      ['delete Pod db-sentinel-2', 'wait Restarting'],
    ],
    [
      'R7: then replicas, the highest ordinal first',
      { pods: { 'db-0': 'outdated', 'db-1': 'outdated', 'db-2': 'outdated' } },
      ['delete Pod db-2', 'wait Restarting'],
    ],
    [
      'R7: replicas first also where the primary has the highest ordinal',
      { primary: 2, pods: { 'db-0': 'outdated', 'db-2': 'outdated' } },
      ['delete Pod db-0', 'wait Restarting'],
    ],
    [
      'R7: the primary last, by a hand-over',
      { pods: { 'db-0': 'outdated' } },
      ['hand over db-0 -> db-1|db-2 by db-sentinel-0', 'wait HandingOver'],
    ],
    [
      'R7: when it has handed over it restarts as a replica',
      { primary: 1, pods: { 'db-0': 'outdated' } },
      ['delete Pod db-0', 'wait Restarting'],
    ],
    [
      'G5: one at a time: the last one is still terminating',
      { pods: { 'db-2': 'terminating', 'db-1': 'outdated' } },
      ['wait MembersNotReady'],
    ],
    [
      'not while one copies, though its version is older',
      { primary: 1, pods: { 'db-0': 'outdated' }, nodes: { 0: { version: '7.0.15', linkUp: false } } },
      ['wait MembersNotReady'],
    ],
    [
      'an older node that cannot load what its newer primary sends restarts, whoever else is not well',
      {
        primary: 1,
        pods: { 'db-0': 'outdated', 'db-2': 'unready' },
        nodes: { 0: { version: '7.0.15', linkUp: false, copyRefused: true } },
      },
      ['delete Pod db-0', 'wait Restarting'],
    ],
    [
      'one after the other',
      {
        primary: 1,
        pods: { 'db-0': 'outdated', 'db-2': 'terminating' },
        nodes: { 0: { version: '7.0.15', linkUp: false, copyRefused: true } },
      },
      ['wait MembersNotReady'],
    ],
    [
      'not one of the same version: it would find the same again',
      { primary: 1, pods: { 'db-0': 'outdated' }, nodes: { 0: { linkUp: false, copyRefused: true } } },
      ['wait MembersNotReady'],
    ],
    [
      'nor one that has the new template',
      { primary: 1, nodes: { 0: { version: '7.0.15', linkUp: false, copyRefused: true } } },
      ['wait MembersNotReady'],
    ],
    [
      'an older node that its primary can write no copy for restarts as well, once it has asked again and again',
      { primary: 1, pods: { 'db-0': 'outdated' }, nodes: { 0: leftBehind, 1: asked } },
      ['delete Pod db-0', 'wait Restarting'],
    ],
    [
      'not while it may receive one',
      { primary: 1, pods: { 'db-0': 'outdated' }, nodes: { 0: leftBehind, 1: { fullSyncs: 19 } } },
      ['wait MembersNotReady'],
    ],
    [
      'nor while another one is away',
      { primary: 1, pods: { 'db-0': 'outdated' }, nodes: { 0: leftBehind, 1: asked, 2: 'silent' } },
      ['wait MembersNotReady'],
    ],
    [
      'nor where a restart takes what it has, and nobody else has it but the primary',
      {
        primary: 1,
        spec: { storage: { ephemeral: true } },
        pods: { 'db-0': 'outdated' },
        nodes: { 0: leftBehind, 1: { ...asked, replicas: [] }, 2: { linkUp: false } },
      },
      ['wait MembersNotReady'],
    ],
    ['G5: it has no pod yet', { nodes: { 2: 'gone' }, pods: { 'db-1': 'outdated' } }, ['wait MembersNotReady']],
    [
      'R7: it is back and still copies',
      { nodes: { 2: { linkUp: false } }, pods: { 'db-1': 'outdated' } },
      ['wait MembersNotReady'],
    ],
    [
      'R7: it is linked, and the primary does not count it yet',
      { nodes: { 0: { replicas: ['10.0.0.1'] } }, pods: { 'db-1': 'outdated' } },
      ['wait MembersNotReady'],
    ],
    [
      'G5: it is in sync and its pod is not ready yet',
      { pods: { 'db-2': 'unready', 'db-1': 'outdated' } },
      ['wait MembersNotReady'],
    ],
    [
      'G5: a sentinel that was restarted has yet to find its peers',
      { sentinels: { 2: { peers: [], replicas: [] } }, pods: { 'db-sentinel-1': 'outdated' } },
      ['wait MembersNotReady'],
    ],
    [
      'nobody restarts while Sentinel fails over',
      { sentinels: { 1: { failingOver: true } }, pods: { 'db-2': 'outdated' } },
      ['wait MembersNotReady'],
    ],
    [
      'a node alone restarts when it has to',
      { spec: alone, pods: { 'db-0': 'outdated' } },
      ['delete Pod db-0', 'wait Restarting'],
    ],
    [
      'so does a primary without replicas',
      { spec: { replicas: 1 }, pods: { 'db-0': 'outdated' } },
      ['delete Pod db-0', 'wait Restarting'],
    ],
    [
      'the StatefulSet controller has not seen the template yet: nobody is known to be outdated',
      { pods: { 'db-2': 'outdated' }, children: unseen },
      ['wait Updating'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it.each<PlanRow>([
    [
      'one that cannot start is replaced, though a member is missing: it is the one',
      { nodes: { 2: 'silent' }, pods: { 'db-2': 'stuck' } },
      ['delete Pod db-2', 'wait Restarting'],
    ],
    [
      'a sentinel first',
      { nodes: { 2: 'silent' }, sentinels: { 1: 'silent' }, pods: { 'db-2': 'stuck', 'db-sentinel-1': 'stuck' } },
      ['delete Pod db-sentinel-1', 'wait Restarting'],
    ],
    [
      'one at a time',
      { nodes: { 2: 'silent' }, pods: { 'db-1': 'terminating', 'db-2': 'stuck' } },
      ['wait MembersNotReady'],
    ],
    [
      'not one whose process answers: it may be copying',
      { nodes: { 2: { linkUp: false } }, pods: { 'db-2': 'stuck' } },
      ['wait MembersNotReady'],
    ],
    [
      'one that was killed goes, too, where everybody else is there',
      { nodes: { 2: 'silent' }, pods: { 'db-2': 'killed' } },
      ['delete Pod db-2', 'wait Restarting'],
    ],
    [
      'not where another is missing: it is about to start again',
      { nodes: { 1: 'silent', 2: 'silent' }, pods: { 'db-2': 'killed' }, status: { initialized: true } },
      ['wait MembersNotReady'],
    ],
    [
      'but where there has never been a database: the first template may have been the wrong one',
      { primary: 'nobody', nodes: { all: 'silent' }, sentinels: { all: 'silent' }, pods: { 'db-1': 'killed' } },
      ['delete Pod db-1', 'wait MembersStarting'],
    ],
    [
      'also before anybody was primary: none of them may ever start',
      { primary: 'nobody', nodes: { all: 'silent' }, sentinels: { all: 'silent' }, pods: { 'db-1': 'stuck' } },
      ['delete Pod db-1', 'wait MembersStarting'],
    ],
    [
      'a sentinel that runs is not, while nobody is primary: it may remember who was',
      {
        primary: 'nobody',
        nodes: { all: 'silent' },
        sentinels: { all: 'silent' },
        pods: { 'db-sentinel-1': 'outdated' },
      },
      ['wait MembersStarting'],
    ],
  ])('of a pod that cannot work: %s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('G1: the pod is named by its UID', () => {
    const { cluster, children, observed } = redisWorld({ pods: { 'db-2': 'outdated' } });
    expect(planRedis(situationOf(cluster, children, observed)).steps).toMatchObject([
      { type: 'delete', ref: { name: 'db-2', namespace: 'apps', uid: 'uid-Pod-db-2' } },
    ]);
  });
});

function unseen(objects: Parameters<Story['children'] & {}>[0]): typeof objects {
  return objects.map((object) =>
    object.kind === 'StatefulSet' ? { ...object, metadata: { ...object.metadata, generation: 2 } } : object,
  );
}

describe('one pass', () => {
  it.each<PlanRow>([
    [
      'the primary is being stopped: its successor is looked for closely',
      { pods: { 'db-0': 'terminating' } },
      ['wait HandingOver'],
    ],
    ['a replica is being stopped: nothing special', { pods: { 'db-1': 'terminating' } }, ['wait MembersNotReady']],
    [
      'the password is missing: nobody can be asked, nobody is judged',
      {
        nodes: { all: 'silent' },
        sentinels: { all: 'silent' },
        observed: { credentialsProblem: 'Secret db-auth is gone' },
      },
      ['blocked SecretMissing'],
    ],
    [
      'a child is missing while nobody is primary: it is made all the same',
      { nodes: { all: 'silent' }, children: (all) => all.filter(({ metadata }) => metadata.name !== 'db-primary') },
      ['create Service db-primary', 'wait MembersStarting'],
    ],
    [
      'a directive that needs no restart: the file is written, the servers are told',
      { before: {}, spec: { config: { timeout: 60 } } },
      [
        expect.stringMatching(/^apply ConfigMap db-config: data\[redis\.conf\]/),
        'configure db-0 timeout=60',
        'configure db-1 timeout=60',
        'configure db-2 timeout=60',
        'settled',
      ],
    ],
    [
      'R10: a lower memory limit is told to the servers as well',
      { before: { resources: { limits: { memory: '1Gi' } } }, spec: { resources: { limits: { memory: '512Mi' } } } },
      [
        expect.stringMatching(/^apply ConfigMap db-config/),
        expect.stringMatching(/^apply StatefulSet db: .*limits\.memory 1Gi > 512Mi/),
        expect.stringMatching(/^configure db-0 maxmemory=322122547 /),
        expect.stringMatching(/^configure db-1 maxmemory=322122547 /),
        expect.stringMatching(/^configure db-2 maxmemory=322122547 /),
        'settled',
      ],
    ],
    [
      'a directive that needs a restart changes the template',
      { before: {}, spec: { config: { 'io-threads': 4 } } },
      [
        expect.stringMatching(/^apply ConfigMap db-config/),
        expect.stringMatching(/^apply StatefulSet db: spec\.template\.metadata\.annotations\[.*restart-hash\]/),
        'settled',
      ],
    ],
    ['a node alone does not answer', { spec: alone, nodes: { 0: 'silent' } }, ['wait MembersStarting']],
    [
      'a node alone was made a replica by hand',
      { spec: alone, nodes: { 0: { role: 'replica' } } },
      ['promote db-0', 'wait Promoting'],
    ],
  ] as readonly PlanRow[])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('of a cluster that has nothing makes everything, the Secret first and the pods last', () => {
    const cluster = redisCluster();
    expect(words(planRedis(situationOf(cluster, noChildren, { data: [], sentinels: [] })))).toEqual([
      'create Secret db-auth',
      'create Secret db-internal',
      'create ConfigMap db-config',
      'create Service db',
      'create Service db-primary',
      'create PodDisruptionBudget db',
      'create StatefulSet db',
      'create Service db-replicas',
      'create Service db-sentinel',
      'create PodDisruptionBudget db-sentinel',
      'create StatefulSet db-sentinel',
      'wait MembersStarting',
    ]);
  });

  it('says when to look again: soon while the database moves, sooner while the primary goes, never when it is settled', () => {
    const recheck = (story: Story): unknown => {
      const { cluster, children, observed } = redisWorld(story);
      const { outcome } = planRedis(situationOf(cluster, children, observed));
      return outcome.state === 'wait' ? outcome.recheckMs : outcome.state;
    };
    expect(
      [{}, { pods: { 'db-0': 'terminating' } }, { nodes: { 1: 'silent' } }, { nodes: { 0: 'silent' } }].map((story) =>
        recheck(story as Story),
      ),
    ).toEqual(['settled', 100, 1000, 500]);
  });
});

describe('volumes', () => {
  const growing: Story = { before: { storage: { size: '1Gi' } }, spec: { storage: { size: '2Gi' } } };
  const grown = [0, 1, 2].map((i) => `try data-db-${i}: spec.resources.requests.storage 1Gi > 2Gi`);

  it.each<PlanRow>([
    ['G4: grow by their claims', growing, [...grown, 'settled']],
    [
      'grow while nobody is primary: the disk may be why',
      { ...growing, nodes: { 0: 'silent' } },
      [...grown, 'wait FailoverPending'],
    ],
    [
      'that somebody has made larger stay',
      { before: { storage: { size: '4Gi' } }, spec: { storage: { size: '2Gi' } } },
      ['settled'],
    ],
    [
      'of which nothing is known stay',
      { ...growing, children: (all) => all.map((o) => (o.kind === 'PersistentVolumeClaim' ? { ...o, spec: {} } : o)) },
      ['settled'],
    ],
    [
      'of the same size in other words stay',
      { before: { storage: { size: '2048Mi' } }, spec: { storage: { size: '2Gi' } } },
      ['settled'],
    ],
    [
      'that somebody has made larger in words that no spec has hold up nothing',
      { spec: { storage: { size: '2Gi' } }, nodes: { 0: 'silent' }, children: (all) => all.map(withStorage('3e9')) },
      ['wait FailoverPending'],
    ],
    [
      'that are smaller in such words grow',
      { spec: { storage: { size: '2Gi' } }, children: (all) => all.map(withStorage('1e9')) },
      [...grown.map((line) => line.replace('1Gi', '1e9')), 'settled'],
    ],
    [
      'of nodes that were scaled away grow, too: they are found again',
      { ...growing, keptClaims: [3] },
      [...grown, 'try data-db-3: spec.resources.requests.storage 1Gi > 2Gi', 'settled'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

function withStorage(storage: string): (object: KubeObject) => KubeObject {
  const spec = { resources: { requests: { storage } } };
  return (object) => (object.kind === 'PersistentVolumeClaim' ? { ...object, spec } : object);
}
