/**
 * A new cluster that begins with a backup. Each row is what a controller may find when it starts again after any write,
 * with what it then does; the planner remembers nothing.
 */

import { describe, expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { ClusterStatus } from '../../src/api/status.ts';
import type { AgentResult } from '../../src/backup/agent-result.ts';
import { parseAgentTask } from '../../src/backup/agent-task.ts';
import { restoredAnnotation } from '../../src/engine/backup-support.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { retiredAnnotation } from '../../src/engines/etcd/names.ts';
import { situationOf as etcdSituationOf } from '../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../src/engines/etcd/plan/plan.ts';
import { termAnnotation } from '../../src/engines/redis/names.ts';
import { situationOf as redisSituationOf } from '../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../src/engines/redis/plan/plan.ts';
import { planRestore } from '../../src/jobs/restore.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import { restrictedBreaches } from '../../src/testing/pod-security.ts';
import { engineOf, type JobEnd, jobOf, refused, resourceOf, taken, target, timeOnly } from '../support/backup-story.ts';
import { etcdWorld } from '../support/etcd-situation.ts';
import { planned as plannedEtcd, takesEtcdBackup } from '../support/etcd-words.ts';
import { planned as plannedRedis } from '../support/plan-words.ts';
import { redisWorld } from '../support/redis-situation.ts';

const restore = { target, id: '20261121T030000Z-0123abcd', cluster: { name: 'old' } };
const kinds = ['RedisCluster', 'EtcdCluster', 'PostgresCluster'] as const;
type Kind = (typeof kinds)[number];

const clusterOf = (kind: Kind, more: object = {}, status?: ClusterStatus): Cluster =>
  resourceOf(kind, 'db', { bootstrap: { restore }, ...more }, status);

/** Claim, task and Job. */
function objectsOf(cluster: Cluster): readonly [claim: KubeObject, config: KubeObject, job: KubeObject] {
  const [claim, config, job] = engineOf(cluster.kind)
    .resources(cluster)
    .map(({ object }) => object);
  if (claim === undefined || config === undefined || job === undefined) throw new Error('nothing to fill');
  return [{ ...claim, metadata: { ...claim.metadata, uid: 'uid-of-claim' } }, fingerprinted(config), job];
}

const fetched: AgentResult = {
  ...(taken as Extract<AgentResult, { result: 'taken' }>),
  result: 'fetched',
} as AgentResult;

async function look(cluster: Cluster, objects: readonly KubeObject[], now?: string) {
  const { plan, status } = await engineOf(cluster.kind).assess(cluster, childrenOf(objects), timeOnly(now));
  return { steps: plan.steps.map(describeStep), outcome: plan.outcome, plan, status };
}

const claimNames = {
  RedisCluster: 'data-db-0',
  EtcdCluster: 'data-db-0-0',
  PostgresCluster: 'data-db-0-0',
} as const;

describe.each(kinds)('a %s with bootstrap.restore', (kind) => {
  const cluster = clusterOf(kind);
  const [claim, config, job] = objectsOf(cluster);
  const begun = [claim, config];
  const going = { ...claim, metadata: { ...claim.metadata, deletionTimestamp: '2026-11-21T03:00:00Z' } };
  const claimName = claimNames[kind];
  const ended = (end: JobEnd, said?: AgentResult): KubeObject[] => [...begun, ...jobOf(job, end, said)];
  it('is told of as a restore until the volume is filled, whatever there is of it', () => {
    const { forecast } = engineOf(kind);
    const told = [[], begun, ended('running')].map((objects) => forecast?.(cluster, childrenOf(objects)));
    expect(told.map((lines) => lines?.[0])).toEqual(
      Array(3).fill('once the volume is filled, the other objects are made'),
    );
    expect(told.flat().join()).not.toContain('earlier cluster');
  });

  const [createClaim, createConfig, createJob] = [
    `create PersistentVolumeClaim ${claimName}`,
    'create ConfigMap db-restore-task',
    'create Job db-restore',
  ];

  it('first of all makes the volume of its first member, and what fills it', async () => {
    const { steps, outcome, status } = await look(cluster, []);
    expect(steps).toEqual([createClaim, createConfig, createJob]);
    expect(outcome).toMatchObject({ state: 'wait', reason: 'Restoring' });
    expect(status.phase).toBe('Creating');
  });

  it('is not filled by the task that an earlier cluster of the name has left', async () => {
    const of = (uid: string) => [{ apiVersion: 'x', kind, name: 'db', uid, controller: true }];
    for (const ownerReferences of [of('uid-of-an-earlier-one'), []]) {
      const left = { ...config, metadata: { ...config.metadata, ownerReferences } };
      // Making it finds the other one, and waits until that is gone.
      expect((await look(cluster, [left])).steps).toEqual([createClaim, createConfig, createJob]);
      expect((await look(cluster, [claim, left])).steps).toEqual([createConfig, createJob]);
    }
    const old = { ...config, metadata: { ...config.metadata, uid: 'u' }, data: { 'task.json': '{}' } };
    expect((await look(cluster, [claim, old])).steps).toEqual(['update ConfigMap db-restore-task', createJob]);
  });

  it('plans the same without a cluster, and after it all that the cluster will get', () => {
    const { bootstrap: _, ...spec } = cluster.spec as CommonSpec;
    const unrestored = engineOf(kind).planOffline({ ...cluster, spec });
    expect(unrestored.steps.length).toBeGreaterThan(5);
    expect(engineOf(kind).planOffline(cluster).steps.map(describeStep)).toEqual([
      createClaim,
      createConfig,
      createJob,
      ...unrestored.steps.map(describeStep),
    ]);
  });

  it('makes the claim that its StatefulSet would make', () => {
    const set = engineOf(kind)
      .resources(cluster)
      .find(({ object }) => object.kind === 'StatefulSet')?.object.spec as {
      volumeClaimTemplates: readonly [KubeObject];
      selector: { matchLabels: object };
    };
    expect(claim).toMatchObject({
      metadata: { name: claimName, labels: set.selector.matchLabels },
      spec: set.volumeClaimTemplates[0].spec,
    });
  });

  it('runs a pod that the Pod Security Standard lets in, with a task that the agent understands', () => {
    const { spec } = (job.spec as { template: { spec: Record<string, unknown> } }).template;
    expect(restrictedBreaches(spec)).toEqual([]);
    expect(parseAgentTask((config.data as Record<string, string>)['task.json'] ?? '', drivers)).toMatchObject({
      task: 'fetch',
      which: { id: '20261121T030000Z-0123abcd', name: 'old' },
    });
  });

  it.each<[story: string, objects: readonly KubeObject[], steps: readonly string[], outcome: string]>([
    ['only the claim was made', [claim], [createConfig, createJob], 'wait Restoring'],
    ['the Job was not made', begun, [createJob], 'wait Restoring'],
    ['its pod cannot start', ended('pending'), [], 'wait Restoring'],
    ['it is at work', ended('running'), [], 'wait Restoring'],
    [
      'its pod waits for what somebody has deleted',
      [claim, ...jobOf(job, 'pending')],
      [createConfig],
      'wait Restoring',
    ],
    ['another pod would wait for it', [claim, ...jobOf(job, 'running')], [createConfig], 'wait Restoring'],
    ['it is done', ended('complete', fetched), [`patch PersistentVolumeClaim ${claimName}`], 'wait Restoring'],
    ['the backup was tampered with', ended('failed', refused('not what was written')), [], 'blocked RestoreFailed'],
    [
      'somebody has deleted the volume meanwhile',
      [config, ...jobOf(job, 'complete', fetched)],
      ['delete Job db-restore: its volume was deleted'],
      'wait Restoring',
    ],
    [
      'the volume is being deleted under its Job',
      [going, config, ...jobOf(job, 'running')],
      ['delete Job db-restore: its volume was deleted'],
      'wait Restoring',
    ],
    ['the volume is being deleted, and its Job is gone', [going, config], [], 'wait Restoring'],
  ])('where %s', async (_, objects, steps, expected) => {
    const { steps: found, outcome } = await look(cluster, objects);
    expect(found).toEqual(steps);
    expect(outcome.state === 'settled' ? '' : `${outcome.state} ${outcome.reason}`).toBe(expected);
  });

  it('says what the agent said, and makes nothing else', async () => {
    const { status } = await look(cluster, ended('failed', refused('it is of another engine')));
    expect(status.phase).toBe('Blocked');
    expect(status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Stalled', message: 'it is of another engine' }),
    );
  });

  it('tries again after a while what may pass', async () => {
    const objects = ended('failed', refused('the store does not answer', true));
    expect(await look(cluster, objects, '2026-11-21T03:00:40Z')).toMatchObject({
      steps: [],
      outcome: { reason: 'RestoreFailed', recheckMs: 30_000 },
    });
    expect((await look(cluster, objects, '2026-11-21T03:01:11Z')).steps).toEqual([
      'delete Job db-restore: it has failed and is begun anew',
    ]);
  });

  it('gives the volume away with the mark of what is on it', async () => {
    const { plan } = await look(cluster, ended('complete', fetched));
    expect(plan.steps[0]).toMatchObject({
      ref: { uid: 'uid-of-claim' },
      patch: {
        metadata: {
          ownerReferences: [],
          annotations: { [restoredAnnotation]: 'apps/RedisCluster/uid-of-db/20261121T030000Z-0123abcd' },
        },
      },
    });
  });

  it('never writes over a volume that somebody has kept', async () => {
    const kept = { ...claim, metadata: { ...claim.metadata, ownerReferences: [] } };
    const other = { ...kept, metadata: { ...kept.metadata, name: `${claimName}-of-another` } };
    for (const objects of [[kept], [other], [...ended('complete', fetched), other]]) {
      expect(await look(cluster, objects)).toMatchObject({ steps: [], outcome: { reason: 'DataExists' } });
    }
  });

  it('takes no volume that an earlier cluster got from another backup for the one that it asks for', async () => {
    const filled = (from: string): KubeObject => ({
      ...claim,
      metadata: { ...claim.metadata, ownerReferences: [], annotations: { [restoredAnnotation]: from } },
    });
    const [same, later, foreign] = [
      `apps/${kind}/uid-of-old/20261121T030000Z-0123abcd`,
      `apps/${kind}/uid-of-old/20261122T030000Z-0123abcd`,
      `apps/${kind}/uid-of-other/20261121T030000Z-0123abcd`,
    ];
    const exact = clusterOf(kind, { bootstrap: { restore: { ...restore, cluster: { uid: 'uid-of-old' } } } });
    for (const [wanted, from] of [
      [cluster, later],
      [exact, foreign],
    ] as const) {
      const { steps, outcome } = await look(wanted, [filled(from)]);
      expect([steps, outcome]).toMatchObject([[], { state: 'blocked', reason: 'DataExists' }]);
      expect(outcome).toMatchObject({ message: expect.stringContaining(from) });
    }
    for (const wanted of [cluster, exact]) {
      const children = childrenOf([filled(same)]);
      expect(planRestore({ cluster: wanted, children, objects: begun, annotations: {}, now: 0 })).toBeUndefined();
    }
  });

  it('waits until an earlier cluster of the name is gone', async () => {
    const foreign = { ...claim, metadata: { ...claim.metadata, ownerReferences: ownedBy('uid-before') } };
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', ownerReferences: ownedBy('uid-before') },
    };
    for (const objects of [[foreign], [set]]) {
      expect(await look(cluster, objects)).toMatchObject({ steps: [], outcome: { reason: 'EarlierCluster' } });
    }
  });

  it('never restores where a member of it exists, or it was formed once', async () => {
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'x', ownerReferences: ownedBy('uid-of-db') },
    };
    const found = [await steps(cluster, [set]), await steps(clusterOf(kind, {}, { initialized: true }), [])];
    for (const made of found) expect(made).not.toContain(createJob);
  });

  it('removes the Job when it is formed', async () => {
    const formed = clusterOf(kind, {}, { initialized: true });
    const stored = [...begun, ...jobOf(job, 'complete', fetched)].map((object) => ({
      ...object,
      metadata: { uid: `uid-of-${object.kind}`, ...object.metadata },
    }));
    expect(await steps(formed, stored)).toEqual(
      expect.arrayContaining([
        'delete Job db-restore: the restore is done',
        'delete ConfigMap db-restore-task: the restore is done',
      ]),
    );
  });

  async function steps(subject: Cluster, objects: readonly KubeObject[]): Promise<readonly string[]> {
    const io = { ...timeOnly(), secret: async () => ({ password: 'x' }) };
    const { plan } = await engineOf(kind).assess(subject, childrenOf(objects), io);
    return plan.steps.map(describeStep);
  }
});

const ownedBy = (uid: string) => [{ apiVersion: 'v1', kind: 'K', name: 'n', uid, controller: true }];

it('a PostgreSQL does not begin where Patroni would go by the ConfigMaps of an earlier cluster', async () => {
  const cluster = clusterOf('PostgresCluster');
  const left = engineOf('PostgresCluster')
    .resources(cluster)
    .filter(({ object }) => object.metadata.name === 'db-config')
    .map(({ object }) => ({ ...object, metadata: { ...object.metadata, uid: 'uid-of-state' } }));
  expect(await look(cluster, left)).toMatchObject({
    steps: [],
    outcome: { state: 'blocked', reason: 'DataExists', message: expect.stringContaining('(db-config)') },
  });
});

it('an etcd that is parked from the beginning waits for its first member', async () => {
  expect(await look(clusterOf('EtcdCluster', { replicas: 0 }), [])).toMatchObject({
    steps: [],
    outcome: { reason: 'Parked' },
  });
});

it('an etcd does not begin empty where the volume that was filled is that of a member that has left', async () => {
  const cluster = clusterOf('EtcdCluster');
  const [claim] = objectsOf(cluster);
  const annotations = {
    [restoredAnnotation]: 'apps/EtcdCluster/uid-of-old/20261121T030000Z-0123abcd',
    [retiredAnnotation]: 'c1/a',
  };
  const left = { ...claim, metadata: { ...claim.metadata, ownerReferences: [], annotations } };
  expect(await look(cluster, [left])).toMatchObject({ steps: [], outcome: { state: 'blocked', reason: 'DataExists' } });
  const { ownsNoVolume } = engineOf('EtcdCluster');
  expect(ownsNoVolume?.(cluster, childrenOf([left]))).toBe(true);
  // Those that stayed hold the data, which goes on.
  const name = 'data-db-3-0';
  const stayed = { ...claim, metadata: { ...claim.metadata, name, ownerReferences: [] } };
  const children = childrenOf([left, stayed]);
  const [, ...objects] = objectsOf(cluster);
  const retired = retiredAnnotation;
  const situation = { cluster, children, objects: [claim, ...objects], annotations: {}, retired, now: 0 };
  expect(planRestore(situation)).toBeUndefined();
  expect(ownsNoVolume?.(cluster, children)).toBe(false);
});

describe('from a filled volume on', () => {
  it('Redis makes the node primary that holds the data, and no blank one', () => {
    const nodes = { all: 'blank', 0: { role: 'replica', electable: true, empty: false, linkUp: false } } as const;
    expect(plannedRedis({ primary: 'nobody', nodes, terms: { 0: 1 }, sentinels: { all: 'forgot' } })).toEqual([
      'promote db-0',
      'wait Promoting',
    ]);
    const [claim] = objectsOf(clusterOf('RedisCluster'));
    expect(claim.metadata.annotations?.[termAnnotation]).toBeUndefined();
  });

  const filled = (objects: readonly KubeObject[]): readonly KubeObject[] =>
    objects
      .filter(({ kind, metadata }) => kind !== 'PersistentVolumeClaim' || metadata.name === 'data-db-0-0')
      .map((object) =>
        object.kind === 'PersistentVolumeClaim'
          ? { ...object, metadata: { ...object.metadata, annotations: { [restoredAnnotation]: 'x' } } }
          : object,
      );

  it('etcd starts its first member on it, and no other', () => {
    const onlyClaims = (objects: readonly KubeObject[]): readonly KubeObject[] =>
      filled(objects).filter(({ kind }) => kind === 'PersistentVolumeClaim');
    const plan = plannedEtcd({ leader: 'nobody', status: {}, children: onlyClaims, observed: { members: [] } });
    expect(plan.filter((line) => line.includes('StatefulSet'))).toEqual(['create StatefulSet db-0']);
    expect(plan.at(-1)).toBe('wait Forming');
  });

  it('etcd waits for it, though nobody has marked the volume as a member’s', () => {
    const story = {
      numbers: [0],
      leader: 'nobody',
      status: {},
      members: { all: 'silent' },
      children: filled,
    } as const;
    expect(plannedEtcd(story).at(-1)).toBe('wait Forming');
  });

  it('etcd says whose password it needs', () => {
    const story = { numbers: [0], leader: 'nobody', status: {}, children: filled } as const;
    const { cluster, children, observed } = etcdWorld(story);
    expect([cluster.metadata.name, children.claims.length, observed.members.length]).toEqual(['db', 1, 1]);
    const refused = { ...story, observed: { credentialsProblem: 'etcd refuses the password' } };
    expect(plannedEtcd(refused).at(-1)).toBe('blocked SecretMissing');
  });

  it('looks again whether a Secret has been put right, which no watch tells', () => {
    const etcd = etcdWorld({ leader: 'nobody', observed: { credentialsProblem: 'etcd refuses the password' } });
    const redis = redisWorld({ observed: { credentialsProblem: 'Secret db-auth is gone' } });
    const outcomes = [
      planEtcd(etcdSituationOf(etcd.cluster, etcd.children, etcd.observed), takesEtcdBackup).outcome,
      planRedis(redisSituationOf(redis.cluster, redis.children, redis.observed)).outcome,
    ];
    expect(outcomes).toMatchObject([{ recheckMs: 10_000 }, { recheckMs: 10_000 }]);
  });
});
