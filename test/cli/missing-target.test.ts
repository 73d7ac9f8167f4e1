/** Messages and exit codes for resources whose cluster is not in the manifest. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { plan } from '../../src/cli/plan.ts';
import { render } from '../../src/cli/render.ts';
import { type World, world } from './world.ts';

const apiVersion = 'clusterwright.dev/v1alpha1';
const resource = (kind: string, name: string, spec: object, namespace = 'team'): KubeObject =>
  ({ apiVersion, kind, metadata: { name, namespace }, spec }) as KubeObject;

const user = (cluster: string): KubeObject =>
  resource('PostgresUser', 'app', { cluster: { name: cluster }, name: 'app' });
const database = resource('PostgresDatabase', 'shop', { cluster: { name: 'typo' }, name: 'shop', owner: 'app' });
const postgres = (name: string, namespace?: string): KubeObject =>
  resource('PostgresCluster', name, { storage: { size: '1Gi' } }, namespace);
const etcd = resource('EtcdCluster', 'registry', {});

/** A folder with a file for each object. */
const folder = (...objects: readonly KubeObject[]): World =>
  world({
    files: Object.fromEntries(objects.map((object, index) => [`dist/${index}.yaml`, JSON.stringify(object)])),
  });

async function planned(subject: string, cli: World): Promise<string> {
  // What such a resource does is not known. That it does something is.
  expect(await plan({ subject, offline: true }, cli)).toBe(2);
  return cli.printed.out;
}

const advice = 'check spec.cluster.name, add the cluster, or plan without --offline (NotObserved)';

describe('plan --offline', () => {
  it.each([
    ['PostgresUser', 'app', user('typo')],
    ['PostgresDatabase', 'shop', database],
  ])('of a %s exits with 2, as for a Backup', async (kind, name, object) => {
    expect(await planned('dist', folder(object))).toBe(`${kind} team/${name}: nothing yet
  afterwards
    the operator applies ${kind}/${name} to PostgresCluster/typo
  waits for: PostgresCluster team/typo is not in dist, which has no PostgresCluster: ${advice}
`);
  });

  it('names the clusters of that kind, so that a misspelt name is seen', async () => {
    const all = [user('typo'), postgres('pg'), postgres('pg', 'other'), etcd];
    expect(await planned('dist', folder(...all))).toContain(
      `  waits for: PostgresCluster team/typo is not in dist, which has PostgresCluster team/pg, other/pg: ${advice}\n`,
    );
  });

  it('names five, and counts the others', async () => {
    const many = [1, 2, 3, 4, 5, 6, 7].map((number) => postgres(`pg-${number}`));
    expect(await planned('dist', folder(user('typo'), ...many))).toContain(
      'which has PostgresCluster team/pg-1, team/pg-2, team/pg-3, team/pg-4, team/pg-5 and 2 more: ',
    );
  });

  it('says of a stream where it was read', async () => {
    const cli = world({ stdin: JSON.stringify(user('typo')) });
    expect(await planned('-', cli)).toContain('PostgresCluster team/typo is not in standard input, which has ');
  });
});

describe('render', () => {
  it.each([
    ['PostgresUser/app', user('nodb'), 'shows its objects without what depends on that: add PostgresCluster nodb', 1],
    ['PostgresDatabase/shop', database, 'cannot show its objects: add PostgresCluster typo', 0],
  ])('of %s says what is missing', async (name, object, words, shown) => {
    const cli = folder(object);
    expect(await render({ file: 'dist' }, cli)).toBe(0);
    expect(cli.printed.out.match(/^kind: Secret$/gm) ?? []).toHaveLength(shown);
    expect(cli.printed.err).toMatch(new RegExp(`^${name}: PostgresCluster team/\\w+ is not in dist, `));
    expect(cli.printed.err).toContain(`which has no PostgresCluster. \`render\` ${words} to the manifest\n`);
  });
});
