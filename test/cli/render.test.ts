/** What `render` prints is what the controller's own plan would create, and nothing of it is secret. */
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { validateCluster } from '../../src/api/validate.ts';
import { render } from '../../src/cli/render.ts';
import { kubectlYaml } from '../../src/cli/yaml.ts';
import { handlers as engines } from '../support/handlers.ts';
import { type World, world } from './world.ts';

const manifest = `apiVersion: clusterwright.dev/v1alpha1
kind: RedisCluster
metadata:
  name: cache
spec:
  config: {maxmemory-policy: allkeys-lru}
`;

async function rendered(text: string, args: object = {}): Promise<World> {
  const cli = world({ files: { 'f.yaml': text } });
  expect(await render({ file: 'f.yaml', ...args }, cli)).toBe(0);
  return cli;
}

const documentsOf = (text: string): unknown[] =>
  parseAllDocuments(text, kubectlYaml).map((document) => document.toJS());

describe('render', () => {
  it('prints the create steps of the plan against nothing, fingerprints and all', async () => {
    const [engine] = engines;
    const verdict = engine && validateCluster(engine.kind, documentsOf(manifest)[0]);
    if (engine === undefined || verdict?.ok !== true) throw new Error('the manifest is valid');
    const created = engine
      .planOffline(verdict.cluster)
      .steps.map((step) => (step.type === 'create' ? step.object : step));
    const { printed } = await rendered(manifest);
    expect(documentsOf(printed.out)).toEqual(created);
    expect(created.length).toBeGreaterThan(5);
  });

  it('gives the same objects as JSON, in a List', async () => {
    const yaml = await rendered(manifest);
    const json = await rendered(manifest, { output: 'json' });
    const list = JSON.parse(json.printed.out) as { kind: string; items: unknown[] };
    expect(list.kind).toBe('List');
    expect(list.items).toEqual(documentsOf(yaml.printed.out));
  });

  it('names what the controller adds to a Secret, and shows no value', async () => {
    const { printed } = await rendered(manifest);
    const secret = printed.out.split('---\n').find((document) => document.includes('kind: Secret'));
    expect(secret).toMatch(/^# The controller adds password \(32 random characters\)\.\n/);
    expect(documentsOf(secret ?? '')[0]).not.toHaveProperty('data');
    expect(documentsOf(secret ?? '')[0]).not.toHaveProperty('stringData.password');
  });

  it('puts objects without a namespace where --namespace says, and leaves the others where they are', async () => {
    const namespaces = async (text: string, args: object): Promise<unknown[]> => {
      const { printed } = await rendered(text, args);
      const objects = documentsOf(printed.out) as { metadata: { namespace: string } }[];
      return [...new Set(objects.map(({ metadata }) => metadata.namespace))];
    };
    expect(await namespaces(manifest, {})).toEqual(['default']);
    expect(await namespaces(manifest, { namespace: 'team' })).toEqual(['team']);
    const placed = manifest.replace('name: cache', 'name: cache\n  namespace: own');
    expect(await namespaces(placed, {})).toEqual(['own']);
    await expect(rendered(placed, { namespace: 'team' })).rejects.toThrow(
      'f.yaml:5:3: metadata.namespace: is own, but --namespace says team',
    );
  });

  it('renders every cluster of a file, and notes what it skips', async () => {
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team\n---\n';
    const { printed } = await rendered(`${namespace}${manifest}---\n${manifest.replace('cache', 'queue')}`);
    expect(printed.err).toBe('f.yaml:1: Namespace/team is skipped: not a kind of clusterwright.dev\n');
    expect(printed.out).toContain('name: cache-primary');
    expect(printed.out).toContain('name: queue-primary');
  });

  it('renders the manifests of a folder, and counts what it skips in each of them', async () => {
    const others = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n---\n'.repeat(4);
    const files = {
      'dist/b.k8s.yaml': manifest,
      'dist/a.k8s.yaml': others,
      'dist/empty.k8s.yaml': '\n',
      'dist/README.md': '# nothing to read',
      'dist/inner/c.yaml': 'not: read',
    };
    const cli = world({ files });
    expect(await render({ file: 'dist' }, cli)).toBe(0);
    expect(cli.printed.out).toContain('name: cache-primary');
    expect(cli.printed.err).toBe('dist/a.k8s.yaml: 4 objects are skipped: not of a kind of clusterwright.dev\n');
  });

  it('names the file of a folder that is at fault, or the folder', async () => {
    const rendering = (files: Record<string, string>) => render({ file: 'dist' }, world({ files }));
    await expect(
      rendering({ 'dist/a.yaml': manifest.replace('name: cache', 'name: Cache'), 'dist/b.yaml': 'a: [' }),
    ).rejects.toThrow('dist/b.yaml:1:5: not YAML');
    const other = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n';
    await expect(rendering({ 'dist/a.yaml': other, 'dist/b.yaml': other })).rejects.toThrow(
      'dist: no object in it is of a kind of clusterwright.dev: RedisCluster',
    );
    await expect(rendering({ 'dist/README.md': '' })).rejects.toThrow(
      'dist: no file in it is a manifest (.yaml, .yml, .json); folders in it are not read',
    );
  });

  it('reads standard input', async () => {
    const cli = world({ stdin: manifest });
    expect(await render({ file: '-' }, cli)).toBe(0);
    expect(cli.printed.out).toContain('name: cache-primary');
  });

  it('finds the cluster that a Backup is about in the same manifest, and makes nothing of one that it does not find', async () => {
    const backup = `apiVersion: clusterwright.dev/v1alpha1
kind: Backup
metadata:
  name: nightly
spec:
  cluster: {kind: RedisCluster, name: cache}
  target: {claim: {name: archive}}
`;
    const kinds = (text: string): string[] => [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind ?? '');
    const both = await rendered(`${backup}---\n${manifest}`);
    expect(kinds(both.printed.out).slice(0, 2)).toEqual(['ConfigMap', 'Job']);
    expect(both.printed.out).toContain('"host": "cache-0.cache.default.svc"');
    const alone = await rendered(backup);
    expect(kinds(alone.printed.out)).toEqual([]);
    expect(alone.printed.err).toContain(
      'Backup/nightly: RedisCluster default/cache is not in f.yaml, which has no RedisCluster. `render` cannot show its objects: add RedisCluster cache to the manifest\n',
    );
  });

  it('prints the claim and the Job of a restore before what rests on its data', async () => {
    const restore = '  bootstrap: {restore: {target: {claim: {name: archive}}}}\n';
    const { printed } = await rendered(`${manifest}${restore}`);
    const kinds = [...printed.out.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind);
    expect(kinds.filter((kind) => kind !== 'Secret').slice(0, 3)).toEqual([
      'PersistentVolumeClaim',
      'ConfigMap',
      'Job',
    ]);
    expect(kinds).toContain('StatefulSet');
  });
});
