/** A certificate that the pod of an only member mounts is deleted, and then its pod. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { pods, secrets } from '../../../src/api/resource.ts';
import { postgresNames } from '../../../src/engines/postgres/names.ts';
import { removeByName } from '../../support/kubernetes.ts';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let cluster: PostgresTestCluster;

beforeAll(async () => {
  stage = await openStage('postgres-lost-certificate');
  await stage.startOperator();
  cluster = await stage.createPostgres('p', { instances: 1 });
  await cluster.whole(1);
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

test('an only member whose certificate is gone runs again: the certificate is made again', async () => {
  const { namespace, client } = stage;
  const before = await client.get({ resource: pods, namespace, name: 'p-0-0' });
  const { server } = postgresNames('p').certificates;
  await removeByName(client, await client.get({ resource: secrets, namespace, name: server }));
  await removeByName(client, before);
  const since = performance.now();
  await expect
    .poll(
      async () => {
        const pod = await client.get({ resource: pods, namespace, name: 'p-0-0' }).catch(() => undefined);
        return (
          pod !== undefined && pod.metadata.uid !== before.metadata.uid && (pod.status as { phase?: string }).phase
        );
      },
      { timeout: 180_000, interval: 1000 },
    )
    .toBe('Running');
  process.stderr.write(`it runs after ${((performance.now() - since) / 1000).toFixed(1)} s\n`);
  await cluster.whole(1);
});
