/** Whether the API server judges a new pod template, as `plan` says it: it does what the operator would do. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { plan } from '../../src/cli/plan.ts';
import { apiServer } from './api-server.ts';
import { childrenOf, manifest, stored } from './stored-cluster.ts';
import { world } from './world.ts';

const operator = (...env: readonly object[]): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'clusterwright', namespace: 'clusterwright-system' },
  spec: { template: { spec: { containers: [{ env }] } } },
});
const noDryRuns = operator({ name: 'CLUSTERWRIGHT_DRY_RUNS', value: 'false' });
const noRight = 'pods is forbidden: User "me" cannot create resource "pods" in API group "" in the namespace "team"';
const notByOperator = 'pod templates are not judged: the operator makes no dry runs (dryRuns: false)';

it.each<
  readonly [story: string, objects: readonly KubeObject[], refusal: string | undefined, asks: boolean, said: string]
>([
  ['the operator asks', [operator()], undefined, true, 'nothing'],
  ['no operator is installed', [], undefined, true, 'nothing'],
  ['the operator does not ask, and would not hear of a refusal', [noDryRuns], noRight, false, notByOperator],
  ['you have no right to ask', [operator()], noRight, true, `pod templates are not judged: ${noRight}`],
])('%s', async (_, objects, refusal, asks, said) => {
  const cluster = stored();
  const api = apiServer({ objects: [cluster, ...(await childrenOf(cluster)), ...objects], refuses: () => refusal });
  const cli = world({ files: { f: JSON.stringify(manifest({ image: 'registry.example/redis:8.0.9' })) }, api });
  expect(await plan({ subject: 'f' }, cli)).toBe(2);
  expect(cli.printed.out).toContain('    StatefulSet/cache\n');
  expect(/pod templates are not judged: [^\n;]*(?= \(MembersStarting\))/.exec(cli.printed.out)?.[0] ?? 'nothing').toBe(
    said,
  );
  expect(api.requests.some(({ query }) => query?.dryRun === 'All')).toBe(asks);
});
