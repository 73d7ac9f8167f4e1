/** What a drain of a node may evict at any time, and what it has to wait for. */
import { expect, it } from 'vitest';
import { engineOf, resourceOf } from '../support/backup-story.ts';

interface Spec {
  readonly maxUnavailable: number;
  readonly unhealthyPodEvictionPolicy?: string;
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
}

it.each<readonly [kind: string, spec: object, budgets: object]>([
  ['RedisCluster', {}, { data: undefined, sentinel: undefined }],
  ['RedisCluster', { storage: { ephemeral: true } }, { data: undefined, sentinel: undefined }],
  ['RedisCluster', { proxy: {} }, { data: undefined, sentinel: undefined, proxy: 'AlwaysAllow' }],
  ['RedisCluster', { mode: 'Standalone', replicas: 1 }, { data: undefined }],
  ['EtcdCluster', {}, { member: undefined }],
  ['PostgresCluster', {}, { member: undefined }],
  ['PostgresCluster', { pooler: {}, monitoring: {} }, { member: undefined, pooler: 'AlwaysAllow' }],
])(
  'of a %s with %j, pods without data and without a vote alone are evicted whenever they are not ready',
  (kind, spec, budgets) => {
    const objects = engineOf(kind).resources(resourceOf(kind, 'db', spec));
    const found = objects.flatMap(({ object }) => (object.kind === 'PodDisruptionBudget' ? [object.spec as Spec] : []));
    expect(found.map(({ maxUnavailable }) => maxUnavailable)).toEqual(found.map(() => 1));
    const policies = found.map(({ selector, unhealthyPodEvictionPolicy }) => [
      selector.matchLabels['app.kubernetes.io/component'],
      unhealthyPodEvictionPolicy,
    ]);
    expect(Object.fromEntries(policies)).toEqual(budgets);
  },
);
