/** When a test of an etcd has failed, what its members said is kept, and the cluster as it was seen last. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import type { EtcdTestCluster } from './etcd-test-cluster.ts';
import { lastOfOperator } from './evidence.ts';
import { resultsDirectory } from './results.ts';
import type { Stage } from './stage.ts';

/** For `afterEach`. The operator's log is beside it, named after the namespace. */
export async function keepEtcdEvidence(
  { task }: TestContext,
  stage: Stage,
  cluster: EtcdTestCluster | undefined,
): Promise<void> {
  if (task.result?.state !== 'fail' || cluster === undefined) return;
  const pods = await cluster.pods();
  const told = await Promise.all(
    pods.map(async ({ metadata }) => {
      const log = await cluster.log(metadata.name).catch((error: Error) => [error.message]);
      return `--- ${metadata.name}\n${log.slice(-300).join('\n')}`;
    }),
  );
  const seen = JSON.stringify(
    [await cluster.object(), pods.map(({ metadata, status }) => ({ metadata, status }))],
    null,
    2,
  );
  const file = join(resultsDirectory, `${task.name.replaceAll(/\W+/g, '-').slice(0, 60)}.txt`);
  await writeFile(file, [seen, ...told].join('\n'));
  console.log(`what the members said is in ${file}\n${await lastOfOperator(stage)}`);
}
