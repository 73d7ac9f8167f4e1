import { describe, it } from 'vitest';
import { drivers } from '../../src/engines/drivers.ts';
import type { EtcdSpecInput } from '../../src/engines/etcd/kind/schema.ts';
import { firstAuthorities } from '../../src/engines/etcd/resources/authorities.ts';
import { engines } from '../../src/engines/index.ts';
import { identityUser } from '../../src/engines/redis/client/identity.ts';
import type { RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import { conformanceChecks } from '../../src/testing/conformance.ts';
import type { EngineSample } from '../../src/testing/sample.ts';
import { etcdCluster, etcdWorld, now } from '../support/etcd-situation.ts';
import { copiedSecrets, issuedSecrets } from '../support/issued-secrets.ts';
import { identified, processesOf } from '../support/redis-network.ts';
import { securedSample } from '../support/redis-secured.ts';
import { redisWorld } from '../support/redis-situation.ts';
import { scriptedEtcd } from '../support/scripted-etcd.ts';
import { scriptedNetwork } from '../support/scripted-redis.ts';

const password = 'correct-horse-battery-staple';

function redisSample(story: string, spec: RedisSpecInput): EngineSample {
  const { cluster, children, observed } = redisWorld({ spec });
  const name = cluster.spec.auth?.secretRef?.name ?? 'db-auth';
  const own = 'nobody-elses-password';
  const secrets = { [name]: { password }, 'db-internal': { password: own } };
  const identity = { user: identityUser(cluster), password: own };
  const processes = identified(processesOf(observed), identity, password);
  const { io } = scriptedNetwork({ processes, password, secrets });
  return { story, cluster, whole: { children, io }, secrets: [password, own] };
}

function etcdSample(story: string, spec: EtcdSpecInput): EngineSample {
  const first = etcdCluster(spec);
  const material = { 'ca.crt': password, 'tls.crt': password, 'tls.key': password };
  const issued = { ...issuedSecrets(first, now), ...copiedSecrets(first, now) };
  const secrets = { a: material, ...issued };
  const authorities = firstAuthorities(first);
  const { cluster, children, observed } = etcdWorld({ spec, ...(authorities === undefined ? {} : { authorities }) });
  const keys = Object.values(issued).flatMap((values) => values['tls.key'] ?? []);
  return {
    story,
    cluster,
    whole: { children, io: scriptedEtcd(observed, undefined, secrets).io },
    secrets: [password, ...keys],
  };
}

const fromCertManager = { certManager: { issuerRef: { name: 'ours' } } };

const everyEtcdField: EtcdSpecInput = {
  version: '3.5.35',
  replicas: 5,
  storage: { size: '1.5Gi', storageClassName: 'fast' },
  resources: { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { cpu: 1, memory: '2Gi' } },
  scheduling: { nodeSelector: { disk: 'ssd' }, topologySpread: 'Required' },
  pods: { labels: { team: 'shop' }, imagePullSecrets: [{ name: 'registry' }] },
  access: { clients: { type: 'NodePort' } },
  networkPolicy: { clients: [{ ipBlock: { cidr: '10.0.0.0/8' } }] },
  config: {
    quotaBackend: '512Mi',
    autoCompaction: { mode: 'Revision', retention: '1000' },
    snapshotCount: 50_000,
    heartbeatInterval: '200ms',
    electionTimeout: '2s',
  },
  tls: { client: { secretRef: { name: 'a' } }, peer: { secretRef: { name: 'a' } } },
  auth: { secretRef: { name: 'mine' } },
  deletionPolicy: 'Delete',
};

const everything: RedisSpecInput = {
  version: '7.2',
  replicas: 5,
  sentinel: { replicas: 5, quorum: 3, downAfter: '1500ms' },
  storage: { size: '1.5Gi', storageClassName: 'fast' },
  resources: { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { cpu: 1, memory: '2Gi' } },
  scheduling: {
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ operator: 'Exists' }, { key: 'a', effect: 'NoSchedule' }],
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'a' } } },
          { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'b' } } },
        ],
      },
    },
    topologySpread: 'Required',
    zoneSpread: 'Preferred',
  },
  pods: { annotations: { 'example.com/a': 'b' }, uid: 2000 },
  networkPolicy: {},
  monitoring: { resources: { limits: { memory: '96Mi' } } },
  access: { primary: { type: 'LoadBalancer', sourceRanges: ['10.0.0.0/8'] }, replicas: { type: 'ClusterIP' } },
  config: { maxmemory: '100mb', 'notify-keyspace-events': 'KEA', 'io-threads': 2 },
  auth: { secretRef: { name: 'mine' } },
  deletionPolicy: 'Delete',
};

/** By the engine's name. */
const samples: Readonly<Record<string, readonly EngineSample[]>> = {
  redis: [
    redisSample('defaults', {}),
    redisSample('alone', { mode: 'Standalone', replicas: 1 }),
    redisSample('nothing kept', { storage: { ephemeral: true } }),
    redisSample('everything set', everything),
    securedSample('a certificate of our own', password, { tls: { server: { selfManaged: {} } } }),
    securedSample('a certificate from cert-manager', password, { tls: { server: fromCertManager } }),
  ],
  etcd: [
    etcdSample('defaults', {}),
    etcdSample('alone', { replicas: 1 }),
    etcdSample('everything set', everyEtcdField),
    etcdSample('certificates from cert-manager', { tls: { client: fromCertManager, peer: fromCertManager } }),
    etcdSample('certificates of our own', { tls: { client: { selfManaged: {} }, peer: { selfManaged: {} } } }),
  ],
};

/** That of PostgreSQL has a file of its own. */
const checkedHere = engines.filter(({ definition }) => definition.name !== 'postgres');

describe.each(checkedHere)('the engine $definition.name', (engine) => {
  const { name } = engine.definition;
  const driver = drivers.find((each) => each.engine === name);
  const options = { samples: samples[name] ?? [], ...(driver === undefined ? {} : { driver }) };
  const checks = conformanceChecks(engine, options);
  it.each(checks)('$name', ({ run }) => run());
});
