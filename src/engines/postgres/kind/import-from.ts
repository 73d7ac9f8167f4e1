/** `bootstrap`: what a new cluster begins with. Beside a backup, a PostgreSQL that runs elsewhere. */
import { bootstrapSchema as sharedSchema } from '../../../api/bootstrap.ts';
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';
import { secretRefSchema } from '../../../api/secret-ref.ts';
import { untilSchema } from './until.ts';

const { key: _, ...secretName } = secretRefSchema.properties;

const importFromSchema = {
  type: 'object',
  description:
    'Start with a copy of a PostgreSQL that runs elsewhere. The first member copies all of its data, and follows it until a person sets the annotation clusterwright.dev/cut-over. The other members join after that.',
  required: ['host', 'user', 'password', 'tls'],
  properties: {
    host: {
      type: 'string',
      description: 'Host name or address of the primary.',
      pattern: '^[A-Za-z0-9]([-A-Za-z0-9._:]*[A-Za-z0-9])?$',
      maxLength: 253,
    },
    port: { type: 'integer', description: 'Port of the primary.', minimum: 1, maximum: 65_535, default: 5432 },
    user: {
      type: 'string',
      description: 'Role with the attribute REPLICATION. pg_hba.conf must let it in for replication.',
      pattern: '^[^\\x00-\\x1f]+$',
      maxLength: 63,
    },
    password: { ...secretRefSchema, description: 'Its password.' },
    tls: {
      type: 'object',
      description: 'How the connection is secured.',
      properties: {
        mode: {
          type: 'string',
          description:
            'As sslmode of libpq. verify-full checks the certificate and the host name of the source, verify-ca the certificate. With require, anybody on the way can read and change all data; disable does not encrypt.',
          enum: ['verify-full', 'verify-ca', 'require', 'disable'],
          default: 'verify-full',
        },
        ca: {
          type: 'object',
          description: 'Secret with the CA of the source.',
          required: ['name'],
          properties: {
            ...secretName,
            key: {
              ...secretRefSchema.properties.key,
              description: 'Key in the Secret that holds the CA, as PEM.',
              default: 'ca.crt',
            },
          },
        },
      },
      'x-kubernetes-validations': [
        {
          rule: "!(self.mode in ['verify-full', 'verify-ca']) || has(self.ca)",
          message: 'tls.ca is required to verify the certificate of the source',
          fieldPath: '.ca',
        },
      ],
    },
  },
} as const satisfies StructuralSchema;

const shared = sharedSchema({ until: untilSchema });

export const postgresBootstrapSchema = {
  type: 'object',
  description: shared.description,
  properties: { restore: shared.properties.restore, importFrom: importFromSchema },
} as const satisfies StructuralSchema;

/** On `spec`, as those that all kinds share. */
export const postgresBootstrapRules = [
  {
    rule: '!has(self.bootstrap) || has(self.bootstrap.restore) != has(self.bootstrap.importFrom)',
    message: 'bootstrap needs exactly one of restore and importFrom',
    fieldPath: '.bootstrap',
  },
] as const satisfies readonly CelRule[];
