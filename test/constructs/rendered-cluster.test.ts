import { describe, expect, test } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { type Verdict, validateCluster } from '../../src/api/validate.ts';
import { RenderedCluster } from '../../src/constructs/rendered-cluster.ts';
import { kindCases } from '../api/kind-cases.ts';
import { handlers as engines } from '../support/handlers.ts';
import { manifestsOf } from './manifests.ts';

const clusterOf = (spec: unknown, kind = 'RedisCluster'): KubeObject => ({
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind,
  metadata: { name: 'sample', namespace: 'databases' },
  spec,
});

function valid(verdict: Verdict): Cluster {
  if (!verdict.ok) throw new Error(JSON.stringify(verdict.violations));
  return verdict.cluster;
}

/** What a Backup is about. */
function referredBy(object: KubeObject): KubeObject | undefined {
  const { cluster } = object.spec as { readonly cluster?: { readonly kind: string; readonly name: string } };
  if (cluster === undefined) return undefined;
  return { ...clusterOf({}, cluster.kind), metadata: { name: cluster.name, namespace: 'databases' } };
}

/** What is inside of a cluster, such as a database, has nothing to render, or a Secret at most. */
const served = kindCases.filter(({ kind }) =>
  engines.some((engine) => engine.kind === kind && engine.asksTarget !== true),
);

describe('what constructs render', () => {
  test.each(served)('is what builders build for $name, object for object', ({ name, kind, cases }) => {
    const accepted = cases.filter((row) => row.refused === undefined && row.old === undefined && row.prunes !== true);
    expect(accepted.length).toBeGreaterThan(10);
    const isKnown = (object: KubeObject | undefined): boolean =>
      object === undefined || kindCases.some((row) => row.name === object.kind);
    const clusters = accepted
      .map(({ spec }) => clusterOf(spec, name))
      .filter((cluster) => isKnown(referredBy(cluster)));
    const engine = engines.find((candidate) => candidate.kind === kind);
    const built = clusters.flatMap((cluster) => {
      const about = referredBy(cluster);
      const aboutKind = kindCases.find((row) => row.name === about?.kind)?.kind;
      const referred =
        about === undefined || aboutKind === undefined ? undefined : valid(validateCluster(aboutKind, about));
      return engine?.resources(valid(validateCluster(kind, cluster)), referred).map(({ object }) => object) ?? [];
    });
    expect(built.length).toBeGreaterThan(20);
    const rendered = manifestsOf((chart) => {
      for (const [i, cluster] of clusters.entries()) {
        const referred = referredBy(cluster);
        new RenderedCluster(chart, `db-${i}`, { cluster, ...(referred === undefined ? {} : { referred }) });
      }
    });
    expect(rendered).toEqual(JSON.parse(JSON.stringify(built)));
  });

  test('lets the operator in where it runs', () => {
    const cluster = clusterOf({ networkPolicy: {} });
    const homes = (props: { readonly operatorNamespace?: string }) =>
      JSON.stringify(
        manifestsOf((chart) => void new RenderedCluster(chart, 'db', { cluster, ...props })).filter(
          ({ kind }) => kind === 'NetworkPolicy',
        ),
      );
    expect(homes({})).toContain('clusterwright-system');
    expect(homes({ operatorNamespace: 'platform' })).toContain('"platform"');
    expect(homes({ operatorNamespace: 'platform' })).not.toContain('clusterwright-system');
  });

  test('needs to know what a Backup is about', () => {
    const backup = clusterOf(
      { cluster: { kind: 'RedisCluster', name: 'db' }, target: { claim: { name: 'a' } } },
      'Backup',
    );
    expect(() => manifestsOf((chart) => void new RenderedCluster(chart, 'b', { cluster: backup }))).toThrow(
      'chart/b: a Backup is rendered with `referred`, the cluster that it is about',
    );
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
