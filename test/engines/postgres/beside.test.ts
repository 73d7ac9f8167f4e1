import { describe, expect, it } from 'vitest';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { authorityWanted } from '../../../src/engines/postgres/resources/certificates.ts';
import { objectNamed, postgresObjects } from '../../support/postgres-objects.ts';
import { postgresCluster } from '../../support/postgres-situation.ts';
import { planned } from '../../support/postgres-words.ts';

const named = (spec: PostgresSpecInput): string[] =>
  postgresObjects(spec).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
const added = (spec: PostgresSpecInput): string[] => named(spec).filter((name) => !named({}).includes(name));

describe('what stands beside the members', () => {
  it('changes nothing of the members, and needs no restart', () => {
    const spec: PostgresSpecInput = { pooler: {}, monitoring: {}, access: { primary: { type: 'NodePort' } } };
    const members = (of: PostgresSpecInput) =>
      postgresObjects(of).filter(({ kind, metadata }) => kind === 'StatefulSet' && /^db-\d$/.test(metadata.name));
    expect(members(spec)).toEqual(members({}));
    expect(members(spec)).toHaveLength(3);
  });

  it('is not there where nobody asks for it', () => {
    expect(named({}).filter((name) => /pooler|exporter|external/.test(name))).toEqual([]);
  });

  it('stops with a cluster that is parked', () => {
    const sizes = postgresObjects({ instances: 0, pooler: {}, monitoring: {} })
      .filter(({ kind }) => kind === 'StatefulSet')
      .map(({ metadata, spec }) => [metadata.name, (spec as { readonly replicas: number }).replicas]);
    expect(sizes).toEqual([['db-pooler', 0]]);
  });
});

describe('exporters', () => {
  const queries: NonNullable<PostgresSpecInput['monitoring']>['queries'] = [
    {
      name: 'tables',
      sql: 'select kind, total from t -- all',
      metrics: [
        { column: 'kind', type: 'Label' },
        { column: 'total', type: 'Counter', description: 'All of them.' },
      ],
    },
  ];

  it('are there for each member', () => {
    expect(added({ monitoring: {} })).toEqual([
      'Secret db-exporter-login',
      'ConfigMap db-exporter',
      'Service db-exporter',
      'StatefulSet db-exporter-0',
      'StatefulSet db-exporter-1',
      'StatefulSet db-exporter-2',
    ]);
  });

  it('run queries that end, whatever stands in them', () => {
    const { data } = objectNamed('ConfigMap', 'db-exporter', { monitoring: { queries } });
    expect(JSON.parse(data['queries.yaml'] ?? '')).toEqual({
      tables: {
        query: 'SELECT * FROM (select kind, total from t -- all\n) AS query LIMIT 1000',
        metrics: [
          { kind: { usage: 'LABEL', description: '' } },
          { total: { usage: 'COUNTER', description: 'All of them.' } },
        ],
      },
    });
  });

  it('restart for other queries, and members do not', () => {
    const plan = planned({ spec: { monitoring: { queries } }, before: { monitoring: {} } });
    expect(plan.filter((line) => line.startsWith('apply')).map((line) => line.split(':')[0])).toEqual([
      'apply ConfigMap db-exporter',
      'apply StatefulSet db-exporter-0',
      'apply StatefulSet db-exporter-1',
      'apply StatefulSet db-exporter-2',
    ]);
  });

  it('go with their member', () => {
    expect(planned({ spec: { monitoring: {} }, numbers: [0, 1, 2, 3], rostered: [0, 1, 2] })).toContain(
      'delete StatefulSet db-3',
    );
  });
});

describe('access from outside', () => {
  const spec: PostgresSpecInput = {
    pooler: {},
    access: {
      primary: {
        type: 'LoadBalancer',
        annotations: { a: 'b' },
        sourceRanges: ['10.0.0.0/8'],
        loadBalancerClass: 'x/y',
      },
      replicas: { type: 'NodePort', nodePort: 30_432 },
      pooler: { type: 'LoadBalancer' },
      names: ['db.example.com'],
    },
  };

  it('has Services of its own', () => {
    const services = ['primary', 'replicas', 'pooler'].map((role) => {
      const { metadata, spec: service } = objectNamed('Service', `db-${role}-external`, spec);
      return { annotations: metadata.annotations, ...(service as object) };
    });
    expect(services).toMatchInlineSnapshot(`
      [
        {
          "annotations": {
            "a": "b",
          },
          "loadBalancerClass": "x/y",
          "loadBalancerSourceRanges": [
            "10.0.0.0/8",
          ],
          "ports": [
            {
              "name": "postgres",
              "port": 5432,
              "protocol": "TCP",
              "targetPort": "postgres",
            },
          ],
          "publishNotReadyAddresses": true,
          "selector": {
            "app.kubernetes.io/component": "member",
            "app.kubernetes.io/instance": "db",
            "app.kubernetes.io/managed-by": "clusterwright",
            "app.kubernetes.io/name": "postgres",
            "clusterwright.dev/role": "primary",
          },
          "type": "LoadBalancer",
        },
        {
          "annotations": undefined,
          "ports": [
            {
              "name": "postgres",
              "nodePort": 30432,
              "port": 5432,
              "protocol": "TCP",
              "targetPort": "postgres",
            },
          ],
          "selector": {
            "app.kubernetes.io/component": "member",
            "app.kubernetes.io/instance": "db",
            "app.kubernetes.io/managed-by": "clusterwright",
            "app.kubernetes.io/name": "postgres",
            "clusterwright.dev/role": "replica",
          },
          "type": "NodePort",
        },
        {
          "annotations": undefined,
          "ports": [
            {
              "name": "postgres",
              "port": 5432,
              "protocol": "TCP",
              "targetPort": "postgres",
            },
          ],
          "selector": {
            "app.kubernetes.io/component": "pooler",
            "app.kubernetes.io/instance": "db",
            "app.kubernetes.io/managed-by": "clusterwright",
            "app.kubernetes.io/name": "postgres",
          },
          "type": "LoadBalancer",
        },
      ]
    `);
  });

  it('leaves those inside as they are', () => {
    const inside = (of: PostgresSpecInput) => objectNamed('Service', 'db-primary', of);
    expect(inside(spec)).toEqual(inside({}));
  });

  it('has its names in the certificates of servers alone', () => {
    const { leaves } = authorityWanted(postgresCluster(spec), 'sql');
    const secrets = leaves.filter(({ names }) => names.includes('db.example.com')).map(({ secret }) => secret);
    expect(secrets).toEqual(['db-server-tls', 'db-pooler-tls']);
  });
});
