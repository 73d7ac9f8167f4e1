import { describe, expect, it } from 'vitest';
import type { RedisSpecInput } from '../../../../src/engines/redis/kind/schema.ts';
import { addressAnnotation, termAnnotation } from '../../../../src/engines/redis/names.ts';
import { shardsSituation } from '../../../../src/engines/redis/observe/shards/situation.ts';
import { situationOf } from '../../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../../src/engines/redis/plan/plan.ts';
import { planShards } from '../../../../src/engines/redis/plan/shards/plan.ts';
import { childrenOf } from '../../../../src/resources/children.ts';
import { shardLabel } from '../../../../src/resources/metadata.ts';
import { stored } from '../../../../src/testing/stored-object.ts';
import { redisCluster } from '../../../support/redis-situation.ts';
import { type ShardsStory, shardPods, shardsWorld } from '../../../support/shards-situation.ts';

/** What the operator does where the API server has let the mode change: an older CRD did, and a resource can be created again. */
describe.each<readonly [mode: string, spec: RedisSpecInput]>([
  ['Sentinel', {}],
  ['Standalone', { mode: 'Standalone', replicas: 1 }],
])('mode %s over the volumes of shards', (_, spec) => {
  const planOf = (story: ShardsStory, kept = (_: string): boolean => true) => {
    const { children, observed } = shardsWorld(story);
    const cluster = redisCluster(spec, {}, story.status);
    const found = childrenOf(children.objects.filter(({ kind }) => kept(kind)));
    return planRedis(situationOf(cluster, found, { data: observed.data, sentinels: [] }));
  };

  it('touches nothing, and says how to go on', () => {
    for (const status of [undefined, { initialized: true, phase: 'Ready' } as const]) {
      const { steps, outcome } = planOf(status === undefined ? {} : { status });
      expect(steps).toEqual([]);
      expect(outcome).toMatchObject({ state: 'blocked', reason: 'ModeMismatch' });
      expect(outcome).toMatchObject({ message: expect.stringMatching(/data-db-s0-0.*mode: Cluster.*delete/) });
    }
  });

  it('also where only the volumes are left', () => {
    const { steps, outcome } = planOf({}, (kind) => kind === 'PersistentVolumeClaim');
    expect([steps, outcome]).toMatchObject([[], { reason: 'ModeMismatch' }]);
  });

  it('not over those of a shard that has left', () => {
    const { outcome } = planOf({ unmarked: shardPods() }, (kind) => kind === 'PersistentVolumeClaim');
    expect(outcome).not.toMatchObject({ reason: 'ModeMismatch' });
  });
});

describe('mode Cluster over the volumes of another mode', () => {
  const planOf = (annotations: Readonly<Record<string, string>>, isFormed = false) => {
    const { children, cluster, observed } = shardsWorld(isFormed ? {} : { isNew: true });
    const [claim] = children.claims;
    if (claim === undefined) throw new Error('there are no claims');
    const { [shardLabel]: _, ...labels } = claim.metadata.labels ?? {};
    const old = stored({ ...claim, metadata: { ...claim.metadata, name: 'data-db-0', labels, annotations } });
    const kept = isFormed ? children.objects : [];
    const found = childrenOf([...kept, old]);
    return planShards(shardsSituation(cluster, found, isFormed ? observed : { data: [], sentinels: [] }));
  };

  it.each([termAnnotation, addressAnnotation])('begins nothing where one has %s', (name) => {
    const { steps, outcome } = planOf({ [name]: '7' });
    expect(steps).toEqual([]);
    expect(outcome).toMatchObject({ state: 'blocked', reason: 'ModeMismatch' });
    expect(outcome).toMatchObject({ message: expect.stringMatching(/data-db-0 .*mode of before.*delete/) });
  });

  it('begins where nobody has ever served from it', () => {
    expect(planOf({}).steps).not.toEqual([]);
  });

  it('goes on where it is formed', () => {
    expect(planOf({ [termAnnotation]: '7' }, true).outcome).not.toMatchObject({ reason: 'ModeMismatch' });
  });
});
