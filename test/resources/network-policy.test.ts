/** Who may connect to the pods of a cluster, of every kind. */
import { describe, expect, it } from 'vitest';
import type { networkPolicySchema } from '../../src/api/network-policy.ts';
import type { Written } from '../../src/api/schema.ts';
import { engines } from '../../src/engines/index.ts';
import { handlersOf } from '../../src/jobs/handlers.ts';
import type { Installation } from '../../src/jobs/installation.ts';
import { resourceOf } from '../support/backup-story.ts';

interface Rule {
  readonly from: readonly object[];
  readonly ports?: readonly { readonly port: number }[];
}
interface Spec {
  readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly policyTypes: readonly string[];
  readonly ingress: readonly Rule[];
}

type Wanted = Written<typeof networkPolicySchema>;

function policiesOf(kind: string, spec: object, installation: Installation = {}): readonly Spec[] {
  const handler = handlersOf(engines, undefined, installation).find((each) => each.kind.resource.kind === kind);
  const objects = handler?.resources(resourceOf(kind, 'db', spec)) ?? [];
  return objects.flatMap(({ object }) => (object.kind === 'NetworkPolicy' ? [object.spec as Spec] : []));
}

/** Who connects to which ports, beside the cluster itself. */
function doors(
  kind: string,
  networkPolicy: Wanted,
  more: object = {},
): readonly (readonly [object, readonly number[]])[] {
  const [policy] = policiesOf(kind, { networkPolicy, ...more });
  const [, ...rules] = policy?.ingress ?? [];
  return rules.flatMap(({ from, ports = [] }) =>
    from.map((peer): readonly [object, readonly number[]] => [peer, ports.map(({ port }) => port)]),
  );
}

const here = { podSelector: {} };
const everywhere = { namespaceSelector: {} };
const shop = { namespaceSelector: { matchLabels: { team: 'shop' } }, podSelector: { matchLabels: { app: 'web' } } };
const oneOf = { key: 'tier', operator: 'In', values: ['web', 'jobs'] } as const;
const office = { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } };

describe('a cluster that asks for no NetworkPolicy', () => {
  it.each(['RedisCluster', 'EtcdCluster', 'PostgresCluster'])('has none: %s', (kind) => {
    expect(policiesOf(kind, {})).toEqual([]);
  });
});

describe('a NetworkPolicy', () => {
  it.each<readonly [kind: string, spec: object, doors: unknown]>([
    [
      'RedisCluster',
      {},
      [
        [here, [6379, 26379]],
        [everywhere, [9121]],
      ],
    ],
    [
      'RedisCluster',
      { mode: 'Standalone', replicas: 1 },
      [
        [here, [6379]],
        [everywhere, [9121]],
      ],
    ],
    [
      'EtcdCluster',
      {},
      [
        [here, [2379]],
        [everywhere, [2381]],
      ],
    ],
    [
      'PostgresCluster',
      {},
      [
        [here, [5432, 6432]],
        [everywhere, [9187]],
      ],
    ],
  ])('of a %s with %j opens the ports for clients and for metrics, and no others', (kind, spec, expected) => {
    expect(doors(kind, {}, spec)).toEqual(expected);
  });

  it.each<readonly [wanted: Wanted, doors: unknown]>([
    [
      { clients: [shop, office] },
      [
        [shop, [2379]],
        [office, [2379]],
        [everywhere, [2381]],
      ],
    ],
    [
      { metrics: [shop] },
      [
        [here, [2379]],
        [shop, [2381]],
      ],
    ],
    // A rule with an empty list of peers would let everybody in.
    [{ clients: [] }, [[everywhere, [2381]]]],
    [{ clients: [], metrics: [] }, []],
    [{ clients: [{ all: 'AllNamespaces' }], metrics: [] }, [[everywhere, [2379]]]],
    [{ clients: [{ all: 'Namespace' }], metrics: [] }, [[here, [2379]]]],
    [
      {
        clients: [
          { podSelector: { matchExpressions: [oneOf, { key: 'debug', operator: 'DoesNotExist', values: [] }] } },
        ],
        metrics: [],
      },
      [[{ podSelector: { matchExpressions: [oneOf, { key: 'debug', operator: 'DoesNotExist' }] } }, [2379]]],
    ],
    [
      { clients: [{ namespaceSelector: { matchLabels: { team: 'shop' }, matchExpressions: [oneOf] } }], metrics: [] },
      [[{ namespaceSelector: { matchLabels: { team: 'shop' }, matchExpressions: [oneOf] } }, [2379]]],
    ],
  ])('of %j lets in whom it names', (wanted, expected) => {
    expect(doors('EtcdCluster', wanted)).toEqual(expected);
  });

  it.each(['RedisCluster', 'EtcdCluster', 'PostgresCluster'])(
    'selects all pods of a %s, and limits who connects',
    (kind) => {
      const [{ podSelector, policyTypes } = { podSelector: { matchLabels: {} } }] = policiesOf(kind, {
        networkPolicy: {},
      });
      const handler = handlersOf(engines).find((each) => each.kind.resource.kind === kind);
      const sets = (handler?.resources(resourceOf(kind, 'db', { networkPolicy: {} })) ?? []).filter(
        ({ object }) => object.kind === 'StatefulSet',
      );
      const labels = sets.map(({ object }) => (object.spec as { template: { metadata: { labels: object } } }).template);
      expect(labels.length).toBeGreaterThan(0);
      for (const { metadata } of labels) expect(metadata.labels).toMatchObject(podSelector.matchLabels);
      expect(policyTypes).toEqual(['Ingress']);
    },
  );

  it.each<readonly [installation: Installation, namespace: string]>([
    [{}, 'clusterwright-system'],
    [{ operatorNamespace: 'platform' }, 'platform'],
    [{ operatorNamespace: 'platform', imageRegistry: 'registry.example' }, 'platform'],
  ])(
    'of an operator installed with %j lets in its own pods, its Jobs, and the operator, to every port',
    (facts, home) => {
      const [policy] = policiesOf('RedisCluster', { networkPolicy: { clients: [], metrics: [] } }, facts);
      const managed = { 'app.kubernetes.io/managed-by': 'clusterwright' };
      expect(policy?.ingress).toEqual([
        {
          from: [
            {
              podSelector: {
                matchLabels: { ...managed, 'app.kubernetes.io/name': 'redis', 'app.kubernetes.io/instance': 'db' },
              },
            },
            { podSelector: { matchLabels: { ...managed, 'app.kubernetes.io/component': 'agent' } } },
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': home } },
              podSelector: {
                matchLabels: {
                  'app.kubernetes.io/name': 'clusterwright',
                  'app.kubernetes.io/component': 'operator',
                  'app.kubernetes.io/part-of': 'clusterwright',
                },
              },
            },
          ],
        },
      ]);
    },
  );
});
