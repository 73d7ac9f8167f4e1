/** When a test of a PostgresCluster has failed, what its members said is kept, and the cluster as it was seen last. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { configMaps } from '../../src/api/resource.ts';
import { stateNames } from '../../src/engines/postgres/names.ts';
import { lastOfOperator } from './evidence.ts';
import type { PostgresTestCluster } from './postgres-test-cluster.ts';
import { resultsDirectory } from './results.ts';
import type { Stage } from './stage.ts';

/** For `afterEach`. The operator's log is beside it, named after the namespace. */
export async function keepPostgresEvidence(
  { task }: TestContext,
  stage: Stage,
  cluster: PostgresTestCluster | undefined,
): Promise<void> {
  if (task.result?.state !== 'fail' || cluster === undefined) return;
  const pods = await cluster.pods();
  const told = await Promise.all(
    pods.map(async ({ metadata }) => {
      const log = await cluster.log(metadata.name).catch((error: Error) => error.message);
      return `--- ${metadata.name}\n${log.split('\n').slice(-300).join('\n')}`;
    }),
  );
  const { client, namespace } = stage;
  const state = await Promise.all(
    stateNames(cluster.name).map((name) =>
      client.get({ resource: configMaps, namespace, name }).then(
        ({ metadata }) => [name, metadata.annotations],
        (error: Error) => [name, error.message],
      ),
    ),
  );
  const seen = JSON.stringify(
    [
      await cluster.object().catch((error: Error) => error.message),
      Object.fromEntries(state),
      pods.map(({ metadata: { name, labels }, status }) => ({ name, labels, status })),
    ],
    null,
    2,
  );
  const file = join(resultsDirectory, `${task.name.replaceAll(/\W+/g, '-').slice(0, 60)}.txt`);
  await writeFile(file, [seen, ...told].join('\n'));
  const errors = (task.result.errors ?? []).map(({ message }) => message).join('\n');
  console.log(`${errors}\nwhat the members said is in ${file}\n${await lastOfOperator(stage)}`);
}
