/** When a test has failed, what everybody said is kept: the processes' logs and the cluster as it was seen last. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import type { TestCluster } from './redis-cluster.ts';
import { resultsDirectory } from './results.ts';
import type { Stage } from './stage.ts';

/** For `afterEach`. The operator's log is beside it, named after the namespace. */
export async function keepEvidence(
  { task }: TestContext,
  stage: Stage,
  cluster: TestCluster | undefined,
): Promise<void> {
  if (task.result?.state !== 'fail' || cluster === undefined) return;
  const { data, sentinels } = await cluster.pods();
  const told = await Promise.all(
    [...data, ...sentinels].map(async ({ metadata }) => {
      const path = `/api/v1/namespaces/${stage.namespace}/pods/${metadata.name}/log`;
      const log = await stage.client.getText(`${path}?tailLines=500`).catch((error: Error) => error.message);
      return `--- ${metadata.name}\n${log}`;
    }),
  );
  const seen = [await cluster.view(), await cluster.object()].map((value) => JSON.stringify(value, null, 2));
  const file = join(resultsDirectory, `${task.name.replaceAll(/\W+/g, '-').slice(0, 60)}.txt`);
  await writeFile(file, [...seen, ...told].join('\n'));
  console.log(`what the processes said is in ${file}\n${await lastOfOperator(stage)}`);
}

/** The end of the operator's log: where a machine that is gone has run the test, its output is all that is left. */
export async function lastOfOperator({ namespace }: Stage): Promise<string> {
  const log = await readFile(join(resultsDirectory, `${namespace}.log`), 'utf8').catch((error: Error) => error.message);
  return log.trimEnd().split('\n').slice(-60).join('\n');
}
