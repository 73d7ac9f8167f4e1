import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/object.ts';
import { createApp } from '../../src/charts/app.ts';
import { kustomization } from '../../src/charts/kustomization.ts';
import { createMonitoringApp } from '../../src/charts/monitoring.ts';
import { operatorImage } from '../../src/constructs/operator-identity.ts';

const files = ['0000-crds.k8s.yaml', '0001-operator.k8s.yaml', '0002-samples.k8s.yaml', '0003-backups.k8s.yaml'];
const directories: string[] = [];

function synthesized(options: Parameters<typeof createApp>[0] = {}): Readonly<Record<string, string>> {
  const outdir = mkdtempSync(join(tmpdir(), 'clusterwright-synth-'));
  directories.push(outdir);
  createApp({ outdir, ...options }).synth();
  return Object.fromEntries(readdirSync(outdir).map((file) => [file, readFileSync(join(outdir, file), 'utf8')]));
}

afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true });
});

describe('the synthesized manifests', () => {
  const manifests = synthesized();

  test('are a file a chart, in the order of application, and nothing else', () => {
    expect(Object.keys(manifests)).toEqual(files);
  });

  test.each(files)('%s is the one that is committed; `npm run synth` writes it', (file) => {
    expect(readFileSync(join('dist', file), 'utf8')).toBe(manifests[file]);
  });

  test('back up a sample that there is, to a volume that is made with them', () => {
    const objectsIn = (file: string): KubeObject[] =>
      parseAllDocuments(manifests[file] ?? '').map((document) => document.toJS() as KubeObject);
    const samples = objectsIn('0002-samples.k8s.yaml').map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const [claim, ...backups] = objectsIn('0003-backups.k8s.yaml');
    expect(backups.map(({ kind }) => kind)).toEqual(['Backup', 'BackupSchedule']);
    for (const { metadata, spec } of backups) {
      const { cluster, target } = spec as { cluster: { kind: string; name: string }; target: object };
      expect(samples).toContain(`${cluster.kind} ${cluster.name}`);
      expect(target).toEqual({ claim: { name: claim?.metadata.name } });
      expect(metadata.namespace).toBe(claim?.metadata.namespace);
    }
  });

  test('are the same bytes every time', () => {
    expect(synthesized()).toEqual(manifests);
  });

  test('differ only in the operator when the image does', () => {
    const other = synthesized({ operator: { image: 'localhost/clusterwright:dev' } });
    expect(files.filter((file) => other[file] !== manifests[file])).toEqual(['0001-operator.k8s.yaml']);
    expect(other['0001-operator.k8s.yaml']).toContain('image: localhost/clusterwright:dev');
  });

  test('have an operator for the namespaces of everyone who applies them, also that of the samples', () => {
    for (const { '0001-operator.k8s.yaml': operator } of [manifests, synthesized({ operator: { replicas: 1 } })]) {
      expect(operator).toContain('kind: ClusterRoleBinding');
      expect(operator).not.toContain('CLUSTERWRIGHT_NAMESPACES');
    }
  });
});

describe('the monitoring kit in dist/monitoring', () => {
  const outdir = mkdtempSync(join(tmpdir(), 'clusterwright-synth-'));
  directories.push(outdir);
  createMonitoringApp(outdir).synth();
  const kit = ['dashboards', 'pod-monitors', 'rules', 'state-metrics'].map((name) => `${name}.k8s.yaml`);

  test('is a file for each part', () => {
    expect(readdirSync(outdir).sort()).toEqual(kit);
    expect(readdirSync('dist/monitoring').sort()).toEqual(kit);
  });

  test.each(kit)('%s is the one that is committed; `npm run synth` writes it', (file) => {
    expect(readFileSync(join('dist/monitoring', file), 'utf8')).toBe(readFileSync(join(outdir, file), 'utf8'));
  });

  test('is not applied with dist/, so that this needs no CRDs of others', () => {
    const applied = readdirSync('dist', { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(applied.map(({ name }) => name)).toEqual([...files, 'images.txt', 'kustomization.yaml']);
  });
});

describe('dist/kustomization.yaml', () => {
  const content = parse(readFileSync('dist/kustomization.yaml', 'utf8')) as {
    readonly resources: readonly string[];
    readonly replacements: readonly { readonly source: { readonly fieldPath: string } }[];
  };

  test('is the one that is committed; `npm run synth` writes it', () => {
    expect(readFileSync('dist/kustomization.yaml', 'utf8')).toBe(kustomization());
  });

  test('lists what an installation needs in its order, and no samples', () => {
    expect(content.resources).toEqual(files.slice(0, 2));
  });

  test('gives the image of the container to the Jobs of backups', () => {
    const objects = parseAllDocuments(readFileSync('dist/0001-operator.k8s.yaml', 'utf8'));
    const deployment = objects.map((each) => each.toJS() as KubeObject).find(({ kind }) => kind === 'Deployment');
    const text = JSON.stringify(deployment);
    expect(text.split(operatorImage).length - 1).toBe(2);
    expect(text).toContain('"name":"controller"');
    expect(text).toContain(`{"name":"CLUSTERWRIGHT_AGENT_IMAGE","value":"${operatorImage}"}`);
    expect(content.replacements.map(({ source }) => source.fieldPath)).toEqual([
      'spec.template.spec.containers.[name=controller].image',
    ]);
  });
});
