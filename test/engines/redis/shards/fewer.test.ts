/** Fewer shards or replicas than there are, also where the nodes that are to go have never joined, or are lost with their machines. */
import { describe, expect, it } from 'vitest';
import type { ClusterNode } from '../../../../src/engines/redis/client/cluster-nodes.ts';
import { firstSlotsOf } from '../../../../src/engines/redis/kind/shards.ts';
import { slotText } from '../../../../src/engines/redis/kind/slots.ts';
import { nodeAnnotation, slotsAnnotation } from '../../../../src/engines/redis/names.ts';
import { shardsSituation } from '../../../../src/engines/redis/observe/shards/situation.ts';
import { planShards } from '../../../../src/engines/redis/plan/shards/plan.ts';
import { childrenOf } from '../../../../src/resources/children.ts';
import { words } from '../../../support/plan-words.ts';
import { redisCluster } from '../../../support/redis-situation.ts';
import { idOf, type ShardChange, type ShardsStory, shardPods, shardsWorld } from '../../../support/shards-situation.ts';

/** Without the ConfigMap, which names all peers, and the templates that follow it. */
const planned = (story: ShardsStory): readonly string[] =>
  words(planShards(shardsWorld(story))).filter((line) => !/ConfigMap|^apply StatefulSet \S+ spec\.template/.test(line));

const blank: ShardChange = { role: 'primary', slots: [], empty: true, isAlone: true, isUnknown: true };
const three = { 'db-s0': {}, 'db-s1': {}, 'db-s2': {} };
const four = { ...three, 'db-s3': {} };
const formed = 'metadata.annotations[clusterwright.dev/cluster-formed]';
const seconds = ['db-s0-2', 'db-s1-2', 'db-s2-2'];
const each = (pods: readonly string[], change: ShardChange): Record<string, ShardChange> =>
  Object.fromEntries(pods.map((pod) => [pod, change]));
const one = { replicasPerShard: 1 } as const;

describe('nodes that are to go before they have met anybody', () => {
  it.each<readonly [story: string, world: ShardsStory, plan: readonly string[]]>([
    [
      'a shard is removed',
      { there: 4, holders: four, nodes: each(['db-s3-0', 'db-s3-1'], blank) },
      [formed, formed, 'wait ScalingIn'],
    ],
    [
      'with its StatefulSet, once its claims are no longer marked',
      {
        ...{ there: 4, holders: four, unmarked: ['db-s3-0', 'db-s3-1'] },
        nodes: each(['db-s3-0', 'db-s3-1'], blank),
      },
      ['delete StatefulSet db-s3', 'wait ScalingIn'],
    ],
    [
      'replicas are removed',
      { replicas: 2, spec: one, nodes: each(seconds, blank) },
      ['apply StatefulSet db-s0', 'wait ScalingIn'],
    ],
    [
      'also where some of them never answer',
      {
        ...{ replicas: 2, spec: one },
        nodes: { ...each(seconds, { isSilent: true, isUnknown: true }), 'db-s2-2': blank },
      },
      ['apply StatefulSet db-s0', 'wait ScalingIn'],
    ],
  ])('%s', (_, story, plan) => {
    const found = planned(story);
    expect(found).toHaveLength(plan.length);
    for (const [i, expected] of plan.entries()) expect(found[i]).toContain(expected);
  });
});

describe('nodes that are to go and are lost with their machines', () => {
  const lost: ShardChange = { isSilent: true, isFailed: true };
  const other = 'f'.repeat(40);
  const inFour = Object.fromEntries([0, 1, 2, 3].map((i) => [`db-s${i}`, firstSlotsOf(i, 4)]));
  const serving = Object.fromEntries(Object.entries(inFour).map(([set, slots]) => [`${set}-0`, { slots }]));
  const holding = Object.fromEntries(Object.entries(inFour).map(([set, slots]) => [set, { slots }]));
  const former = (pod: string, change: Partial<ClusterNode> = {}): Partial<ClusterNode> => ({
    ...{ id: idOf(pod), hostname: `${pod}.db.apps.svc`, linkUp: false, isFailed: true },
    ...change,
  });

  it.each<readonly [story: string, world: ShardsStory, plan: readonly string[]]>([
    [
      'a replica is forgotten',
      { replicas: 2, spec: one, nodes: { ...each(seconds, {}), 'db-s0-2': lost } },
      ['(db-s0-2) on 8', 'wait Repairing'],
    ],
    [
      'then its pod goes',
      { replicas: 2, spec: one, nodes: { 'db-s0-2': { isSilent: true, isUnknown: true } } },
      ['apply StatefulSet db-s0', 'wait ScalingIn'],
    ],
    [
      'also the only one of a shard',
      { replicas: 1, spec: { replicasPerShard: 0 }, nodes: { 'db-s0-1': lost } },
      ['(db-s0-1) on 5', 'wait Repairing'],
    ],
    [
      'not while others have a link to it: it may merely not reach the operator',
      { replicas: 2, spec: one, nodes: { 'db-s0-2': { isSilent: true } } },
      ['apply StatefulSet db-s0', 'wait ScalingIn'],
    ],
    [
      'a primary that is to go and serves slots is waited for',
      {
        ...{ replicas: 2, spec: one },
        nodes: {
          ...each(['db-s0-0', 'db-s0-1'], { role: 'replica', follows: 'db-s0-2' }),
          'db-s0-2': { ...lost, role: 'primary', slots: firstSlotsOf(0, 3) },
        },
      },
      ['wait ShardDown'],
    ],
    [
      'one that is replaced is forgotten although another one that is to go does not answer',
      {
        ...{ replicas: 2, spec: one, nodes: { 'db-s0-2': lost, 'db-s1-1': { id: other } } },
        strangers: [former('db-s1-1')],
      },
      ['(db-s0-2) on 8', '(db-s1-1) on 8', 'wait Repairing'],
    ],
    [
      'slots move away from a shard whose replica is lost',
      { there: 4, spec: { shards: 3 }, holders: holding, nodes: { ...serving, 'db-s3-1': lost } },
      ['move slots 12288-12799 db-s3-0 -> db-s0-0', 'wait MovingSlots'],
    ],
    [
      'the replica of a shard without slots is forgotten',
      { there: 4, holders: four, nodes: { 'db-s3-1': lost } },
      ['(db-s3-1) on 7', 'wait Repairing'],
    ],
    [
      'a shard of which nobody answers is waited for: it may have keys',
      { there: 4, holders: three, nodes: each(['db-s3-0', 'db-s3-1'], lost) },
      ['wait MovingSlots'],
    ],
    [
      'also where another node of it, which has never followed, tells that it has none',
      {
        there: 4,
        holders: { ...three, 'db-s3': { primary: { pod: 'db-s3-1', address: '10.0.3.1', id: idOf('db-s3-1') } } },
        nodes: { 'db-s3-0': lost, 'db-s3-1': { role: 'primary', slots: [], empty: true } },
      },
      ['wait ScalingIn'],
    ],
    [
      'once its volumes are replaced, it is forgotten',
      {
        ...{ there: 4, holders: four },
        nodes: { 'db-s3-0': { ...blank, id: other }, 'db-s3-1': { ...blank, id: 'e'.repeat(40) } },
        strangers: [former('db-s3-0', { role: 'primary' }), former('db-s3-1', { primaryId: idOf('db-s3-0') })],
      },
      ['(db-s3-0) on 8', '(db-s3-1) on 8', 'wait Repairing'],
    ],
    [
      'and removed',
      {
        ...{ there: 4, holders: four },
        nodes: { 'db-s3-0': { ...blank, id: other }, 'db-s3-1': { ...blank, id: 'e'.repeat(40) } },
      },
      [formed, formed, 'wait ScalingIn'],
    ],
  ])('%s', (_, story, plan) => {
    const found = planned(story);
    expect(found).toHaveLength(plan.length);
    for (const [i, expected] of plan.entries()) expect(found[i]).toContain(expected);
  });

  it('the message says what to do if they never come back', () => {
    const told = (nodes: Record<string, ShardChange>, holders: ShardsStory['holders'] = three) =>
      planShards(shardsWorld({ there: 4, holders, nodes })).outcome;
    expect(told(each(['db-s3-0', 'db-s3-1'], lost))).toMatchObject({
      message: expect.stringContaining('delete the PersistentVolumeClaims and the pods of db-s3'),
    });
    expect(told({ 'db-s3-0': lost })).toMatchObject({
      message: expect.stringContaining('CLUSTER FAILOVER TAKEOVER on db-s3-1'),
    });
  });
});

it('a cluster that is created again over its volumes with fewer replicas begins with all of them: any may be the primary', () => {
  const { children } = shardsWorld({ replicas: 2 });
  const claims = childrenOf(children.objects.filter(({ kind }) => kind === 'PersistentVolumeClaim'));
  const cluster = redisCluster({ mode: 'Cluster', replicasPerShard: 1 });
  const { steps } = planShards(shardsSituation(cluster, claims, { data: [], sentinels: [] }));
  const sizes = steps.flatMap((step) =>
    step.type === 'create' && step.object.kind === 'StatefulSet'
      ? [(step.object.spec as { replicas: number }).replicas]
      : [],
  );
  expect(sizes).toEqual([3, 3, 3]);
});

describe('fewer replicas while a cluster forms', () => {
  const all = shardPods(2);
  const claims = (primaries: readonly string[]): Record<string, Record<string, string>> =>
    Object.fromEntries(
      all.map((pod) => {
        const shard = primaries.indexOf(pod);
        const slots = shard < 0 ? {} : { [slotsAnnotation]: slotText(firstSlotsOf(shard, 3)) };
        return [pod, { [nodeAnnotation]: idOf(pod), ...slots }];
      }),
    );
  const forming = { isNew: true, replicas: 2, spec: one } as const;
  const first = ['db-s0-0', 'db-s1-0', 'db-s2-0'];
  const withSecond = ['db-s0-0', 'db-s1-0', 'db-s2-2'];
  const begun = (primaries: readonly string[]): Record<string, ShardChange> => ({
    ...each(all, { role: 'primary', slots: [], empty: true }),
    ...Object.fromEntries(
      primaries.map((pod, shard) => [pod, { role: 'primary', empty: true, slots: firstSlotsOf(shard, 3) } as const]),
    ),
  });

  it('records only those that stay', () => {
    const { steps } = planShards(shardsWorld({ ...forming, nodes: each(all, blank) }));
    const patched = steps.flatMap((step) => (step.type === 'patch' ? [step.ref.name] : []));
    expect(patched).toEqual(shardPods(1).map((pod) => `data-${pod}`));
  });

  it('records anew what names one that is to go, while nobody has a slot', () => {
    const { steps } = planShards(shardsWorld({ ...forming, claims: claims(withSecond), nodes: each(all, blank) }));
    const patched = steps.flatMap((step) => (step.type === 'patch' ? [[step.ref.name, step.patch]] : []));
    expect(Object.fromEntries(patched)).toMatchObject({
      'data-db-s2-2': { metadata: { annotations: { [slotsAnnotation]: null } } },
      'data-db-s2-0': { metadata: { annotations: { [slotsAnnotation]: '10922-16383' } } },
    });
  });

  it.each<readonly [story: string, world: ShardsStory, plan: readonly string[]]>([
    [
      'those that are to go need not agree',
      { ...forming, claims: claims(first), nodes: { ...begun(first), ...each(seconds, blank) } },
      [...Array.from({ length: 6 }, () => formed), 'wait Forming'],
    ],
    [
      'one that has got its slots keeps them until the cluster is formed',
      {
        ...{ ...forming, claims: claims(withSecond) },
        nodes: { ...begun(withSecond), 'db-s0-2': blank, 'db-s1-2': blank },
      },
      [...Array.from({ length: 7 }, () => formed), 'wait Forming'],
    ],
    [
      'and is met like the others',
      {
        ...{ ...forming, claims: claims(withSecond) },
        nodes: {
          ...begun(withSecond),
          ...each(['db-s0-2', 'db-s1-2'], blank),
          'db-s2-2': { ...blank, slots: firstSlotsOf(2, 3) },
        },
      },
      ['db-s0-0 meets db-s2-2', 'wait Forming'],
    ],
    [
      'what was recorded is not changed while one that it names does not answer: it may have its slots',
      {
        ...{ ...forming, claims: claims(withSecond) },
        nodes: { ...each(all, blank), 'db-s2-2': { isSilent: true, isUnknown: true } },
      },
      ['wait Forming'],
    ],
  ])('%s', (_, story, plan) => {
    const found = planned(story);
    expect(found).toHaveLength(plan.length);
    for (const [i, expected] of plan.entries()) expect(found[i]).toContain(expected);
  });

  it('a primary that is to go hands over once the cluster is formed', () => {
    const nodes = {
      'db-s2-0': { role: 'replica', follows: 'db-s2-2' },
      'db-s2-1': { follows: 'db-s2-2' },
      'db-s2-2': { role: 'primary', slots: firstSlotsOf(2, 3) },
      'db-s0-2': blank,
      'db-s1-2': blank,
    } as const;
    const found = planned({ replicas: 2, spec: one, nodes });
    expect(found.join()).toMatch(/wait ScalingIn|takes over from db-s2-2/);
  });
});
