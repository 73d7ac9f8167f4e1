/**
 * Clients of the pooler of a PostgresCluster do not notice what is planned: a switchover, and a restart of all members. Beside it, what
 * exporters tell, and access from outside of the Kubernetes cluster.
 */

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { switchoverAnnotation } from '../../../src/api/maintenance.ts';
import { pods as podResource, secrets, services } from '../../../src/api/resource.ts';
import { images as recipes } from '../../../src/engines/images.ts';
import { exporterComponent, exporterPort } from '../../../src/engines/postgres/names.ts';
import { type Pod, podIsReady } from '../../../src/resources/children.ts';
import { componentLabel } from '../../../src/resources/metadata.ts';
import { createProgress } from '../../../src/sandbox/progress.ts';
import { loadImages } from '../../../src/sandbox/sandbox.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import { openPostgresLedger } from '../../support/postgres-ledger.ts';
import { openHome } from '../../support/postgres-process.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';
import { type PostgresScenario, underPostgresWriters } from '../../support/postgres-scenario.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { nodes, postgresClusters } from '../../support/resources.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
let stage: Stage;
let cluster: PostgresTestCluster;
let scenario: PostgresScenario;

const outside = 'orders.example.com';

beforeAll(async () => {
  await loadImages(['pgbouncer:1.24', 'postgres-exporter:0.17'], { recipes }, createProgress());
  stage = await openStage('postgres-pooler');
  await stage.startOperator();
  cluster = await stage.createPostgres('p', {
    resources: { limits: { memory: '384Mi' } },
    pooler: {},
    access: { pooler: { type: 'NodePort' }, primary: { type: 'NodePort' }, names: [outside] },
  });
  await cluster.whole(3, { withinMs: 240_000 });
  // Longer than a switchover takes: what a client waits for is no error.
  scenario = { cluster, ledger: await openPostgresLedger({ cluster, service: 'p-pooler', limitSeconds: 60 }) };
  await benchmark('-i -s 1 -q', 'p-primary');
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

/** pgbench in the pod of the writers, as the application. Resolves with what it printed; rejects where it ended badly. */
async function benchmark(words: string, service: string): Promise<string> {
  const command = `/usr/lib/postgresql/17/bin/pgbench ${words} "$(echo "$URI" | sed 's/@[^:/]*/@${service}/')" 2>&1`;
  const args = ['-n', stage.namespace, 'exec', 'ledger-p-1', '--', 'sh', '-c', command];
  try {
    return (await run('kubectl', args, { timeout: 300_000, maxBuffer: 16 * 1024 ** 2 })).stdout;
  } catch (error) {
    throw new Error(`pgbench: ${(error as { readonly stdout?: string }).stdout}`, { cause: error });
  }
}

const onPrimary = async (statement: string): Promise<string> =>
  cluster.sql((await cluster.primary()).metadata.name, statement);

async function podsOf(component: string): Promise<readonly Pod[]> {
  const labelSelector = `${componentLabel}=${component}`;
  return (await stage.client.list(podResource, { namespace: stage.namespace, labelSelector })).items as readonly Pod[];
}

/** Under a load of rows of the ledger, and pgbench with connections that stay and with one for each transaction. */
async function withoutErrors(name: string, change: () => Promise<void>): Promise<void> {
  const { ledger } = scenario;
  const before = await onPrimary('select count(*) from pgbench_history');
  const errors = await ledger.errors();
  let printed: readonly string[] = [];
  const { gapMs } = await underPostgresWriters(`${name}, with the pooler`, scenario, async () => {
    const load = Promise.all([
      benchmark('-n -N -c 8 -j 2 -T 45', 'p-pooler'),
      // A thread each: one that connects waits for the pooler, and would hold up the transaction of the other that the pause waits for.
      benchmark('-n -N -C -c 2 -j 2 -T 45', 'p-pooler'),
    ]);
    load.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await change();
    printed = await load;
    await cluster.whole(3, { withinMs: 240_000 });
    return printed.map((text) => `pgbench: ${transactionsIn(text)} transactions, ${failedIn(text)} failed`).join(', ');
  });
  expect(await ledger.errors()).toEqual(errors);
  expect(printed.map(failedIn)).toEqual([0, 0]);
  expect(printed.join('\n')).not.toMatch(/aborted|error/i);
  const written = Number(await onPrimary('select count(*) from pgbench_history')) - Number(before);
  expect(written).toBe(printed.reduce((sum, text) => sum + transactionsIn(text), 0));
  expect(gapMs).toBeLessThan(20_000);
}

const transactionsIn = (text: string): number => Number(/actually processed: (\d+)/.exec(text)?.[1] ?? Number.NaN);
const failedIn = (text: string): number => Number(/failed transactions: (\d+)/.exec(text)?.[1] ?? Number.NaN);

test('a switchover: no client has an error', () =>
  withoutErrors('switchover', async () => {
    const before = (await cluster.primary()).metadata.name;
    const to = (await cluster.standbys())[0]?.metadata.name ?? '';
    const annotations = { [switchoverAnnotation]: to };
    await stage.client.mergePatch(
      { resource: postgresClusters, namespace: stage.namespace, name: 'p' },
      { metadata: { annotations } },
    );
    await until('another primary', async () => expect((await cluster.primary()).metadata.name).not.toBe(before));
    await cluster.whole(3);
  }));

test('a setting that restarts all members: no client has an error', () =>
  withoutErrors('restart of all members', async () => {
    await cluster.change({ parameters: { max_connections: '130' } });
    const inForce = async (): Promise<void> => {
      for (const { metadata } of await cluster.pods())
        expect(await cluster.sql(metadata.name, 'show max_connections')).toBe('130');
    };
    await until('it is in force', inForce, { withinMs: 240_000, everyMs: 500 });
    await cluster.whole(3);
  }));

test('exporters tell of each member, and what a query of the spec finds', async () => {
  const { ledger } = scenario;
  await onPrimary('grant select on ledger to clusterwright_monitor');
  await cluster.change({
    monitoring: {
      queries: [
        {
          name: 'orders',
          sql: 'SELECT run, count(*) AS total FROM public.ledger GROUP BY run',
          metrics: [
            { column: 'run', type: 'Label' },
            { column: 'total', type: 'Gauge', description: 'Rows' },
          ],
        },
      ],
    },
  });
  await cluster.whole(3);
  const count = await ledger.count();
  const pods = await until('three exporters', async () => {
    const found = await podsOf(exporterComponent);
    expect(found.filter(podIsReady)).toHaveLength(3);
    return found;
  });
  for (const { metadata, status } of pods) {
    const text = await until(`${metadata.name} answers`, async () => {
      const url = `http://${status?.podIP}:${exporterPort}/metrics`;
      const answer = await (await fetch(url, { signal: AbortSignal.timeout(10_000) })).text();
      expect(answer).toMatch(/^pg_up 1$/m);
      expect(answer).toMatch(/^orders_total\{/m);
      return answer;
    });
    const total = Number(/^orders_total\{.*run="ledger-p-1".*\} (\S+)$/m.exec(text)?.[1]);
    // Those that were not acknowledged are there, too.
    expect(total).toBeGreaterThanOrEqual(count);
    expect(metadata.labels?.['clusterwright.dev/member']).toMatch(/^p-\d+$/);
  }
  await recordResult({
    scenario: 'postgres: exporters',
    measured: `${pods.length} answer, with the query of the spec`,
  });
});

test.each(['p-primary-external', 'p-pooler-external'])(
  'psql from outside, by %s: the certificate is of the name',
  async (name) => {
    const program = postgresPrograms.get('17');
    if (program === undefined) throw new Error('psql has not been unpacked');
    const { client, namespace } = stage;
    const decoded = async (secret: string, key: string): Promise<string> => {
      const { data } = await client.get({ resource: secrets, namespace, name: secret });
      return Buffer.from((data as Record<string, string>)[key] ?? '', 'base64').toString();
    };
    const service = (await client.get({ resource: services, namespace, name })) as {
      readonly spec?: { readonly ports?: readonly { readonly nodePort?: number }[] };
    };
    const port = service.spec?.ports?.[0]?.nodePort;
    const [node] = (await client.list(nodes, {})).items as readonly {
      readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
    }[];
    const address = node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
    const home = openHome(program);
    try {
      writeFileSync(
        join(home.directory, 'ca.crt'),
        await decoded(name.includes('pooler') ? 'p-pooler-tls' : 'p-server-tls', 'ca.crt'),
      );
      home.give(home.directory);
      const login = `hostaddr=${address} port=${port} user=app dbname=app password=${await decoded('p-app', 'password')}`;
      const verified = `sslmode=verify-full sslrootcert=/data/ca.crt connect_timeout=10`;
      const ask = (host: string): string =>
        home.run('psql', '-X', '-At', '-c', 'select pg_is_in_recovery()', `host=${host} ${login} ${verified}`).trim();
      await until('it is let in', () => expect(ask(outside)).toBe('f'));
      expect(() => ask('another.example.com')).toThrow(/does not match host name/);
    } finally {
      home.remove();
    }
  },
);
