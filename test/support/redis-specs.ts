/** RedisClusters of every kind that validation lets through, with text in every place where a user may put any. */
import fc from 'fast-check';
import type { Cluster } from '../../src/api/cluster.ts';
import type { RedisSpec, RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import { hostileText } from './hostile-text.ts';
import { redisCluster } from './redis-situation.ts';

const optional = { requiredKeys: [] };

const labelValue = fc.stringMatching(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?)?$/);
const dnsName = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,8}[a-z0-9])?$/);

const resources = fc.constantFrom(
  {},
  { requests: { cpu: 1, memory: '128Mi' }, limits: { cpu: '1500m', memory: '1Gi' } },
  { requests: { cpu: '0.5' }, limits: { memory: '1.5Gi' } },
);

const storage = fc.oneof(
  fc.record({ size: fc.constantFrom('1Gi', '1024Mi', '1.5Gi', '200M'), storageClassName: dnsName }, optional),
  fc.record({ ephemeral: fc.constant(true) }),
);

/** What `affinity` takes is not looked into by validation. */
const terms = fc.record({
  preferredDuringSchedulingIgnoredDuringExecution: fc.array(fc.jsonValue(), { maxLength: 2 }),
});

const scheduling = fc.record(
  {
    nodeSelector: fc.dictionary(fc.stringMatching(/^[a-z]{1,6}(\/[A-Za-z]{1,5})?$/), labelValue, { maxKeys: 3 }),
    tolerations: fc.array(fc.record({ operator: fc.constant('Exists' as const) }), { maxLength: 2 }),
    affinity: fc.record({ nodeAffinity: terms, podAntiAffinity: terms }, optional),
    topologySpread: fc.constantFrom('Preferred' as const, 'Required' as const),
    priorityClassName: dnsName,
  },
  optional,
);

const config = fc.record(
  {
    maxmemory: fc.constantFrom('1mb', '100mb'),
    timeout: fc.nat(1000),
    hz: fc.integer({ min: 1, max: 500 }),
    'notify-keyspace-events': fc.constantFrom('', 'KEA', '$'),
    activerehashing: fc.boolean(),
    'io-threads': fc.integer({ min: 1, max: 16 }),
    databases: fc.integer({ min: 1, max: 1024 }),
  },
  optional,
);

const image = fc.constantFrom(
  'redis:7',
  'registry.example.com:5000/a/b__c:8.0-alpine',
  `redis@sha256:${'0a'.repeat(32)}`,
);

const common = {
  version: fc.constantFrom('7.0', '7.2', '8.0'),
  image,
  storage,
  resources,
  scheduling,
  config,
  auth: fc.record({
    secretRef: fc.record({ name: dnsName, key: fc.constantFrom('password', '-a._B') }, { requiredKeys: ['name'] }),
  }),
  deletionPolicy: fc.constantFrom('Retain' as const, 'Delete' as const),
  paused: fc.boolean(),
  monitoring: fc.constantFrom({}, { image: 'exporter:1', resources: { limits: { memory: '96Mi' } } }),
};

const specs = fc.oneof(
  fc.record(
    { ...common, mode: fc.constant('Standalone' as const), replicas: fc.constant(1) },
    { requiredKeys: ['mode', 'replicas'] },
  ),
  fc.record(
    {
      ...common,
      replicas: fc.integer({ min: 1, max: 9 }),
      sentinel: fc.constantFrom(
        {},
        { replicas: 5 as const, quorum: 3, downAfter: '1500ms', resources: { limits: { memory: '96Mi' } } },
      ),
    },
    optional,
  ),
) as fc.Arbitrary<RedisSpecInput>;

const metadata = fc.record(
  {
    annotations: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), hostileText, { maxKeys: 2 }),
    labels: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), labelValue, { maxKeys: 2 }),
  },
  optional,
);

/** Each has the name `db`, so that what the specs say is all that differs. */
export const redisClusters: fc.Arbitrary<Cluster<RedisSpec>> = fc
  .tuple(specs, metadata)
  .map(([spec, meta]) => redisCluster(spec, meta));
