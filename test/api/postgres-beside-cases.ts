/** What stands beside the members: the pooler, the exporters and the Services for clients outside. */
import type { Case, Json } from './case.ts';
import { networkPolicyCases } from './network-policy-cases.ts';
import { serviceCases } from './pod-cases.ts';
import { processCases } from './process-cases.ts';

const pooler = (fields: Json): Json => ({ pooler: fields });
const monitoring = (fields: Json): Json => ({ monitoring: fields });
const refusal = (spec: Json, refused: string): Case => ({ story: JSON.stringify(spec).slice(0, 90), spec, refused });
const accepted = (spec: Json): Case => ({ story: JSON.stringify(spec).slice(0, 90), spec });

const processes: readonly Case[] = [...processCases('pooler'), ...processCases('monitoring')];

const parameters: readonly (readonly [name: string, least: number, most: number])[] = [
  ['cancel_wait_timeout', 0, 3600],
  ['client_idle_timeout', 0, 86_400],
  ['idle_transaction_timeout', 0, 86_400],
  ['log_connections', 0, 1],
  ['log_disconnections', 0, 1],
  ['max_db_connections', 0, 10_000],
  ['max_prepared_statements', 0, 10_000],
  ['max_user_connections', 0, 10_000],
  ['min_pool_size', 0, 1000],
  ['query_timeout', 0, 86_400],
  ['query_wait_timeout', 30, 3600],
  ['reserve_pool_size', 0, 1000],
  ['reserve_pool_timeout', 0, 3600],
  ['server_idle_timeout', 1, 86_400],
  ['server_lifetime', 1, 86_400],
  ['server_round_robin', 0, 1],
];

const poolers: readonly Case[] = [
  accepted(pooler({})),
  accepted(pooler({ mode: 'session', instances: 10, maxClients: 20_000, poolSize: 1000 })),
  accepted(pooler({ instances: 1, maxClients: 10, poolSize: 1 })),
  accepted(pooler({ tls: { secretRef: { name: 'shop.tls' }, serverName: 'db.example.com' } })),
  accepted(pooler({ tls: { secretRef: { name: 'a'.repeat(253) }, serverName: 'a'.repeat(253) } })),
  refusal(pooler({ tls: {} }), 'spec.pooler.tls.secretRef'),
  refusal(pooler({ tls: { secretRef: {} } }), 'spec.pooler.tls.secretRef.name'),
  ...['', 'Shop', 'a'.repeat(254), 'a b'].flatMap((name) => [
    refusal(pooler({ tls: { secretRef: { name } } }), 'spec.pooler.tls.secretRef.name'),
    refusal(pooler({ tls: { secretRef: { name: 'a' }, serverName: name } }), 'spec.pooler.tls.serverName'),
  ]),
  refusal(pooler({ tls: { certManager: { issuerRef: { name: 'a' } } } }), 'spec.pooler.tls.certManager'),
  refusal(pooler({ mode: 'statement' }), 'spec.pooler.mode'),
  ...[0, 11].map((instances) => refusal(pooler({ instances }), 'spec.pooler.instances')),
  ...[9, 20_001].map((maxClients) => refusal(pooler({ maxClients }), 'spec.pooler.maxClients')),
  ...[0, 1001].map((poolSize) => refusal(pooler({ poolSize }), 'spec.pooler.poolSize')),
  ...parameters.flatMap(([name, least, most]) => [
    ...[least, most].map((value) => accepted(pooler({ parameters: { [name]: value } }))),
    ...[least - 1, most + 1].map((value) =>
      refusal(pooler({ parameters: { [name]: value } }), `spec.pooler.parameters.${name}`),
    ),
  ]),
  ...[
    'auth_type',
    'auth_query',
    'admin_users',
    'listen_addr',
    'client_tls_sslmode',
    'logfile',
    'ignore_startup_parameters',
  ].map((name) => refusal(pooler({ parameters: { [name]: 'x' } }), `spec.pooler.parameters.${name}`)),
];

const without = (fields: Json, name: string): Json =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => field !== name));
const column: Json = { column: 'total', type: 'Gauge' };
const query = (fields: Json): Json => ({ name: 'tables', sql: 'select 1 as total', metrics: [column], ...fields });
const queries = (...all: readonly Json[]): Json => monitoring({ queries: all });
const many = (count: number, one: (i: number) => Json): Json[] => Array.from({ length: count }, (_, i) => one(i));

const monitored: readonly Case[] = [
  accepted(monitoring({})),
  accepted(queries(query({ metrics: [column, { column: 'kind', type: 'Label', description: 'Which.' }] }))),
  accepted(queries(...many(20, (i) => query({ name: `q${i}` })))),
  refusal(queries(...many(21, (i) => query({ name: `q${i}` }))), 'spec.monitoring.queries'),
  ...['Tables', '1a', 'a-b', 'a'.repeat(64)].map((name) =>
    refusal(queries(query({ name })), 'spec.monitoring.queries[0].name'),
  ),
  ...['', 'select 1; select 2', 'x'.repeat(4097)].map((sql) =>
    refusal(queries(query({ sql })), 'spec.monitoring.queries[0].sql'),
  ),
  ...['name', 'sql', 'metrics'].map((field) =>
    refusal(queries(without(query({}), field)), `spec.monitoring.queries[0].${field}`),
  ),
  refusal(queries(query({ metrics: [] })), 'spec.monitoring.queries[0].metrics'),
  refusal(
    queries(query({ metrics: many(21, (i) => ({ ...column, column: `c${i}` })) })),
    'spec.monitoring.queries[0].metrics',
  ),
  ...['Total', 'a'.repeat(64)].map((name) =>
    refusal(queries(query({ metrics: [{ ...column, column: name }] })), 'spec.monitoring.queries[0].metrics[0].column'),
  ),
  refusal(
    queries(query({ metrics: [{ ...column, type: 'Histogram' }] })),
    'spec.monitoring.queries[0].metrics[0].type',
  ),
  ...['column', 'type'].map((field) =>
    refusal(queries(query({ metrics: [without(column, field)] })), `spec.monitoring.queries[0].metrics[0].${field}`),
  ),
  refusal(
    queries(query({ metrics: [{ ...column, description: 'x'.repeat(201) }] })),
    'spec.monitoring.queries[0].metrics[0].description',
  ),
];

const access = (fields: Json): Json => ({ access: fields, pooler: {} });
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `db${i}.example.com`);

const accessed: readonly Case[] = [
  // Its members have an account of their own.
  refusal({ pods: { serviceAccountName: 'admin' } }, 'spec.pods.serviceAccountName'),
  ...['primary', 'replicas', 'pooler'].flatMap((service) => serviceCases(service, { pooler: {} })),
  ...networkPolicyCases,
  refusal({ access: { pooler: { type: 'NodePort' } } }, 'spec.access'),
  accepted(access({ names: names(16) })),
  refusal(access({ names: names(17) }), 'spec.access.names'),
  refusal(access({ names: ['DB.example.com'] }), 'spec.access.names[0]'),
  refusal(access({ names: [`${'a.'.repeat(127)}a`] }), 'spec.access.names[0]'),
];

const server = (fields: Json): Json => ({ tls: { server: fields } });
const change = (old: Json, spec: Json, refused?: string): Case => ({
  story: `${JSON.stringify(old)} becomes ${JSON.stringify(spec)}`,
  old,
  spec,
  ...(refused === undefined ? {} : { refused }),
});
const [brought, own] = [server({ secretRef: { name: 'shop.tls' } }), server({ selfManaged: {} })];

/** Whose certificate members show. */
const shown: readonly Case[] = [
  accepted(brought),
  accepted(own),
  accepted(server({ secretRef: { name: 'a'.repeat(253) } })),
  refusal({ tls: {} }, 'spec.tls.server'),
  refusal(server({}), 'spec.tls.server'),
  refusal(server({ secretRef: { name: 'a' }, selfManaged: {} }), 'spec.tls.server'),
  refusal(server({ secretRef: {} }), 'spec.tls.server.secretRef.name'),
  ...['', 'Shop', 'a'.repeat(254), 'kube-system/admin'].map((name) =>
    refusal(server({ secretRef: { name } }), 'spec.tls.server.secretRef.name'),
  ),
  refusal(server({ certManager: { issuerRef: { name: 'a' } } }), 'spec.tls.server.certManager'),
  refusal(server({ selfManaged: { duration: '1h' } }), 'spec.tls.server.selfManaged.duration'),
  change({}, brought),
  change(brought, own),
  change(own, brought),
  change(brought, server({ secretRef: { name: 'b' } })),
  change(brought, {}, 'spec.tls'),
  change(own, {}, 'spec.tls'),
];

export const postgresBesideCases: readonly Case[] = [...processes, ...poolers, ...monitored, ...accessed, ...shown];
