/** A setting with which PostgreSQL does not start, in a cluster of one: nobody is primary, and the corrected spec is what brings it back. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { keepPostgresEvidence } from '../../support/postgres-evidence.ts';
import type { PostgresTestCluster } from '../../support/postgres-test-cluster.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let cluster: PostgresTestCluster;

beforeAll(async () => {
  stage = await openStage('postgres-wrong-setting');
  await stage.startOperator();
  cluster = await stage.createPostgres('p', { instances: 1, synchronous: { count: 0 } });
  await cluster.whole(1);
  const { name } = (await cluster.primary()).metadata;
  await cluster.sql(name, 'create table kept as select 1 as one');
});
afterEach((context) => keepPostgresEvidence(context, stage, cluster));
afterAll(() => stage.close());

/** Resolves when the status says that PostgreSQL does not start. */
async function failed(): Promise<void> {
  await until(
    'PostgreSQL does not start, and the status says so',
    async () => {
      const { conditions } = await cluster.status();
      const message = conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
      expect(message).toMatch(/PostgreSQL of p-0-0 is (start failed|stopped|crashed)/);
    },
    { withinMs: 120_000, everyMs: 500 },
  );
}

const wrong = { shared_preload_libraries: 'nobody_has_it' };
const right = { shared_preload_libraries: 'auto_explain' };

async function corrected(): Promise<void> {
  const asked = performance.now();
  await cluster.change({ parameters: right });
  await cluster.whole(1, { withinMs: 90_000 });
  console.log(`whole ${((performance.now() - asked) / 1000).toFixed(1)} s after the setting was corrected`);
  const { name } = (await cluster.primary()).metadata;
  expect(await cluster.sql(name, 'select one from kept')).toBe('1');
  expect(await cluster.sql(name, 'show shared_preload_libraries')).toBe('auto_explain');
}

test('a library that the image does not have, and then another one', async () => {
  await cluster.change({ parameters: wrong });
  await failed();
  await corrected();
}, 300_000);

test('another template reaches the pod while PostgreSQL does not start', async () => {
  await cluster.change({ parameters: wrong });
  await failed();
  const { uid } = (await cluster.pod('p-0-0')).metadata;
  await cluster.change({ resources: { limits: { memory: '600Mi' } } });
  await until(
    'the pod has started again',
    async () => expect((await cluster.pod('p-0-0')).metadata.uid).not.toBe(uid),
    { withinMs: 60_000, everyMs: 500 },
  );
  await corrected();
}, 300_000);
