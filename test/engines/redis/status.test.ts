import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../src/api/condition.ts';
import type { ClusterStatus, Phase } from '../../../src/api/status.ts';
import type { StatusReport } from '../../../src/engine/engine.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../../src/engines/redis/status.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';
import { coherent } from '../../support/truthful-engine.ts';

function statusIn(story: Story): StatusReport {
  const { cluster, children, observed } = redisWorld(story);
  return coherent(
    redisStatus(situationOf(cluster, children, observed), planRedis(situationOf(cluster, children, observed))),
  );
}

/** The phase, the conditions that are true, and the reason of `Ready`. */
function said(story: Story): string {
  const { phase, conditions } = statusIn(story);
  const holding = conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
  return [phase, ...holding, conditions.find(({ type }) => type === 'Ready')?.reason].join(' ');
}

const was = (phase: Phase, more: Partial<ClusterStatus> = {}): Story => ({
  status: { phase, observedGeneration: 1, initialized: true, ...more },
});

/** Volumes were all that was waited for. */
const expanding: readonly Condition[] = [
  {
    type: 'Ready',
    status: 'False',
    reason: 'ExpandingVolumes',
    message: '',
    observedGeneration: 1,
    lastTransitionTime: '2030-01-01T00:00:00Z',
  },
];

/** One more pod of the name, on its way out. */
function withPod(name: string): NonNullable<Story['children']> {
  return (objects) => {
    const like = objects.find(({ metadata }) => metadata.name === name.replace(/\d$/, '0'));
    if (like === undefined) throw new Error(`no pod is like ${name}`);
    return [...objects, { ...like, metadata: { ...like.metadata, name, deletionTimestamp: '2030-01-01T00:00:00Z' } }];
  };
}

/** A StatefulSet whose change Kubernetes has yet to take up. */
function unseen(name: string): NonNullable<Story['children']> {
  return (objects) =>
    objects.map((object) =>
      object.kind === 'StatefulSet' && object.metadata.name === name
        ? { ...object, metadata: { ...object.metadata, generation: 2 } }
        : object,
    );
}

/** What the volumes have. */
function withCapacity(all: string, some: Readonly<Record<string, string>> = {}): NonNullable<Story['children']> {
  return (objects) =>
    objects.map((object) =>
      object.kind === 'PersistentVolumeClaim'
        ? { ...object, status: { phase: 'Bound', capacity: { storage: some[object.metadata.name] ?? all } } }
        : object,
    );
}

describe('the phase', () => {
  it.each<readonly [story: string, situation: Story, said: string]>([
    ['all is well', was('Ready'), 'Ready Ready AllMembersReady'],
    ['all is well for the first time', {}, 'Ready Ready AllMembersReady'],
    [
      'the spec was changed as the change before came to its end, and asks for nothing more: nothing would bring another look',
      { ...was('Updating'), metadata: { generation: 2 } },
      'Ready Ready AllMembersReady',
    ],
    [
      'a disk is full: nobody is restarted meanwhile, and a change that is under way does not hide it',
      {
        ...was('Ready'),
        nodes: { 0: { findings: [{ type: 'DiskFull', message: 'full', holdsRestarts: true }] } },
        pods: { 'db-2': 'outdated' },
      },
      'Degraded Progressing Degraded Reconciling DiskFull MembersNotReady',
    ],
    [
      'a disk is full',
      { ...was('Ready'), nodes: { 0: { findings: [{ type: 'DiskFull', message: 'full', holdsRestarts: true }] } } },
      'Degraded Progressing Degraded Reconciling DiskFull MembersNotReady',
    ],
    [
      'its volumes grow',
      { ...was('Ready'), spec: { storage: { size: '10Gi' } }, before: {}, children: withCapacity('2Gi') },
      'Updating Progressing Reconciling VolumesTooSmall ExpandingVolumes',
    ],
    [
      'a member is away, and its volumes cannot grow: nobody has asked for that',
      {
        ...was('Blocked'),
        spec: { storage: { size: '10Gi' } },
        before: {},
        nodes: { 2: 'silent' },
        children: withCapacity('2Gi'),
      },
      'Degraded Progressing Degraded Reconciling VolumesTooSmall MembersNotReady',
    ],
    [
      'a member is away, and its volumes have been growing for long: nobody has asked for that',
      {
        ...was('Updating', { conditions: expanding }),
        spec: { storage: { size: '10Gi' } },
        before: {},
        nodes: { 2: 'silent' },
        children: withCapacity('2Gi'),
      },
      'Degraded Progressing Degraded Reconciling VolumesTooSmall MembersNotReady',
    ],
    [
      'a file could not be rewritten, and its volumes cannot grow',
      {
        ...was('Blocked'),
        spec: { storage: { size: '10Gi' } },
        before: {},
        nodes: { 1: { findings: [{ type: 'PersistenceFailing', message: 'no' }] } },
        children: withCapacity('2Gi'),
      },
      'Degraded Progressing Degraded Reconciling PersistenceFailing VolumesTooSmall ExpandingVolumes',
    ],
    [
      'a volume that has been scaled away does not grow',
      {
        ...was('Ready'),
        spec: { storage: { size: '10Gi' } },
        before: {},
        keptClaims: [3],
        children: withCapacity('10Gi', { 'data-db-3': '2Gi' }),
      },
      'Ready Ready AllMembersReady',
    ],
    [
      'volumes have more than is asked for, as after another cluster of the name',
      { ...was('Ready'), before: { storage: { size: '10Gi' } }, children: withCapacity('10Gi') },
      'Ready Ready SpecWarning AllMembersReady',
    ],
    [
      'a file could not be rewritten, and nothing is due',
      { ...was('Ready'), nodes: { 1: { findings: [{ type: 'PersistenceFailing', message: 'no' }] } } },
      'Degraded Degraded PersistenceFailing PersistenceFailing',
    ],
    [
      'it is being created',
      { primary: 'nobody', nodes: { all: 'blank' }, terms: {} },
      'Creating Progressing Reconciling Promoting',
    ],
    [
      'it is still being created: the primary is there, a member is not',
      { ...was('Creating'), nodes: { 2: 'silent' } },
      'Creating Progressing Reconciling MembersNotReady',
    ],
    [
      'its primary is not labelled yet, so no client reaches it',
      { ...was('Creating'), pods: { 'db-0': 'unlabelled' } },
      'Creating Progressing Reconciling Updating',
    ],
    [
      'a replica is not labelled yet: no client reaches it, and what its pod says may be old',
      { ...was('Degraded'), pods: { 'db-2': 'unlabelled' } },
      'Degraded Progressing Degraded Reconciling Updating',
    ],
    [
      'it was the primary, and is still labelled so',
      { ...was('Degraded'), pods: { 'db-2': 'primary' } },
      'Degraded Progressing Degraded Reconciling Updating',
    ],
    [
      'a member is away',
      { ...was('Ready'), nodes: { 2: 'silent' } },
      'Degraded Progressing Degraded Reconciling MembersNotReady',
    ],
    [
      'a member has no pod: nobody asked for that',
      { ...was('Ready'), nodes: { 2: 'gone' } },
      'Degraded Progressing Degraded Reconciling MembersNotReady',
    ],
    [
      'nor for a sentinel without one',
      { ...was('Ready'), sentinels: { 2: 'gone' } },
      'Degraded Progressing Degraded Reconciling MembersNotReady',
    ],
    [
      'the pod of a node that was scaled away is still going',
      { ...was('Ready'), children: withPod('db-3') },
      'Updating Progressing Reconciling MembersNotReady',
    ],
    [
      'so is that of a sentinel',
      { ...was('Ready'), children: withPod('db-sentinel-3') },
      'Updating Progressing Reconciling MembersNotReady',
    ],
    [
      'a member is away, and the spec has just changed',
      { ...was('Ready'), metadata: { generation: 2 }, nodes: { 2: 'silent' } },
      'Updating Progressing Reconciling MembersNotReady',
    ],
    [
      'nobody is primary',
      { ...was('Ready'), nodes: { 0: 'silent' } },
      'Degraded Progressing Degraded Reconciling FailoverPending',
    ],
    [
      'nobody is primary in the middle of an update',
      { ...was('Updating'), nodes: { 0: 'silent' } },
      'Degraded Progressing Degraded Reconciling FailoverPending',
    ],
    [
      'R3: too few sentinels for a failover',
      { ...was('Ready'), sentinels: { 0: 'silent', 1: 'silent' } },
      'Degraded Progressing Degraded Reconciling MembersNotReady',
    ],
    ['it grows', { ...was('Ready'), spec: { replicas: 5 }, size: 3 }, 'Updating Progressing Reconciling Updating'],
    ['it shrinks', { ...was('Ready'), spec: { replicas: 3 }, size: 4 }, 'Updating Progressing Reconciling ScalingIn'],
    [
      'pods restart for a new template',
      { ...was('Ready'), pods: { 'db-1': 'outdated' } },
      'Updating Progressing Reconciling Restarting',
    ],
    [
      'sentinels restart for a new template',
      { ...was('Ready'), pods: { 'db-sentinel-1': 'outdated' } },
      'Updating Progressing Reconciling Restarting',
    ],
    [
      'nobody knows yet who has to restart for a new template',
      { ...was('Ready'), children: unseen('db') },
      'Updating Progressing Reconciling Updating',
    ],
    [
      'nor which sentinel',
      { ...was('Ready'), children: unseen('db-sentinel') },
      'Updating Progressing Reconciling Updating',
    ],
    [
      'a sentinel is added',
      { ...was('Ready'), spec: { sentinel: { replicas: 5, quorum: 3 } }, sentinelSize: 3 },
      'Updating Progressing Reconciling Updating',
    ],
    [
      'a pod restarts in an update: nobody is paged',
      { ...was('Updating'), nodes: { 1: 'gone' } },
      'Updating Progressing Reconciling MembersNotReady',
    ],
    ['the update is done', was('Updating'), 'Ready Ready AllMembersReady'],
    [
      'the volumes are gone',
      { ...was('Ready'), primary: 'nobody', nodes: { all: 'blank' }, terms: {} },
      'Blocked Degraded Stalled VolumesLost',
    ],
    [
      'it cannot even begin',
      { observed: { credentialsProblem: 'Secret a with key password does not exist' }, nodes: { all: 'silent' } },
      'Blocked Stalled SecretMissing',
    ],
    [
      'a node alone is well',
      { ...was('Ready'), spec: { mode: 'Standalone', replicas: 1 } },
      'Ready Ready AllMembersReady',
    ],
    [
      'a node alone is away',
      { ...was('Ready'), spec: { mode: 'Standalone', replicas: 1 }, nodes: { 0: 'silent' } },
      'Degraded Progressing Degraded Reconciling MembersStarting',
    ],
  ])('%s', (_, story, expected) => expect(said(story)).toBe(expected));
});

describe('the status', () => {
  const bound: Story = { status: { binding: { name: 'db-auth' } } };
  it.each<readonly [story: string, Story, expected: string | undefined]>([
    ['has all of its keys', { observed: { isBindable: true } }, 'db-auth'],
    ['is older than them', { ...bound, observed: { isBindable: false } }, undefined],
    ['has not been read since the operator started, and had them', bound, 'db-auth'],
    ['has not been read yet', {}, undefined],
    [
      'is not used any more',
      { ...bound, spec: { auth: { secretRef: { name: 'mine', key: 'p' } } }, observed: { isBindable: true } },
      undefined,
    ],
  ])('names the Secret for bindings only if it is one: it %s', (_, story, expected) =>
    expect((statusIn(story) as ClusterStatus).binding?.name).toBe(expected),
  );

  it('tells members, roles, addresses and how to connect', () => {
    const observed = { isBindable: true };
    const { conditions, ...rest } = statusIn({
      spec: { replicas: 2 },
      nodes: { 1: 'silent' },
      sentinelSize: 1,
      observed,
    });
    expect(rest).toMatchInlineSnapshot(`
      {
        "binding": {
          "name": "db-auth",
        },
        "connection": {
          "secretName": "db-auth",
          "services": [
            {
              "host": "db-primary",
              "port": 6379,
              "role": "primary",
            },
            {
              "host": "db-replicas",
              "port": 6379,
              "role": "replicas",
            },
            {
              "host": "db-sentinel",
              "port": 26379,
              "role": "sentinel",
            },
          ],
        },
        "initialized": true,
        "members": [
          {
            "address": "10.0.0.0",
            "name": "db-0",
            "node": "node-0",
            "ready": true,
            "role": "primary",
            "version": "8.0.1",
          },
          {
            "address": "10.0.0.1",
            "name": "db-1",
            "node": "node-1",
            "ready": true,
            "role": "unknown",
          },
          {
            "address": "10.0.1.0",
            "name": "db-sentinel-0",
            "node": "node-0",
            "ready": true,
            "role": "sentinel",
          },
        ],
        "phase": "Creating",
        "primary": "db-0",
        "readyReplicas": 2,
        "replicas": 2,
        "selector": "app.kubernetes.io/name=redis,app.kubernetes.io/instance=db,app.kubernetes.io/component=data,app.kubernetes.io/managed-by=clusterwright",
        "version": "8.0.1",
      }
    `);
    expect(conditions.map(({ type, message }) => `${type}: ${message}`)).toMatchInlineSnapshot(`
      [
        "Ready: db-1 does not answer; too few sentinels know and reach the members",
        "Progressing: db-1 does not answer; too few sentinels know and reach the members",
        "Degraded: db-1 does not answer; too few sentinels know and reach the members",
        "Reconciling: db-1 does not answer; too few sentinels know and reach the members",
      ]
    `);
  });

  it('remembers the primary and the version while nobody is primary', () => {
    const story: Story = { ...was('Ready', { primary: 'db-1', version: '7.2.4' }), nodes: { all: 'silent' } };
    expect(statusIn(story)).toMatchObject({ primary: 'db-1', version: '7.2.4', initialized: true });
  });

  it('G8: is initialized from the first primary on, and never less', () => {
    const blank: Story = { primary: 'nobody', nodes: { all: 'blank' }, terms: {} };
    expect(
      [{}, was('Blocked'), { ...was('Ready'), ...blank }, blank].map((story) => statusIn(story).initialized),
    ).toEqual([true, true, true, undefined]);
  });

  it('of a node alone names one service', () => {
    expect(statusIn({ spec: { mode: 'Standalone', replicas: 1 } }).connection?.services).toEqual([
      { role: 'primary', host: 'db-primary', port: 6379 },
    ]);
  });

  it('names the Secret of the user', () => {
    const spec = { auth: { secretRef: { name: 'mine', key: 'redis' } } };
    expect(statusIn({ spec }).connection?.secretName).toBe('mine');
  });
});
