import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import { selectorLabels } from '../../../src/resources/metadata.ts';
import { restrictedBreaches } from '../../../src/testing/pod-security.ts';
import { redisCluster } from '../../support/redis-situation.ts';
import { redisClusters } from '../../support/redis-specs.ts';

type Fields = Readonly<Record<string, unknown>>;

const objects = (cluster: ReturnType<typeof redisCluster>): KubeObject[] =>
  redisResources(cluster).map(({ object }) => object);

function listed(spec: RedisSpecInput): string[] {
  return redisResources(redisCluster(spec)).map(
    ({ object, generate }) =>
      `${object.kind} ${object.metadata.name}${generate === undefined ? '' : `, generated: ${generate[0]?.key}`}`,
  );
}

/** Every value under a key of that name, wherever it is nested. */
function valuesUnder(value: unknown, key: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesUnder(item, key));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => [
    ...(name === key ? [child] : []),
    ...valuesUnder(child, key),
  ]);
}

const podSpecs = (all: readonly KubeObject[]): Fields[] =>
  all.flatMap((object) => {
    const template = (object.spec as { template?: { spec: Fields } } | undefined)?.template;
    return template === undefined ? [] : [template.spec];
  });

const property = (check: (cluster: ReturnType<typeof redisCluster>) => void): void =>
  fc.assert(fc.property(redisClusters, check), { numRuns: 30 });

describe('the children of a cluster', () => {
  it('with Sentinel', () => {
    expect(listed({})).toMatchInlineSnapshot(`
      [
        "Secret db-auth, generated: password",
        "Secret db-internal, generated: password",
        "ConfigMap db-config",
        "Service db",
        "Service db-primary",
        "PodDisruptionBudget db",
        "StatefulSet db",
        "Service db-replicas",
        "Service db-sentinel",
        "PodDisruptionBudget db-sentinel",
        "StatefulSet db-sentinel",
      ]
    `);
  });

  it('alone, with a Secret of the user', () => {
    expect(listed({ mode: 'Standalone', replicas: 1, auth: { secretRef: { name: 'mine' } } })).toMatchInlineSnapshot(`
      [
        "Secret db-internal, generated: password",
        "ConfigMap db-config",
        "Service db",
        "Service db-primary",
        "PodDisruptionBudget db",
        "StatefulSet db",
      ]
    `);
  });

  it('are the same each time they are built', () => {
    property((cluster) => {
      expect(JSON.stringify(redisResources(cluster))).toBe(JSON.stringify(redisResources(structuredClone(cluster))));
    });
  });

  it('do not depend on the order in which a spec is written', () => {
    const config = { timeout: 5, hz: 20, databases: 32 };
    const reversed = Object.fromEntries(Object.entries(config).reverse());
    expect(objects(redisCluster({ config: reversed }))).toEqual(objects(redisCluster({ config })));
  });

  it('have pods that the restricted Pod Security Standard lets in', () => {
    property((cluster) => {
      const pods = podSpecs(objects(cluster));
      expect(pods.length).toBe(cluster.spec.mode === 'Sentinel' ? 2 : 1);
      expect(pods.flatMap(restrictedBreaches)).toEqual([]);
    });
  });

  it('have containers that cannot write to their image and carry no account of the API', () => {
    for (const pod of podSpecs(objects(redisCluster()))) {
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(valuesUnder(pod, 'readOnlyRootFilesystem')).toEqual([true]);
    }
  });

  it('are selected by fixed labels and the role alone', () => {
    property((cluster) => {
      const fixed = ['data', 'sentinel'].map((component) => selectorLabels(cluster, { engine: 'redis', component }));
      const roles = ['primary', 'replica'].map((role) => ({ ...fixed[0], 'clusterwright.dev/role': role }));
      const own = objects(cluster).map(({ spec, kind }) =>
        kind === 'StatefulSet' ? { ...(spec as Fields), template: withoutAffinity(spec as Fields) } : spec,
      );
      const selectors = [...valuesUnder(own, 'matchLabels'), ...valuesUnder(own, 'selector').filter(isPlainSelector)];
      expect(selectors.length).toBeGreaterThan(4);
      for (const selector of selectors) expect([...fixed, ...roles]).toContainEqual(selector);
    });
  });

  it('run the same commands with the same environment but for one number, whatever the spec says', () => {
    const started = (all: readonly KubeObject[]): unknown =>
      podSpecs(all).map((pod) => ['command', 'args', 'env'].map((key) => valuesUnder(pod.containers, key)));
    const standard = JSON.stringify(started(objects(redisCluster())));
    const alone = JSON.stringify(started(objects(redisCluster({ mode: 'Standalone', replicas: 1 }))));
    const number = /(?<="DATABASES","value":)"\d{1,4}"/;
    expect(alone).toMatch(number);
    property((cluster) => {
      const own = JSON.stringify(started(objects(cluster))).replace(number, '"16"');
      expect(own).toBe(cluster.spec.mode === 'Sentinel' ? standard : alone);
    });
  });

  it('have a redis.conf in which every line is one directive and one quoted value', () => {
    property((cluster) => {
      const conf = objects(cluster).find(({ kind }) => kind === 'ConfigMap')?.data as { readonly 'redis.conf': string };
      for (const line of conf['redis.conf'].trimEnd().split('\n')) {
        expect(line).toMatch(
          /^(bind \* -::\*|client-output-buffer-limit replica \d+ \d+ 60|[a-z-]+ ([A-Za-z0-9._/-]+|"([^"\\]|\\["\\])*"))$/,
        );
      }
    });
  });

  it('have names that fit, also with what Kubernetes appends', () => {
    const longest = redisCluster({ replicas: 9 }, { name: `a${'b'.repeat(39)}` });
    const revision = '-5d8f7c9b6d';
    for (const { kind, metadata } of objects(longest)) {
      const derived = kind === 'StatefulSet' ? `${metadata.name}${revision}` : metadata.name;
      expect(derived.length).toBeLessThanOrEqual(63);
    }
  });

  it('G9: no voting group loses two members to evictions', () => {
    const budgets = objects(redisCluster()).filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budgets.map(({ spec }) => (spec as Fields).maxUnavailable)).toEqual([1, 1]);
  });

  it('go with their cluster, but for what holds data or credentials', () => {
    const kept = objects(redisCluster()).filter(({ metadata }) => metadata.ownerReferences === undefined);
    expect(kept.map(({ kind }) => kind)).toEqual(['Secret', 'Secret']);
    const sets = objects(redisCluster()).filter(({ kind }) => kind === 'StatefulSet');
    expect(valuesUnder(sets, 'persistentVolumeClaimRetentionPolicy')).toEqual([
      { whenDeleted: 'Retain', whenScaled: 'Retain' },
    ]);
    expect(valuesUnder(valuesUnder(sets, 'volumeClaimTemplates'), 'ownerReferences')).toEqual([]);
  });

  it('of a cluster without a UID, as in a manifest, name no owner', () => {
    const { uid: _, ...metadata } = redisCluster().metadata;
    expect(valuesUnder(objects({ ...redisCluster(), metadata }), 'ownerReferences')).toEqual([]);
  });

  it('that keep nothing have no claims, and a bounded volume', () => {
    const [data] = podSpecs(objects(redisCluster({ storage: { ephemeral: true, size: '2048Mi' } })));
    expect(valuesUnder(data?.volumes, 'emptyDir')).toContainEqual({ sizeLimit: '2Gi' });
    expect(valuesUnder(objects(redisCluster({ storage: { ephemeral: true } })), 'volumeClaimTemplates')).toEqual([]);
  });
});

/** A Service's selector is a map of labels; others hold `matchLabels`. */
function isPlainSelector(selector: unknown): boolean {
  return !Object.hasOwn(selector as object, 'matchLabels');
}

/** The affinity of a pod is the user's own. */
function withoutAffinity(spec: Fields): unknown {
  const { spec: pod, ...rest } = spec.template as { readonly spec: Fields };
  const { affinity: _, ...others } = pod;
  return { ...rest, spec: others };
}
