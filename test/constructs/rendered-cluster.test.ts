import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { RenderedCluster } from '../../src/constructs/rendered-cluster.ts';
import { engines } from '../../src/engines/index.ts';
import { kindCases } from '../api/kind-cases.ts';
import { manifestsOf } from './manifests.ts';

const clusterOf = (spec: unknown, kind = 'RedisCluster'): KubeObject => ({
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind,
  metadata: { name: 'sample', namespace: 'databases' },
  spec,
});

describe('what constructs render', () => {
  test.each(kindCases)('is what builders build for $name, object for object', ({ name, kind, cases }) => {
    const accepted = cases.filter((row) => row.refused === undefined && row.old === undefined && row.prunes !== true);
    expect(accepted.length).toBeGreaterThan(20);
    const clusters = accepted.map(({ spec }) => clusterOf(spec, name));
    const engine = engines.find((candidate) => candidate.kind === kind);
    const built = clusters.flatMap((cluster) => {
      const verdict = validateCluster(kind, cluster);
      if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
      return engine?.resources(verdict.cluster).map(({ object }) => object) ?? [];
    });
    expect(built.length).toBeGreaterThan(20);
    const rendered = manifestsOf((chart) => {
      for (const [i, cluster] of clusters.entries()) new RenderedCluster(chart, `db-${i}`, { cluster });
    });
    expect(rendered).toEqual(JSON.parse(JSON.stringify(built)));
  });

  test('needs a valid object of a known kind', () => {
    const render = (cluster: KubeObject) => () =>
      manifestsOf((chart) => void new RenderedCluster(chart, 'db', { cluster }));
    expect(render(clusterOf({ replicas: 0 }))).toThrow(
      'chart/db: RedisCluster/sample is not valid\nspec.replicas: must be at least 1',
    );
    expect(render({ ...clusterOf({}), kind: 'Redis' })).toThrow('chart/db: no engine serves the kind Redis');
  });
});
