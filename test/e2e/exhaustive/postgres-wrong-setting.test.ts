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

test('a library that the image does not have', async () => {
  await cluster.change({ parameters: { shared_preload_libraries: 'nobody_has_it' } });
  await until(
    'PostgreSQL does not start, and the status says so',
    async () => {
      const status = await cluster.status();
      const message = status.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
      expect(message).toMatch(/PostgreSQL of p-0-0 is (start failed|stopped|crashed)/);
    },
    { withinMs: 120_000, everyMs: 500 },
  );
  const asked = performance.now();
  await cluster.change({ parameters: { shared_preload_libraries: '' } });
  await cluster.whole(1, { withinMs: 90_000 });
  console.log(`whole ${((performance.now() - asked) / 1000).toFixed(1)} s after the setting was corrected`);
  const { name } = (await cluster.primary()).metadata;
  expect(await cluster.sql(name, 'select one from kept')).toBe('1');
}, 300_000);
