/** The pooler shows clients a certificate from a Secret that somebody brings, and another one without a restart when that changes. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { pods as podResource, secrets } from '../../../src/api/resource.ts';
import { type Issued, makeAuthority, makeLeaf } from '../../../src/certificates/certificate.ts';
import { images as recipes } from '../../../src/engines/images.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { type Pod, podIsReady } from '../../../src/resources/children.ts';
import { createProgress } from '../../../src/sandbox/progress.ts';
import { loadImages } from '../../../src/sandbox/sandbox.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { recordResult } from '../../support/results.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let cluster: PostgresTestCluster;
let first: Issued;

const dayMs = 86_400_000;
const life = () => ({ from: Date.now() - 60_000, to: Date.now() + 30 * dayMs });
const certificate = 'shop-tls';
const serverName = 'db.example.com';
const spec: PostgresSpecInput = {
  instances: 2,
  resources: { limits: { memory: '256Mi' } },
};
const pooler = { resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '64Mi' } } };
const withTls: PostgresSpecInput = { pooler: { ...pooler, tls: { secretRef: { name: certificate }, serverName } } };

const signedBy = (authority: Issued): Record<string, string> => {
  const leaf = makeLeaf({ organisation: 'shop', names: [serverName], usages: ['server'] }, life(), authority);
  return { 'ca.crt': authority.certificate, 'tls.crt': leaf.certificate, 'tls.key': leaf.key };
};

beforeAll(async () => {
  await loadImages(['pgbouncer:1.24'], { recipes }, createProgress());
  stage = await openStage('postgres-pooler-certificate');
  await stage.startOperator();
  cluster = await stage.createPostgres('p', spec);
  await cluster.whole(2, { withinMs: 240_000 });
  await cluster.change({ pooler });
  await until('the pooler runs', async () => expect((await poolers()).filter(podIsReady)).toHaveLength(2));
  await cluster.whole(2);
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

async function poolers(): Promise<readonly Pod[]> {
  const { items } = await stage.client.list(podResource, { namespace: stage.namespace });
  return (items as readonly Pod[]).filter(({ metadata: { name } }) => name.startsWith('p-pooler-'));
}

const identities = async (): Promise<readonly string[]> =>
  (await poolers()).map(({ metadata, status }) =>
    [metadata.uid, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)].join(' '),
  );

/** As an application does that checks the name: over `authority`, through each pod. */
async function answers(authority: Issued): Promise<readonly string[]> {
  const { data } = await stage.client.get({ resource: secrets, namespace: stage.namespace, name: 'p-app' });
  const password = Buffer.from((data as { readonly password: string }).password, 'base64').toString();
  const from = (await cluster.primary()).metadata.name;
  return Promise.all(
    (await poolers()).map(async ({ status }) => {
      const target = `hostaddr=${status?.podIP} host=${serverName} port=6432 user=app dbname=app sslmode=verify-full sslrootcert=/tmp/ca-$$.crt connect_timeout=5`;
      const command = `cat > /tmp/ca-$$.crt <<'CA'\n${authority.certificate}\nCA\nPGPASSWORD='${password}' "$PGBIN"/psql -X -At "${target}" -c 'select 1' 2>&1 || true; rm /tmp/ca-$$.crt`;
      return cluster.shell(from, command);
    }),
  );
}

test('pods are not stopped for a Secret that is not there, and it says so', async () => {
  const before = await identities();
  await cluster.change(withTls);
  await until('it says so', async () => expect(await cluster.ready()).toBe('False SecretMissing'));
  expect(await identities()).toEqual(before);
});

test('with the Secret, they restart one at a time, and show its certificate', async () => {
  first = makeAuthority('shop', life());
  await stage.client.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: certificate, namespace: stage.namespace },
    stringData: signedBy(first),
  } as KubeObject);
  await cluster.whole(2, { withinMs: 240_000 });
  await until('it is shown', async () => expect(await answers(first)).toEqual(['1', '1']), { withinMs: 120_000 });
});

test('clients wait during a planned restart: the operator believes the certificate, and pauses the pods', async () => {
  await cluster.change({ parameters: { max_connections: '90' } });
  await cluster.whole(2, { withinMs: 240_000 });
  const path = `/api/v1/namespaces/${stage.namespace}/pods`;
  const logs = await Promise.all(
    (await poolers()).map(({ metadata: { name } }) => stage.client.getText(`${path}/${name}/log?container=pgbouncer`)),
  );
  for (const log of logs) expect(log).toMatch(/PAUSE command issued/);
});

test('another certificate of another CA is shown without a restart', async () => {
  const before = await identities();
  const second = makeAuthority('shop', life());
  const ref = { resource: secrets, namespace: stage.namespace, name: certificate };
  const data = Object.fromEntries(
    Object.entries(signedBy(second)).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  const changedAt = performance.now();
  await stage.client.mergePatch(ref, { data });
  await until('the other one is shown', async () => expect(await answers(second)).toEqual(['1', '1']), {
    withinMs: 240_000,
  });
  const measured = `shown by both pods ${((performance.now() - changedAt) / 1000).toFixed(1)} s after the Secret changed`;
  await recordResult({ scenario: 'postgres: another certificate of the pooler', measured });
  for (const answer of await answers(first)) expect(answer).toMatch(/certificate verify failed/);
  expect(await identities()).toEqual(before);
  expect((await poolers()).every(podIsReady)).toBe(true);
});
