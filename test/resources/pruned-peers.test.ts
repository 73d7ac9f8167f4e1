/**
 * The API server drops fields that a CRD does not know, of clients that do not ask for a refusal, such as Helm. So a restricted entry of
 * `networkPolicy` must not become one that means everybody. Objects of earlier versions hold defaults that the schema refuses now.
 */
import { describe, expect, it } from 'vitest';
import type { KindDefinition } from '../../src/api/kind.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { etcd } from '../../src/engines/etcd/index.ts';
import { etcdKind } from '../../src/engines/etcd/kind/schema.ts';
import { postgres } from '../../src/engines/postgres/index.ts';
import { postgresKind } from '../../src/engines/postgres/kind/schema.ts';
import { redis } from '../../src/engines/redis/index.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import type { Desired } from '../../src/plan/objects.ts';

type Row = readonly [
  kind: string,
  definition: KindDefinition,
  engine: { readonly resources: (cluster: never) => readonly Desired[] },
];
const kinds: readonly Row[] = [
  ['RedisCluster', redisKind, redis],
  ['EtcdCluster', etcdKind, etcd],
  ['PostgresCluster', postgresKind, postgres],
];

const stored = (kind: string, networkPolicy: object): object => ({
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind,
  metadata: { name: 'ledger', namespace: 'shop', uid: 'u' },
  spec: { networkPolicy },
});

/** Undefined where the object is not valid. */
function policyOf([kind, definition, engine]: Row, networkPolicy: object): KubeObject | undefined {
  const verdict = validateCluster(definition, stored(kind, networkPolicy), { unknown: 'prune' });
  if (!verdict.ok) return undefined;
  const policy = engine
    .resources(verdict.cluster as never)
    .find(({ object }) => object.kind === 'NetworkPolicy')?.object;
  if (policy === undefined) throw new Error('no NetworkPolicy');
  return policy;
}

describe.each(kinds)('%s', (...row) => {
  const team = { key: 'team', operator: 'In', values: ['shop'] };

  it('has matchExpressions in its NetworkPolicy', () => {
    const peer = { namespaceSelector: { matchExpressions: [team] } };
    const policy = policyOf(row, { clients: [peer], metrics: [peer] });
    expect(policy?.spec).toMatchObject({ ingress: [{}, { from: [peer] }, { from: [peer] }] });
  });

  it.each(['clients', 'metrics'])('an entry of %s of which nothing is left is refused', (list) => {
    const misspelt = { matchExpression: [team] };
    for (const peer of [
      { namespaceSelector: misspelt, podSelector: misspelt },
      { podSelector: misspelt, namespaceSelector: { matchLabels: { a: 'b' } } },
    ])
      expect(policyOf(row, { [list]: [peer] })).toBeUndefined();
  });

  // As a chart renders `team: {{ .Values.team }}` without a value. The API server drops the null, also under strict validation of fields.
  it.each(['clients', 'metrics'])('a label of %s without a value does not become a selector for everything', (list) => {
    // What a merge patch leaves of it, without the null.
    expect(policyOf(row, { [list]: [{ namespaceSelector: { matchLabels: {} } }] })).toBeUndefined();
    for (const matchLabels of [{ team: null }, { team: null, app: 'web' }]) {
      const networkPolicy = { [list]: [{ namespaceSelector: { matchLabels } }] };
      expect(policyOf(row, networkPolicy)).toBeUndefined();
      expect(validateCluster(row[1], stored(row[0], networkPolicy)).ok).toBe(false);
    }
  });

  it('the stored defaults of earlier versions mean those of now', () => {
    const earlier = { clients: [{ podSelector: {} }], metrics: [{ namespaceSelector: {} }] };
    expect(policyOf(row, earlier)).toEqual(policyOf(row, {}));
    expect(policyOf(row, earlier)?.spec).toMatchObject({
      ingress: [{}, { from: [{ podSelector: {} }] }, { from: [{ namespaceSelector: {} }] }],
    });
  });

  it('nobody writes them anew', () => {
    const verdict = validateCluster(row[1], stored(row[0], { clients: [{ podSelector: {} }] }));
    expect(verdict).toMatchObject({ ok: false, violations: [{ path: 'spec.networkPolicy.clients[0].podSelector' }] });
  });
});
