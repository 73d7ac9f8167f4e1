/** What a new PostgresCluster costs the API server, until its first pod runs. */
import { expect, it } from 'vitest';
import { runSimulated, scenarioNamed } from '../catalogue.ts';

it('a new PostgresCluster is made of one request a managed resource, and its status', async () => {
  const plan = { scenario: 'postgres S1', seed: 1, faults: [] };
  const { entries } = await runSimulated(plan, scenarioNamed(plan.scenario));
  const untilRunning = entries.slice(
    0,
    entries.findIndex(({ what }) => what.includes('persistentvolumeclaims')),
  );
  const asked = untilRunning
    .filter(({ what }) => !/leases|events/.test(what))
    .map(({ verb, what }) => `${verb} ${what}`);
  const created = asked.filter((line) => line.startsWith('create '));
  expect(created).toHaveLength(25);
  expect(asked.filter((line) => !line.startsWith('create '))).toEqual([
    'patch /apis/clusterwright.dev/v1alpha1/namespaces/test/postgresclusters/db/status',
  ]);
});
