/** The programs of `examples/`, compiled against the package and run as a user runs them, but for npm: see `registry/examples.test.ts`. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/object.ts';
import { thousandths } from '../../src/api/quantity.ts';
import { compileInto, runIn, tsc } from '../support/packed-package.ts';
import { managedResources, secretsReadBy, usageOfPods } from '../support/rendered-resources.ts';

const home = mkdtempSync(join(tmpdir(), 'clusterwright-examples-'));
const names = readdirSync('examples');

const objectsIn = (file: string): KubeObject[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as KubeObject);

const folderOf = (name: string): string => join(home, name);
const outputOf = (name: string): string => join(folderOf(name), 'written');

type Files = Readonly<Record<string, readonly KubeObject[]>>;

/** What each has written, as it was read last. */
const written = new Map<string, Files>();

/** By file, without the endings. */
function synthesized(name: string): Files {
  const files = readdirSync(outputOf(name), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.k8s.yaml'))
    .sort()
    .map((file) => [file.replace(/\.k8s\.yaml$/, ''), objectsIn(join(outputOf(name), file))] as const);
  return Object.fromEntries(files);
}

function filesOf(name: string): Files {
  const files = written.get(name) ?? synthesized(name);
  written.set(name, files);
  return files;
}

const idOf = ({ kind, metadata }: KubeObject): string =>
  [kind, metadata.namespace, metadata.name].filter(Boolean).join(' ');
const idsIn = (name: string): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(Object.entries(filesOf(name)).map(([file, objects]) => [file, objects.map(idOf)]));

function run(name: string): void {
  runIn(folderOf(name), process.execPath, ['compiled/main.js'], { ...process.env, CDK8S_OUTDIR: outputOf(name) });
  written.delete(name);
}

beforeAll(() => {
  compileInto(home);
  for (const name of names) {
    cpSync(join('examples', name), folderOf(name), { recursive: true });
    runIn(folderOf(name), tsc, ['-p', '.', '--noEmit', 'false', '--outDir', 'compiled']);
    run(name);
  }
}, 120_000);

afterAll(() => rmSync(home, { recursive: true }));

test('are three, each with what a user needs to run it', () => {
  expect(names.sort()).toEqual(['application', 'gitops', 'platform-team']);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  for (const name of names) {
    const { dependencies } = JSON.parse(readFileSync(join('examples', name, 'package.json'), 'utf8')) as {
      dependencies: Readonly<Record<string, string>>;
    };
    // Where `npm pack` puts it.
    expect(dependencies.clusterwright).toBe(`file:../../clusterwright-${version}.tgz`);
    const readme = readFileSync(join('examples', name, 'README.md'), 'utf8');
    expect(readme).toContain('\n$ npm i && npx cdk8s synth\n');
    expect(readFileSync('docs/install.md', 'utf8')).toContain(`](../examples/${name}/README.md)`);
  }
});

describe('platform-team', () => {
  const ofTenant = (tenant: string): readonly KubeObject[] =>
    Object.entries(filesOf('platform-team')).find(([file]) => file.endsWith(`tenant-${tenant}`))?.[1] ?? [];

  it('writes a file for each part, in the order of application', () => {
    expect(Object.keys(filesOf('platform-team'))).toEqual([
      '0000-crds',
      '0001-namespaces',
      '0002-operator',
      '0003-monitoring',
      '0004-tenant-shop',
      '0005-tenant-billing',
    ]);
    expect(filesOf('platform-team')['0000-crds']).toEqual(objectsIn('dist/0000-crds.k8s.yaml'));
    expect(ofTenant('billing').map(idOf)).toEqual([
      'ResourceQuota billing tenant',
      'RoleBinding billing tenant-edit',
      'RoleBinding billing tenant-view',
      'RedisCluster billing cache',
      'EtcdCluster billing registry',
      'PostgresCluster billing db',
      'BackupSchedule billing cache',
      'BackupSchedule billing registry',
      'BackupSchedule billing db',
    ]);
  });

  it('gives the operator rights in the namespaces of the tenants alone', () => {
    const ids = idsIn('platform-team')['0002-operator'] ?? [];
    expect(ids.filter((id) => /^(Cluster)?Role /.test(id))).toEqual([
      'Role clusterwright-system clusterwright-leader',
      'Role shop clusterwright-watch',
      'Role billing clusterwright-watch',
      'ClusterRole clusterwright-view',
      'ClusterRole clusterwright-edit',
    ]);
  });

  it('has Argo CD create the namespaces before the Roles in them, in one Application', () => {
    const wave = ({ metadata }: KubeObject): number =>
      Number(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0);
    const { '0001-namespaces': namespaces = [], '0002-operator': operator = [] } = filesOf('platform-team');
    expect(namespaces.map(({ metadata }) => metadata.name)).toEqual(['shop', 'billing']);
    const roles = operator.filter(({ kind }) => kind === 'Role');
    expect(Math.max(...namespaces.map(wave))).toBeLessThan(Math.min(...roles.map(wave)));
  });

  it.each(['shop', 'billing'])(
    'has room in the quota of %s for its databases, a backup of each, and a pod more',
    (tenant) => {
      const objects = ofTenant(tenant);
      const quota = objects.find(({ kind }) => kind === 'ResourceQuota') as unknown as {
        readonly spec: { readonly hard: Readonly<Record<string, string>> };
      };
      const { hard } = quota.spec;
      const pods = usageOfPods(managedResources(objects), Object.keys(hard));
      expect(pods.length).toBeGreaterThan(10);
      const excess = Object.entries(hard).flatMap(([resource, limit]) => {
        const amounts = pods.map((usage) => usage[resource] ?? 0n);
        const largest = amounts.reduce((a, b) => (a > b ? a : b));
        const sum = amounts.reduce((a, b) => a + b, largest);
        return sum > thousandths(limit) ? [`${resource}: ${sum / 1000n} of ${limit}`] : [];
      });
      expect(excess).toEqual([]);
    },
  );
});

describe('application', () => {
  it('writes the databases, and the application', () => {
    expect(idsIn('application')).toEqual({
      '0000-databases': [
        'PostgresCluster shop shop-db',
        'PostgresUser shop orders-owner',
        'PostgresDatabase shop orders',
        'PostgresUser shop orders-app',
        'RedisCluster shop shop-cache',
      ],
      '0001-web': ['Deployment shop web', 'Service shop web'],
    });
  });

  it('reads Secrets that the operator makes, and no others', () => {
    const { '0000-databases': databases = [], '0001-web': web = [] } = filesOf('application');
    const read = [...secretsReadBy(web)];
    expect(read).toEqual(['orders-app-login', 'orders-owner-login', 'shop-cache-auth', 'shop-db-server-tls']);
    const made = managedResources(databases).filter(({ kind }) => kind === 'Secret');
    expect(made.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(read));
  });
});

describe('gitops', () => {
  interface Applied {
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
    readonly spec: {
      readonly path: string;
      readonly prune: boolean;
      readonly retryInterval: string;
      readonly dependsOn?: readonly { readonly name: string }[];
      readonly source: { readonly path: string };
      readonly syncPolicy: { readonly automated: { readonly prune: boolean } };
    };
  }
  const applied = (file: string): readonly Applied[] => (filesOf('gitops')[file] ?? []) as unknown as Applied[];
  const foldersBelow = (folder: string): readonly string[] =>
    Object.keys(filesOf('gitops'))
      .filter((file) => file.startsWith(`${folder}/`))
      .map((file) => `deploy/${file.replace(/\/[^/]+$/, '')}`);

  it('writes a folder for each part of an environment', () => {
    expect(Object.keys(filesOf('gitops'))).toEqual(
      [
        'argocd/root',
        ...['staging', 'production'].flatMap((environment) => [
          `argocd/${environment}/applications`,
          `flux/${environment}/kustomizations`,
          ...['crds', 'namespaces', 'operator', 'databases'].map((part) => `${environment}/${part}/${part}`),
        ]),
      ].sort(),
    );
    expect(idsIn('gitops')['staging/databases/databases']).toEqual([
      'PostgresCluster shop db',
      'RedisCluster shop cache',
      'BackupSchedule shop db',
    ]);
  });

  it.each(['staging', 'production'])('has Argo CD apply every folder of %s, in waves', (environment) => {
    const roots = applied('argocd/root');
    expect(roots.find(({ metadata }) => metadata.name === environment)?.spec.source.path).toBe(
      `deploy/argocd/${environment}`,
    );
    const applications = applied(`argocd/${environment}/applications`);
    expect(
      applications.map(({ metadata, spec }) => [
        metadata.annotations?.['argocd.argoproj.io/sync-wave'],
        spec.source.path,
        spec.syncPolicy.automated.prune,
      ]),
    ).toEqual([
      ['0', `deploy/${environment}/crds`, false],
      ['1', `deploy/${environment}/namespaces`, false],
      ['2', `deploy/${environment}/operator`, true],
      ['3', `deploy/${environment}/databases`, false],
    ]);
    expect(applications.map(({ spec }) => spec.source.path).sort()).toEqual(foldersBelow(environment));
  });

  it.each(['staging', 'production'])('has Flux apply every folder of %s, each after the one before', (environment) => {
    const kustomizations = applied(`flux/${environment}/kustomizations`);
    expect(
      kustomizations.map(({ spec }) => [spec.path, spec.prune, ...(spec.dependsOn ?? []).map(({ name }) => name)]),
    ).toEqual([
      [`./deploy/${environment}/crds`, false],
      [`./deploy/${environment}/namespaces`, false, 'crds'],
      [`./deploy/${environment}/operator`, true, 'namespaces'],
      [`./deploy/${environment}/databases`, false, 'operator'],
    ]);
    expect(kustomizations.map(({ spec }) => spec.path.slice(2)).sort()).toEqual(foldersBelow(environment));
    // Flux waits for `interval` after a failure, unless this says otherwise.
    expect(kustomizations.map(({ spec }) => spec.retryInterval)).toEqual(kustomizations.map(() => '1m'));
  });

  it('creates every namespace that it uses before the operator, which has rights in these alone', () => {
    const { 'staging/namespaces/namespaces': created = [] } = idsIn('gitops');
    expect(created).toEqual(['Namespace shop']);
    const used = ['operator', 'databases'].flatMap((part) =>
      (filesOf('gitops')[`staging/${part}/${part}`] ?? []).flatMap(({ metadata }) => metadata.namespace ?? []),
    );
    expect([...new Set(used)]).toEqual(['clusterwright-system', 'shop']);
    const roles = (idsIn('gitops')['staging/operator/operator'] ?? []).filter((id) => /^(Cluster)?Role /.test(id));
    expect(roles).toEqual([
      'Role clusterwright-system clusterwright-leader',
      'Role shop clusterwright-watch',
      'ClusterRole clusterwright-view',
      'ClusterRole clusterwright-edit',
    ]);
  });

  it('removes manifests that it no longer writes, and nothing else', () => {
    const [stale, foreign] = ['flux/staging/old.k8s.yaml', 'flux/staging/gotk-sync.yaml'].map((file) =>
      join(outputOf('gitops'), file),
    );
    const before = Object.keys(filesOf('gitops'));
    for (const file of [stale, foreign]) writeFileSync(file ?? '', '');
    run('gitops');
    expect(Object.keys(filesOf('gitops'))).toEqual(before);
    expect(readFileSync(foreign ?? '', 'utf8')).toBe('');
  });
});
