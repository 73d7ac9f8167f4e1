import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ApiObject, type Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { describe, expect, test } from 'vitest';
import { RedisCluster } from '../../src/constructs/clusters.ts';
import { manifestsOf } from '../constructs/manifests.ts';

const file = 'clusterwright.dev.ts';

describe('imports/', () => {
  test('is what cdk8s makes of our CRDs today; `npm run import` writes it', () => {
    const out = mkdtempSync(join(tmpdir(), 'clusterwright-imports-'));
    try {
      const cli = resolve('node_modules/cdk8s-cli/bin/cdk8s');
      const arguments_ = ['import', 'dist/0000-crds.k8s.yaml', '--no-save', '--check-upgrade=false', '--output', out];
      execFileSync(cli, arguments_, { stdio: 'pipe' });
      expect(readFileSync(join('imports', file), 'utf8')).toBe(readFileSync(join(out, file), 'utf8'));
    } finally {
      rmSync(out, { recursive: true });
    }
  }, 30_000);

  test('type-checks, under the rules that generated code needs', () => {
    execFileSync(resolve('node_modules/.bin/tsc'), ['--noEmit', '-p', 'imports/tsconfig.json'], { stdio: 'pipe' });
  }, 30_000);

  test('writes the same object as our own construct', async () => {
    // By a computed name: the generated code does not compile under the project's own rules.
    const generated = (await import(resolve('imports', file))) as {
      readonly RedisCluster: new (scope: Construct, id: string, props: object) => ApiObject;
    };
    const props = { metadata: { name: 'a' }, spec: { replicas: 5, config: { 'repl-timeout': 20 } } };
    const byImport = manifestsOf((chart: Chart) => {
      expect(
        new generated.RedisCluster(chart, 'a', { ...props, spec: { replicas: 5, config: { replTimeout: 20 } } }),
      ).toBeInstanceOf(ApiObject);
    });
    expect(byImport).toEqual(manifestsOf((chart) => void new RedisCluster(chart, 'a', props)));
  });
});
