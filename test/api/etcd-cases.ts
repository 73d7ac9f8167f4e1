/**
 * EtcdClusters that are accepted and refused. Rows about fields that every kind shares are those of RedisCluster: they
 * must mean the same here.
 */
import type { Case, Json } from './case.ts';
import { certificateCreates, certificateUpdates } from './certificate-cases.ts';
import { maintenanceCases } from './maintenance-cases.ts';
import { networkPolicyCases } from './network-policy-cases.ts';
import { serviceCases } from './pod-cases.ts';
import { redisCases } from './redis-cases.ts';
import { databaseCases, place } from './target-cases.ts';

const sharedFields = ['image', 'storage', 'resources', 'scheduling', 'pods', 'deletionPolicy', 'paused'];

const isShared = (spec: unknown): boolean =>
  typeof spec === 'object' &&
  spec !== null &&
  Object.keys(spec).every((field) => sharedFields.includes(field)) &&
  !JSON.stringify(spec).includes('ephemeral');

const shared: readonly Case[] = redisCases.filter(({ spec, old }) => isShared(spec) && isShared(old ?? {}));

/** Every way to write the reference to a Secret. */
const secretRefs: readonly Case[] = redisCases.filter(({ spec, old }) => {
  const { auth, ...rest } = (spec ?? {}) as { readonly auth?: Json | null };
  return auth?.secretRef !== undefined && Object.keys(rest).length === 0 && old === undefined;
});

const config = (value: Json): Json => ({ config: value });

const creates: readonly Case[] = [
  {
    story: 'everything set',
    spec: {
      version: '3.5.35',
      image: 'registry.example.com:5000/etcd:v3.5.35',
      replicas: 5,
      storage: { size: '10Gi', storageClassName: 'fast' },
      resources: { requests: { cpu: 1, memory: '2Gi' }, limits: { cpu: '1500m', memory: '2Gi' } },
      scheduling: { topologySpread: 'Required', priorityClassName: 'database' },
      config: {
        quotaBackend: '4Gi',
        autoCompaction: { mode: 'Revision', retention: '10000' },
        snapshotCount: 50_000,
        heartbeatInterval: '200ms',
        electionTimeout: '2s',
      },
      tls: {
        client: { secretRef: { name: 'a' }, requireCertificate: false },
        peer: { secretRef: { name: 'b' } },
      },
      auth: { enabled: true, secretRef: { name: 'root-password', key: 'pass.word' } },
      maintenance: { defrag: { mode: 'Off', unusedPercent: 10 } },
      deletionPolicy: 'Delete',
      paused: true,
    },
  },
  ...[0, 1, 3, 5, 7].map((replicas) => ({ story: `${replicas} members`, spec: { replicas } })),
  { story: 'the first version', spec: { version: '3.5.11' } },
  { story: 'the first of the next minor', spec: { version: '3.6.0' } },
  { story: 'the smallest quota', spec: config({ quotaBackend: '16Mi' }) },
  { story: 'the largest quota', spec: { storage: { size: '40Gi' }, config: { quotaBackend: '32Gi' } } },
  { story: 'a quota one byte under the storage', spec: config({ quotaBackend: '1073741823' }) },
  { story: 'no compaction', spec: config({ autoCompaction: { mode: 'Off' } }) },
  { story: 'no compaction, and a number', spec: config({ autoCompaction: { mode: 'Off', retention: '5' } }) },
  { story: 'compaction by minutes', spec: config({ autoCompaction: { retention: '30m' } }) },
  { story: 'an election after exactly five heartbeats', spec: config({ electionTimeout: '500ms' }) },
  { story: 'slow links', spec: config({ heartbeatInterval: '5s', electionTimeout: '50s' }) },
  { story: 'a snapshot at the least count', spec: config({ snapshotCount: 100 }) },

  { story: 'no spec', spec: undefined, refused: 'spec' },
  ...[2, 4, 6, 8, 9, -1, '3', 1.5].map((replicas) => ({
    story: `${JSON.stringify(replicas)} members`,
    spec: { replicas },
    refused: 'spec.replicas',
  })),
  ...['3.6', '3.4.30', '3.7.0', '4.6.0', 'v3.6.1', '3.6.01', '3.5.10', '3.6.100', `3.6.${'1'.repeat(40)}`, 3.6].map(
    (version) => ({
      story: `version ${JSON.stringify(version)}`,
      spec: { version },
      refused: 'spec.version',
    }),
  ),
  { story: 'data that may be lost', spec: { storage: { ephemeral: true } }, refused: 'spec.storage.ephemeral' },
  { story: 'a quota that is too small', spec: config({ quotaBackend: '15Mi' }), refused: 'spec.config.quotaBackend' },
  {
    story: 'a quota that is too large',
    spec: { storage: { size: '64Gi' }, config: { quotaBackend: '33Gi' } },
    refused: 'spec.config.quotaBackend',
  },
  { story: 'a quota as large as the storage', spec: config({ quotaBackend: '1Gi' }), refused: 'spec' },
  { story: 'a quota as a number', spec: config({ quotaBackend: 1_000_000 }), refused: 'spec.config.quotaBackend' },
  { story: 'a quota with an exponent', spec: config({ quotaBackend: '1e9' }), refused: 'spec.config.quotaBackend' },
  {
    story: 'a quota that is too long a text',
    spec: config({ quotaBackend: `${'1'.repeat(12)}.123456789Mi` }),
    refused: 'spec.config.quotaBackend',
  },
  {
    story: 'another mode of compaction',
    spec: config({ autoCompaction: { mode: 'Daily' } }),
    refused: 'spec.config.autoCompaction.mode',
  },
  {
    story: 'a number of revisions for a time',
    spec: config({ autoCompaction: { retention: '10' } }),
    refused: 'spec.config.autoCompaction.retention',
  },
  {
    story: 'a time for a number of revisions',
    spec: config({ autoCompaction: { mode: 'Revision' } }),
    refused: 'spec.config.autoCompaction.retention',
  },
  {
    story: 'a retention with a newline',
    spec: config({ autoCompaction: { retention: '1h\n' } }),
    refused: 'spec.config.autoCompaction.retention',
  },
  {
    story: 'a retention that is too long a text',
    spec: config({ autoCompaction: { retention: '12345678901m' } }),
    refused: 'spec.config.autoCompaction.retention',
  },
  { story: 'too few changes to a snapshot', spec: config({ snapshotCount: 99 }), refused: 'spec.config.snapshotCount' },
  {
    story: 'too many changes to a snapshot',
    spec: config({ snapshotCount: 1_000_001 }),
    refused: 'spec.config.snapshotCount',
  },
  {
    story: 'a heartbeat that is too fast',
    spec: config({ heartbeatInterval: '9ms' }),
    refused: 'spec.config.heartbeatInterval',
  },
  {
    story: 'a heartbeat that is too slow',
    spec: config({ heartbeatInterval: '6s', electionTimeout: '50s' }),
    refused: 'spec.config.heartbeatInterval',
  },
  {
    story: 'a heartbeat without a unit',
    spec: config({ heartbeatInterval: '100' }),
    refused: 'spec.config.heartbeatInterval',
  },
  {
    story: 'a heartbeat that is too long a text',
    spec: config({ heartbeatInterval: '00000100ms' }),
    refused: 'spec.config.heartbeatInterval',
  },
  {
    story: 'an election that is too soon',
    spec: config({ heartbeatInterval: '10ms', electionTimeout: '99ms' }),
    refused: 'spec.config.electionTimeout',
  },
  {
    story: 'an election that is too late',
    spec: config({ electionTimeout: '51s' }),
    refused: 'spec.config.electionTimeout',
  },
  {
    story: 'an election that is too long a text',
    spec: config({ electionTimeout: '00001000ms' }),
    refused: 'spec.config.electionTimeout',
  },
  {
    story: 'an election after less than five heartbeats',
    spec: config({ electionTimeout: '499ms' }),
    refused: 'spec.config.electionTimeout',
  },
  {
    story: 'defragmentation at another time',
    spec: { maintenance: { defrag: { mode: 'Nightly' } } },
    refused: 'spec.maintenance.defrag.mode',
  },
  ...[9, 91, '50'].map((unusedPercent) => ({
    story: `defragmentation at ${JSON.stringify(unusedPercent)} percent`,
    spec: { maintenance: { defrag: { unusedPercent } } },
    refused: 'spec.maintenance.defrag.unusedPercent',
  })),
  { story: 'a password in the open', spec: { auth: { password: 'secret' } }, refused: 'spec.auth.password' },
  { story: 'auth as text', spec: { auth: { enabled: 'yes' } }, refused: 'spec.auth.enabled' },
  ...certificateCreates,
  {
    story: 'client certificates that were made for another name',
    spec: { tls: { client: { secretRef: { name: 'a' }, serverName: 'a-client.apps.svc' } } },
  },
  {
    story: 'another name in certificates that are made for this cluster',
    spec: { tls: { client: { selfManaged: {}, serverName: 'a-client.apps.svc' } } },
    refused: 'spec.tls.client.serverName',
  },
  ...['*.apps.svc', 'A', `${'a'.repeat(254)}`].map((serverName) => ({
    story: `client certificates for the name ${serverName.slice(0, 20)}`,
    spec: { tls: { client: { secretRef: { name: 'a' }, serverName } } },
    refused: 'spec.tls.client.serverName',
  })),
  { story: 'a flag of etcd', spec: config({ 'unsafe-no-fsync': true }), refused: 'spec.config.unsafe-no-fsync' },
  {
    story: 'a member with too little memory',
    spec: { resources: { limits: { memory: '63Mi' } } },
    refused: 'spec.resources.limits.memory',
  },
];

const updates: readonly Case[] = [
  { story: 'out', old: { replicas: 1 }, spec: { replicas: 5 } },
  { story: 'in', old: { replicas: 7 }, spec: { replicas: 1 } },
  { story: 'parked', old: {}, spec: { replicas: 0 } },
  { story: 'a later patch', old: { version: '3.5.11' }, spec: { version: '3.5.35' } },
  { story: 'the next minor', old: { version: '3.5.32' }, spec: { version: '3.6.16' } },
  { story: 'the same old version', old: { version: '3.5.11' }, spec: { version: '3.5.11' } },
  {
    story: 'the next minor from a patch that must not',
    old: { version: '3.5.31' },
    spec: { version: '3.6.16' },
    refused: 'spec.version',
  },
  ...certificateUpdates,
  { story: 'an earlier patch', old: { version: '3.6.16' }, spec: { version: '3.6.9' } },
  { story: 'an earlier patch by leaving it out', old: { version: '3.6.20' }, spec: {} },
  { story: 'the minor before', old: { version: '3.6.0' }, spec: { version: '3.5.32' } },
  {
    story: 'the minor before, of a patch that could not come back',
    old: { version: '3.6.0' },
    spec: { version: '3.5.31' },
    refused: 'spec.version',
  },
];

const restores: readonly Case[] = [
  { story: 'revisions as they were', spec: { bootstrap: { restore: { ...place, bumpRevision: false } } } },
  {
    story: 'revisions by a word',
    spec: { bootstrap: { restore: { ...place, bumpRevision: 'no' } } },
    refused: 'spec.bootstrap.restore.bumpRevision',
  },
];

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `etcd${i}.example.com`);

export const etcdCases: readonly Case[] = [
  ...shared,
  ...secretRefs,
  ...creates,
  ...updates,
  ...databaseCases,
  ...restores,
  ...serviceCases('clients'),
  ...maintenanceCases,
  ...networkPolicyCases,
  { story: 'a name of clients outside', spec: { access: { names: names(16) }, tls: { client: { selfManaged: {} } } } },
  {
    story: 'a name where there are no certificates',
    spec: { access: { names: names(1) } },
    refused: 'spec.access',
  },
  {
    story: 'too many names',
    spec: { access: { names: names(17) }, tls: { client: { selfManaged: {} } } },
    refused: 'spec.access.names',
  },
  ...['DB.example.com', `${'a.'.repeat(127)}a`].map((name) => ({
    story: `the name ${name.slice(0, 20)}`,
    spec: { access: { names: [name] }, tls: { client: { selfManaged: {} } } },
    refused: 'spec.access.names[0]',
  })),
  ...[
    'localhost',
    'a.localhost',
    'db-0-0.db.apps.svc',
    'a.svc.example.com',
    'cluster.local',
    'a.cluster.local',
  ].flatMap((name): Case[] => {
    const story = `the name ${name}`;
    const access = { names: ['etcd.example.com', name] };
    const certManager = { issuerRef: { name: 'platform' } };
    return [
      { story: `${story} from an issuer`, spec: { access, tls: { client: { certManager } } }, refused: 'spec.access' },
      { story: `${story} from the operator`, spec: { access, tls: { client: { selfManaged: {} } } } },
    ];
  }),
  ...['svc.example.com', 'a-svc.example.com', 'mylocalhost.example.com', 'etcd.local', '10.0.0.1'].map((name) => ({
    story: `the name ${name} from an issuer`,
    spec: { access: { names: [name] }, tls: { client: { certManager: { issuerRef: { name: 'platform' } } } } },
  })),
];
