import { describe, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import { archiveReportPort } from '../../../src/backup/archive-report.ts';
import { postgresDriver } from '../../../src/engines/postgres/agent/driver.ts';
import { postgres } from '../../../src/engines/postgres/index.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { memberPart } from '../../../src/engines/postgres/resources/resources.ts';
import { shownChildren } from '../../../src/engines/postgres/resources/shown-certificate.ts';
import { defineEngine } from '../../../src/jobs/handlers.ts';
import { type Children, childrenOf } from '../../../src/resources/children.ts';
import { archiveComponent, componentLabel } from '../../../src/resources/metadata.ts';
import { conformanceChecks } from '../../../src/testing/conformance.ts';
import { runningChildren } from '../../../src/testing/running-children.ts';
import type { EngineSample } from '../../../src/testing/sample.ts';
import { postgresCluster, postgresWorld } from '../../support/postgres-situation.ts';
import { postgresSecrets, scriptedPatroni } from '../../support/scripted-patroni.ts';
import { brought, company, fromSecret, shownBy, source } from '../../support/shown-certificates.ts';

const report = {
  status: 200,
  body: JSON.stringify({ state: 'following', since: '2026-01-01T00:00:00Z', end: '0/30', hasBase: true }),
};

/** As Kubernetes has it once it runs. */
function withArchive(cluster: Cluster, children: Children): Children {
  const objects = defineEngine(postgres).handler('agent:1').resources(cluster);
  const own = objects.filter(({ object }) => object.metadata.labels?.[componentLabel] === archiveComponent);
  return childrenOf([...children.objects, ...runningChildren(own).objects]);
}

function sample(story: string, spec: PostgresSpecInput): EngineSample {
  // TLS asks the clock of the machine.
  const at = Date.now();
  const secrets = postgresSecrets(postgresCluster(spec), at);
  const { cluster, children, observed } = postgresWorld({ spec, observed: { at } });
  const { io } = scriptedPatroni(observed, secrets, ({ port }) => (port === archiveReportPort ? report : undefined));
  const told = Object.values(secrets).flatMap((values) => [values['tls.key'] ?? [], values.password ?? []].flat());
  return { story, cluster, whole: { children: withArchive(cluster, children), io }, secrets: told };
}

/** Members that show a certificate of a user's CA. */
async function sampleWithSource(story: string, spec: PostgresSpecInput): Promise<EngineSample> {
  const values = brought(company());
  const shown = shownBy(3, { ...fromSecret, ...spec }, values);
  shown.secrets[source] = values;
  const { cluster, children, observed } = await shown.situation();
  const { io } = scriptedPatroni(observed, shown.secrets, ({ port }) =>
    port === archiveReportPort ? report : undefined,
  );
  const told = Object.values(shown.secrets).flatMap((kept) => [kept['tls.key'] ?? [], kept.password ?? []].flat());
  const own = shownChildren(cluster, memberPart(cluster), values['ca.crt']).filter(({ issued }) => issued !== true);
  const whole = childrenOf([...withArchive(cluster, children).objects, ...runningChildren(own).objects]);
  return { story, cluster, whole: { children: whole, io }, secrets: told };
}

const everything: PostgresSpecInput = {
  version: '16',
  instances: 5,
  storage: { size: '1.5Gi', storageClassName: 'fast' },
  resources: { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { cpu: 1, memory: '2Gi' } },
  scheduling: { nodeSelector: { disk: 'ssd' }, topologySpread: 'Required' },
  parameters: { work_mem: '8MB', 'pg_stat_statements.max': '10000' },
  synchronous: { count: 2, strict: true },
  failover: { ttl: '30s' },
  initial: { database: 'orders', owner: 'orders' },
  init: { sql: 'CREATE TABLE t ()' },
  backup: { target: { claim: { name: 'backups' } }, archive: { maxLag: '30s' } },
  deletionPolicy: 'Snapshot',
};

const beside: PostgresSpecInput = {
  pooler: { mode: 'session', parameters: { query_wait_timeout: 60 } },
  monitoring: {
    queries: [{ name: 'tables', sql: 'select 1 as total', metrics: [{ column: 'total', type: 'Gauge' }] }],
  },
  access: {
    primary: { type: 'LoadBalancer', annotations: { 'example.com/a': 'b' }, sourceRanges: ['10.0.0.0/8'] },
    pooler: { type: 'NodePort' },
    names: ['db.example.com'],
  },
  networkPolicy: {},
};

const samples = [
  sample('defaults', {}),
  sample('alone', { instances: 1 }),
  sample('asynchronous', { synchronous: { count: 0 } }),
  sample('everything set', everything),
  sample('with what stands beside the members', beside),
  await sampleWithSource('with a certificate of a user', {
    backup: { target: { claim: { name: 'backups' } }, archive: {} },
  }),
];

describe('the engine postgres', () => {
  it.each(conformanceChecks(defineEngine(postgres), { samples, driver: postgresDriver }))('$name', ({ run }) => run());
});
