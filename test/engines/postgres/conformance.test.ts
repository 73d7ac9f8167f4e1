import { describe, it } from 'vitest';
import { postgresDriver } from '../../../src/engines/postgres/agent/driver.ts';
import { postgres } from '../../../src/engines/postgres/index.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { defineEngine } from '../../../src/jobs/handlers.ts';
import { conformanceChecks } from '../../../src/testing/conformance.ts';
import type { EngineSample } from '../../../src/testing/sample.ts';
import { postgresCluster, postgresWorld } from '../../support/postgres-situation.ts';
import { postgresSecrets, scriptedPatroni } from '../../support/scripted-patroni.ts';

function sample(story: string, spec: PostgresSpecInput): EngineSample {
  // TLS asks the clock of the machine.
  const at = Date.now();
  const secrets = postgresSecrets(postgresCluster(spec), at);
  const { cluster, children, observed } = postgresWorld({ spec, observed: { at } });
  const { io } = scriptedPatroni(observed, secrets);
  const told = Object.values(secrets).flatMap((values) => [values['tls.key'] ?? [], values.password ?? []].flat());
  return { story, cluster, whole: { children, io }, secrets: told };
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
  backup: { target: { claim: { name: 'backups' } } },
  deletionPolicy: 'Snapshot',
};

const samples = [
  sample('defaults', {}),
  sample('alone', { instances: 1 }),
  sample('asynchronous', { synchronous: { count: 0 } }),
  sample('everything set', everything),
];

describe('the engine postgres', () => {
  it.each(conformanceChecks(defineEngine(postgres), { samples, driver: postgresDriver }))('$name', ({ run }) => run());
});
