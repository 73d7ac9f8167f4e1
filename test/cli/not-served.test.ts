/** Which resources the operator that is installed leaves alone. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { plan } from '../../src/cli/plan.ts';
import { type RunArguments, run } from '../../src/cli/run.ts';
import { apiServer } from './api-server.ts';
import { type World, world } from './world.ts';

const cluster = (labels?: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { name: 'cache', namespace: 'team', ...(labels === undefined ? {} : { labels }) },
  spec: {},
});

function operator(resourceSelector?: string, namespaces?: string): KubeObject {
  const env = [
    { name: 'CLUSTERWRIGHT_AGENT_IMAGE', value: 'cw:1' },
    ...(resourceSelector === undefined ? [] : [{ name: 'CLUSTERWRIGHT_RESOURCE_SELECTOR', value: resourceSelector }]),
    ...(namespaces === undefined ? [] : [{ name: 'CLUSTERWRIGHT_NAMESPACES', value: namespaces }]),
  ];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'clusterwright', namespace: 'clusterwright-system' },
    spec: { template: { spec: { containers: [{ env }] } } },
  };
}

const at = (...objects: KubeObject[]): World =>
  world({ files: { f: JSON.stringify(cluster({ tier: 'green' })) }, api: apiServer({ objects }) });

const note =
  'RedisCluster/cache has no labels that match tier=blue, the label selector of the operator in clusterwright-system: that operator leaves it alone\n';

const elsewhere =
  'RedisCluster/cache is in the namespace team, which the operator in clusterwright-system does not watch: that operator leaves it alone\n';

it.each<readonly [story: string, objects: KubeObject[], subject: string, told: string]>([
  ['another one', [cluster({ tier: 'green' }), operator('tier=blue')], 'rediscluster/cache', note],
  ['none', [cluster(), operator('tier=blue')], 'rediscluster/cache', note],
  ['its own', [cluster({ tier: 'blue' }), operator('tier=blue')], 'rediscluster/cache', ''],
  ['any, where it selects all', [cluster(), operator()], 'rediscluster/cache', ''],
  ['any, where it was told what is no selector', [cluster(), operator('?')], 'rediscluster/cache', ''],
  ['another one from the manifest on', [cluster({ tier: 'blue' }), operator('tier=blue')], 'f', note],
])('plan says who leaves a resource alone that has labels for %s', async (_, objects, subject, told) => {
  const cli = at(...objects);
  await plan({ subject }, cli);
  expect(cli.printed.err).toBe(told);
});

it.each([
  ['clusterwright-system', elsewhere],
  ['shop,team-a', elsewhere],
  ['shop,team', ''],
  ['', ''],
])('plan says where the operator is, if it watches %j', async (namespaces, told) => {
  for (const subject of ['rediscluster/cache', 'f']) {
    const cli = at(cluster(), operator(undefined, namespaces));
    await plan({ subject }, cli);
    expect(cli.printed.err).toBe(told);
  }
});

describe('run', () => {
  const args: RunArguments = { leaderElection: true, port: 0, dryRuns: true, logLevel: 'info' };

  it.each([
    [{ resourceSelector: 'tier=green' }, 'tier=blue', 'the operator in clusterwright-system serves other resources'],
    [{ resourceSelector: 'tier=green' }, undefined, 'the operator in clusterwright-system serves other resources'],
    [{ resourceSelector: 'tier>1' }, 'tier=blue', '--resource-selector must be a label selector'],
  ])('with %j does not start beside an operator for %s', async (more, theirs, told) => {
    await expect(run({ ...args, ...more }, at(operator(theirs)))).rejects.toThrow(told);
  });
});
