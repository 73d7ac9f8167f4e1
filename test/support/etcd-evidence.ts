/** When a test of an etcd has failed, what its members said is kept, and the cluster as it was seen last. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import type { EtcdTestCluster } from './etcd-test-cluster.ts';
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
      const path = `/api/v1/namespaces/${stage.namespace}/pods/${metadata.name}/log`;
      const log = await stage.client.getText(`${path}?tailLines=300`).catch((error: Error) => error.message);
      return `--- ${metadata.name}\n${log}`;
    }),
  );
  const seen = JSON.stringify(
    [await cluster.object(), pods.map(({ metadata, status }) => ({ metadata, status }))],
    null,
    2,
  );
  const file = join(resultsDirectory, `${task.name.replaceAll(/\W+/g, '-').slice(0, 60)}.txt`);
  await writeFile(file, [seen, ...told].join('\n'));
  console.log(`what the members said is in ${file}`);
}
