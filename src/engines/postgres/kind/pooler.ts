/** `spec.pooler`: PgBouncer in front of the primary. */
import { sourceProperties } from '../../../api/certificate-source.ts';
import { computeRules, computeSchema } from '../../../api/compute.ts';
import { imageSchema } from '../../../api/image.ts';
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';
import { poolerImage } from './released-image.ts';

/** Least memory limit that PgBouncer starts with. */
const poolerMemory = '32Mi';

const day = 86_400;

const number = (description: string, maximum: number, minimum = 0) =>
  ({ type: 'integer', description, minimum, maximum }) as const satisfies StructuralSchema;

/** Names as in pgbouncer.ini. What names files, addresses or users, or decides who is let in, is left out on purpose. */
const poolerParameters = {
  cancel_wait_timeout: number('Seconds that a cancellation waits for a server connection.', 3600),
  client_idle_timeout: number('Seconds after which an idle client is disconnected. 0: never.', day),
  idle_transaction_timeout: number(
    'Seconds after which a client that is idle in a transaction is disconnected. 0: never.',
    day,
  ),
  log_connections: number('1 logs every connection of a client.', 1),
  log_disconnections: number('1 logs every disconnection of a client.', 1),
  max_db_connections: number('Server connections of each pooler pod to one database. 0: no limit.', 10_000),
  max_prepared_statements: number(
    'Prepared statements that are kept on each server connection. 0 switches their support off.',
    10_000,
  ),
  max_user_connections: number('Server connections of each pooler pod for one user. 0: no limit.', 10_000),
  min_pool_size: number('Server connections that a used pool keeps open.', 1000),
  query_timeout: number('Seconds after which a query is cancelled. 0: never.', day),
  query_wait_timeout: number('Seconds that a query waits for a server connection, also during a switchover.', 3600, 30),
  reserve_pool_size: number('Additional server connections of a pool whose clients wait too long.', 1000),
  reserve_pool_timeout: number('Seconds after which a waiting client may use the reserve.', 3600),
  server_idle_timeout: number('Seconds after which an idle server connection is closed.', day, 1),
  server_lifetime: number('Seconds after which a server connection is closed.', day, 1),
  server_round_robin: number('1 uses server connections in turn, 0 the one that was used last.', 1),
} as const;

const { secretRef } = sourceProperties(
  'Secret with the certificate that PgBouncer shows to clients. It must be valid for server authentication, and for the name NAME-pooler.NAMESPACE.svc or that of serverName. ca.crt is the CA that has signed it. Pods show another certificate of this Secret without a restart.',
);

const poolerTlsSchema = {
  type: 'object',
  description:
    'Certificate of your own for clients of the pooler. When absent, PgBouncer shows one that the operator has issued.',
  required: ['secretRef'],
  properties: {
    secretRef,
    serverName: {
      type: 'string',
      description:
        'Server name that the operator expects in the certificate, if it was issued for other names. When absent, NAME-pooler.NAMESPACE.svc.',
      pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
      maxLength: 253,
    },
  },
} as const satisfies StructuralSchema;

export const poolerSchema = {
  type: 'object',
  description:
    'PgBouncer in pods of its own, in front of the primary, with the Service NAME-pooler. In mode transaction, clients wait during a planned switchover. When absent, there is no pooler.',
  properties: {
    instances: { type: 'integer', description: 'Number of pooler pods.', minimum: 1, maximum: 10, default: 2 },
    mode: {
      type: 'string',
      description:
        'When a server connection serves the next client: after each transaction, or when the client disconnects.',
      enum: ['transaction', 'session'],
      default: 'transaction',
    },
    image: imageSchema(poolerImage),
    maxClients: {
      type: 'integer',
      description: 'Clients that each pooler pod accepts.',
      minimum: 10,
      maximum: 20_000,
      default: 1000,
    },
    poolSize: {
      type: 'integer',
      description: 'Server connections of each pooler pod for one database and one user.',
      minimum: 1,
      maximum: 1000,
      default: 20,
    },
    resources: computeSchema('a pooler pod', { cpu: '50m', memory: '128Mi' }, poolerMemory),
    tls: poolerTlsSchema,
    parameters: {
      type: 'object',
      description: 'Settings of pgbouncer.ini. They are reloaded without a restart.',
      default: {},
      properties: poolerParameters,
    },
  },
} as const satisfies StructuralSchema;

/** For `spec`: each only where there is a pooler. */
export const poolerRules: readonly CelRule[] = computeRules('pooler.resources', poolerMemory).map(
  ({ rule, ...rest }) => ({ ...rest, rule: `!has(self.pooler) || (${rule})` }),
);
