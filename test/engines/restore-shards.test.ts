/** A new Redis Cluster that begins with a backup: a volume for each shard. Each row is what a controller may find when it starts again. */
import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { AgentResult } from '../../src/backup/agent-result.ts';
import { parseAgentTask } from '../../src/backup/agent-task.ts';
import { restoredAnnotation } from '../../src/engine/backup-support.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { restoredShardText } from '../../src/engines/redis/client/restored-shard.ts';
import { restoredKeysAnnotation, slotsAnnotation } from '../../src/engines/redis/names.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import { engineOf, type JobEnd, jobOf, refused, resourceOf, taken, target, timeOnly } from '../support/backup-story.ts';

const shards = [0, 1, 2] as const;
const folder = 'backups/apps/RedisCluster/uid-of-old/20261121T030000Z-0123abcd';
const engine = engineOf('RedisCluster');
const clusterOf = (restore: object = {}, more: object = {}): Cluster =>
  resourceOf('RedisCluster', 'db', {
    mode: 'Cluster',
    bootstrap: { restore: { target, cluster: { name: 'old' }, ...restore } },
    ...more,
  });
const cluster = clusterOf();

const wanted = (name: string): KubeObject => {
  const found = engine.resources(cluster).find(({ object }) => object.metadata.name === name)?.object;
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};
const jobName = (shard: number): string => (shard === 0 ? 'db-restore' : `db-restore-${shard}`);
const claimName = (shard: number): string => `data-db-s${shard}-0`;
const claim = (shard: number, metadata: object = {}): KubeObject => {
  const made = wanted(claimName(shard));
  return { ...made, metadata: { ...made.metadata, uid: `uid-of-claim-${shard}`, ...metadata } };
};
const filled = (shard: number, from = folder): KubeObject =>
  claim(shard, { annotations: { [restoredAnnotation]: from } });
const free = (shard: number, from = folder): KubeObject => ({
  ...filled(shard, from),
  metadata: { ...filled(shard, from).metadata, ownerReferences: [] },
});
const task = (shard: number): KubeObject => fingerprinted(wanted(`${jobName(shard)}-task`));

const told = (shard: number): string => {
  const slots = [{ first: shard * 5000, last: shard * 5000 + 10 }];
  return restoredShardText({ slots, lastingKeys: 7 });
};
const fetched = (more: object = {}): AgentResult => {
  const { backup } = taken as Extract<AgentResult, { result: 'taken' }>;
  return { result: 'fetched', isRepeated: false, milliseconds: 1, backup: { ...backup, folder }, ...more };
};
/** Claim, task and Job of a shard. */
const at = (shard: number, end: JobEnd, said?: AgentResult): KubeObject[] => [
  claim(shard),
  task(shard),
  ...jobOf(wanted(jobName(shard)), end, said),
];

async function look(objects: readonly KubeObject[], subject = cluster, now?: string) {
  const { plan } = await engine.assess(subject, childrenOf(objects), timeOnly(now));
  const { outcome } = plan;
  const words = outcome.state === 'settled' ? '' : `${outcome.state} ${outcome.reason}: ${outcome.message}`;
  return { plan, words, steps: plan.steps.map(describeStep) };
}
const begins = (shard: number): string[] => [
  `create PersistentVolumeClaim ${claimName(shard)}`,
  `create ConfigMap ${jobName(shard)}-task`,
  `create Job ${jobName(shard)}`,
];
const patch = (shard: number): string => `patch PersistentVolumeClaim ${claimName(shard)}`;

describe('a RedisCluster in mode Cluster with bootstrap.restore', () => {
  it.each<readonly [what: string, objects: readonly KubeObject[], steps: readonly string[], words: RegExp]>([
    ['the first volume alone decides which backup it is', [], begins(0), /wait Restoring: 0 of 3 volumes are filled/],
    ['it is at work', at(0, 'running'), [], /wait Restoring: 0 of 3/],
    ['it is done', at(0, 'complete', fetched({ told: told(0) })), [patch(0)], /the first volume is filled/],
    ['then the others are filled side by side', [filled(0)], [...begins(1), ...begins(2)], /1 of 3 volumes are filled/],
    [
      'one of them is done',
      [filled(0), ...at(1, 'complete', fetched({ told: told(1) })), ...at(2, 'running')],
      [patch(1)],
      /wait Restoring: 1 of 3/,
    ],
    ['one of them is missing', [filled(0), filled(2)], begins(1), /wait Restoring: 2 of 3/],
    [
      'the backup fits no such cluster',
      [filled(0), ...at(1, 'failed', refused('it has 5 shards')), ...at(2, 'running')],
      [],
      /blocked RestoreFailed: 1 of 3 volumes are filled: it has 5 shards/,
    ],
    [
      'nobody has kept what the agent said: the next attempt says it again',
      at(0, 'complete'),
      ['delete Job db-restore: nobody has kept what it said of the volume'],
      /wait Restoring/,
    ],
    [
      'the agent told nothing of use',
      at(0, 'complete', fetched({ told: 'x' })),
      [],
      /has not said what is on the volume/,
    ],
    ['it told nothing', at(0, 'complete', fetched()), [], /blocked RestoreFailed/],
    [
      'all are filled, and belong to the cluster still',
      [0, 1, 2].map((s) => filled(s)),
      [0, 1, 2].map(patch),
      /all volumes are filled/,
    ],
    ['the operator died while it gave them away', [free(0), filled(1), free(2)], [patch(1)], /all volumes are filled/],
    [
      'one of those that an earlier cluster has left is gone',
      [free(0), free(2)],
      [],
      /blocked DataExists: there are volumes of an earlier cluster/,
    ],
    [
      'they were filled from several backups',
      [filled(0), filled(1, `${folder}9`), filled(2)],
      [],
      /blocked DataExists: the volume data-db-s0-0 was filled from .*, and data-db-s1-0 from/,
    ],
  ])('%s', async (_, objects, steps, words) => {
    const found = await look(objects);
    expect(found.steps).toEqual(steps);
    expect(found.words).toMatch(words);
  });

  it('goes on once every volume is filled and belongs to nobody, and never before', async () => {
    const sets = async (objects: readonly KubeObject[]) =>
      (await engine.assess(cluster, childrenOf(objects), { ...timeOnly(), secret: async () => undefined })).plan.steps
        .map(describeStep)
        .filter((step) => step.includes('StatefulSet'));
    expect(await sets([0, 1, 2].map((s) => free(s)))).toHaveLength(3);
    for (const objects of [[], [filled(0)], [filled(0), filled(1)], [0, 1, 2].map((s) => filled(s))]) {
      expect(await sets(objects)).toEqual([]);
    }
  });

  it('writes on the claim which slots it is of, and keeps the claim until all are filled', async () => {
    const { plan } = await look(at(0, 'complete', fetched({ told: told(0) })));
    expect(plan.steps[0]).toMatchObject({
      patch: {
        metadata: {
          annotations: { [restoredAnnotation]: folder, [slotsAnnotation]: '0-10', [restoredKeysAnnotation]: '7' },
        },
      },
    });
    expect(JSON.stringify(plan.steps[0])).not.toContain('ownerReferences');
  });

  it('gets every other volume from the backup that the first one got, whatever is the newest by then', async () => {
    const { plan } = await look([filled(0)]);
    const tasks = plan.steps.flatMap((step) =>
      step.type === 'create' && step.object.kind === 'ConfigMap'
        ? [parseAgentTask((step.object.data as Record<string, string>)['task.json'] ?? '', drivers)]
        : [],
    );
    expect(tasks).toMatchObject(
      [1, 2].map((index) => ({
        which: { id: '20261121T030000Z-0123abcd', uid: 'uid-of-old', namespace: 'apps', name: 'old' },
        destination: { shard: { index, count: 3 } },
      })),
    );
    const first = parseAgentTask((task(0).data as Record<string, string>)['task.json'] ?? '', drivers);
    expect(first).toMatchObject({ which: { name: 'old' }, destination: { shard: { index: 0, count: 3 } } });
    expect(first).not.toHaveProperty('which.id');
  });

  it('tries again what may pass', async () => {
    const objects = [filled(0), ...at(1, 'failed', refused('the store does not answer', true)), filled(2)];
    expect((await look(objects, cluster, '2026-11-21T03:00:40Z')).plan).toMatchObject({
      steps: [],
      outcome: { reason: 'RestoreFailed', recheckMs: 30_000 },
    });
    expect((await look(objects, cluster, '2026-11-21T03:01:11Z')).steps).toEqual([
      'delete Job db-restore-1: it has failed and is begun anew',
    ]);
  });

  it('fills at most eight side by side', async () => {
    const many = clusterOf({}, { shards: 12, replicasPerShard: 0 });
    const { plan } = await look([filled(0)], many);
    expect(plan.steps).toHaveLength(8 * 3);
  });

  it('takes no volumes of another backup for those that it asks for', async () => {
    const other = clusterOf({ id: '20261122T030000Z-0123abcd' });
    expect(
      (
        await look(
          [0, 1, 2].map((s) => free(s)),
          other,
        )
      ).words,
    ).toMatch(/blocked DataExists: the volume data-db-s0-0/);
  });

  it('plans all of it without a cluster, and removes every Job once it is formed', async () => {
    const offline = engine.planOffline(cluster).steps.map(describeStep);
    for (const shard of shards) expect(offline).toEqual(expect.arrayContaining(begins(shard)));
    const formed = { ...cluster, status: { initialized: true } };
    const stored = shards.flatMap((shard) => at(shard, 'complete', fetched({ told: told(shard) })));
    const children = childrenOf(
      stored.map((object) => ({ ...object, metadata: { uid: `uid-of-${object.metadata.name}`, ...object.metadata } })),
    );
    const { plan } = await engine.assess(formed, children, { ...timeOnly(), secret: async () => undefined });
    expect(plan.steps.map(describeStep)).toEqual(
      expect.arrayContaining(shards.map((shard) => `delete Job ${jobName(shard)}: the restore is done`)),
    );
  });
});
