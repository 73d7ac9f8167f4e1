import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/charts/app.ts';

const files = ['0000-crds.k8s.yaml', '0001-operator.k8s.yaml', '0002-samples.k8s.yaml'];
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

  test('are the same bytes every time', () => {
    expect(synthesized()).toEqual(manifests);
  });

  test('differ only in the operator when the image does', () => {
    const other = synthesized({ operator: { image: 'localhost/clusterwright:dev' } });
    expect(files.filter((file) => other[file] !== manifests[file])).toEqual(['0001-operator.k8s.yaml']);
    expect(other['0001-operator.k8s.yaml']).toContain('image: localhost/clusterwright:dev');
  });
});
