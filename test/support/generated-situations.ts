/** Situations of clusters, likely or not, and what an engine says in each. */
import fc from 'fast-check';
import type { ClusterStatus, Phase } from '../../src/api/status.ts';
import type { StatusReport } from '../../src/engine/engine.ts';
import { situationOf as etcdSituationOf } from '../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../src/engines/etcd/plan/plan.ts';
import { etcdStatus } from '../../src/engines/etcd/status.ts';
import { situationOf as postgresSituationOf } from '../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../src/engines/postgres/plan/plan.ts';
import { postgresStatus } from '../../src/engines/postgres/status.ts';
import { situationOf as redisSituationOf } from '../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../src/engines/redis/status.ts';
import * as etcd from './etcd-situation.ts';
import { takesEtcdBackup } from './etcd-words.ts';
import * as postgres from './postgres-situation.ts';
import * as redis from './redis-situation.ts';

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

const postgresStory = some<postgres.Story>({
  spec: fc.constantFrom({}, { instances: 5 }, { instances: 1 }, { instances: 0 }),
  before: fc.constantFrom({}, { instances: 5 }, { instances: 1 }),
  metadata,
  status,
  primary: fc.constantFrom<number | 'nobody'>(0, 1, 'nobody'),
  leader: fc.constantFrom<number | 'nobody'>(0, 1, 'nobody'),
  members: each<postgres.MemberChange>(
    fc.constantFrom<postgres.MemberChange>('silent', 'gone', { isSynchronous: false }, { restartPending: true }),
  ),
  pods: each<postgres.PodChange>(fc.constantFrom('outdated', 'unready', 'stopping', 'crashing')),
  claims: each<postgres.ClaimChange>(fc.constantFrom('none', 'blank', 'retired', 'foreign', 'going')),
  missing: fc.subarray<postgres.StateName>(['config', 'leader', 'sync'], { maxLength: 2 }),
});

export const redisClaims: fc.Arbitrary<StatusReport> = redisStory.map((story) => {
  const { cluster, children, observed } = redis.redisWorld(story);
  const situation = redisSituationOf(cluster, children, observed);
  return redisStatus(situation, planRedis(situation));
});

export const etcdClaims: fc.Arbitrary<StatusReport> = etcdStory.map((story) => {
  const { cluster, children, observed } = etcd.etcdWorld(story);
  const situation = etcdSituationOf(cluster, children, observed);
  return etcdStatus(situation, planEtcd(situation, takesEtcdBackup));
});

export const postgresClaims: fc.Arbitrary<StatusReport> = postgresStory.map((story) => {
  const { cluster, children, observed } = postgres.postgresWorld(story);
  const situation = postgresSituationOf(cluster, children, observed);
  return postgresStatus(
    situation,
    planPostgres(situation, () => undefined),
  );
});
