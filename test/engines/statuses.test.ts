/** In any situation, likely or not, the plan is made and what is said of it does not contradict itself. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterStatus, Phase } from '../../src/api/status.ts';
import { situationOf as etcdSituationOf } from '../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../src/engines/etcd/plan/plan.ts';
import { etcdStatus } from '../../src/engines/etcd/status.ts';
import { situationOf as redisSituationOf } from '../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../src/engines/redis/status.ts';
import { claimContradictions } from '../../src/testing/claim-contradictions.ts';
import * as etcd from '../support/etcd-situation.ts';
import { takesEtcdBackup } from '../support/etcd-words.ts';
import * as redis from '../support/redis-situation.ts';

const few = { numRuns: 150 } as const;

/** Each of these may be there or not. */
function some<Value>(model: { readonly [Key in keyof Value]: fc.Arbitrary<Value[Key]> }): fc.Arbitrary<Partial<Value>> {
  return fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<Partial<Value>>;
}

const status: fc.Arbitrary<ClusterStatus> = some<ClusterStatus>({
  phase: fc.constantFrom<Phase>('Creating', 'Ready', 'Updating', 'Degraded', 'Blocked', 'Paused'),
  observedGeneration: fc.constantFrom(1, 2),
  initialized: fc.constant(true),
  primary: fc.constantFrom('db-0', 'db-1'),
  version: fc.constantFrom('8.0', '3.5', '3.6'),
});
const metadata = some({ generation: fc.constantFrom(1, 2) });
/** By number, for up to five. */
const each = <Value>(change: fc.Arbitrary<Value>) =>
  fc.dictionary(fc.constantFrom('0', '1', '2', '3', '4'), change, { maxKeys: 3 }) as unknown as fc.Arbitrary<
    Readonly<Record<number, Value>>
  >;

const redisStory = some<redis.Story>({
  spec: fc.constantFrom({}, { replicas: 5 }, { replicas: 2 }, { mode: 'Standalone', replicas: 1 }),
  before: fc.constantFrom({}, { replicas: 5 }),
  metadata,
  status,
  size: fc.constantFrom(1, 3, 5),
  sentinelSize: fc.constantFrom(1, 3, 5),
  primary: fc.constantFrom<number | 'nobody'>(0, 1, 4, 'nobody'),
  nodes: each<redis.NodeChange>(
    fc.constantFrom<redis.NodeChange>('silent', 'gone', 'unassigned', 'blank', { linkUp: false }, { role: 'primary' }),
  ),
  sentinels: each<redis.SentinelChange>(
    fc.constantFrom<redis.SentinelChange>('silent', 'gone', 'forgot', { primaryDown: true }, { failingOver: true }),
  ),
  pods: fc.dictionary(
    fc.constantFrom('db-0', 'db-1', 'db-2', 'db-sentinel-0', 'db-sentinel-1'),
    fc.constantFrom<redis.PodChange>(
      'outdated',
      'stuck',
      'killed',
      'terminating',
      'unready',
      'elsewhere',
      'unlabelled',
    ),
    { maxKeys: 3 },
  ),
  terms: each(fc.constantFrom(1, 2)),
});

const etcdStory = some<etcd.Story>({
  spec: fc.constantFrom({}, { replicas: 5 }, { replicas: 1 }, { replicas: 0 }),
  before: fc.constantFrom({}, { replicas: 5 }, { replicas: 1 }),
  metadata,
  status,
  // Whoever agrees on the members is one of them.
  numbers: fc.constantFrom([0], [0, 1], [0, 1, 2], [0, 2, 3]),
  leader: fc.constantFrom<number | 'nobody'>(0, 2, 'nobody'),
  members: each<etcd.MemberChange>(
    fc.constantFrom('silent', 'gone', 'unstarted', 'expected', 'copying', 'leaderless', 'unlisted'),
  ),
  pods: each<etcd.PodChange>(fc.constantFrom('outdated', 'unready', 'started')),
  claims: each<etcd.ClaimChange>(fc.constantFrom('none', 'blank', 'retired', 'foreign')),
  starts: each(fc.constantFrom('joins', 'alone', 'unwritten')),
});

describe('a status of a generated situation does not contradict itself', () => {
  it('of Redis', () => {
    fc.assert(
      fc.property(redisStory, (story) => {
        const { cluster, children, observed } = redis.redisWorld(story);
        const said = redisStatus(
          redisSituationOf(cluster, children, observed),
          planRedis(redisSituationOf(cluster, children, observed)),
        );
        expect(claimContradictions(said)).toEqual([]);
      }),
      few,
    );
  });

  it('of etcd', () => {
    fc.assert(
      fc.property(etcdStory, (story) => {
        const { cluster, children, observed } = etcd.etcdWorld(story);
        const plan = planEtcd(etcdSituationOf(cluster, children, observed), takesEtcdBackup);
        expect(claimContradictions(etcdStatus(etcdSituationOf(cluster, children, observed), plan))).toEqual([]);
      }),
      few,
    );
  });
});
