/** `bootstrap`: what a new cluster begins with. Beside a backup, a PostgreSQL that runs elsewhere. */
import { bootstrapSchema as sharedSchema } from '../../../api/bootstrap.ts';
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';
import { secretRefSchema } from '../../../api/secret-ref.ts';
import { untilSchema } from './until.ts';

const { key: _, ...secretName } = secretRefSchema.properties;

const logicalSchema = {
  type: 'object',
  description:
    'Copy one database with pg_dump, from the same or an earlier major version, instead of all files. It becomes the database `initial.database`, and everything in it belongs to `initial.owner`. Until the copy is whole, that database does not exist.',
  required: ['database'],
  properties: {
    database: {
      type: 'string',
      description: 'Name of the database at the source.',
      pattern: '^[^\\x00-\\x1f]+$',
      maxLength: 63,
    },
    acceptMissingChanges: {
      type: 'boolean',
      description:
        'Take the copy although rows were written at the source while it was made. These changes are not in the copy. When false, such a copy is refused.',
      default: false,
    },
  },
} as const satisfies StructuralSchema;

const importFromSchema = {
  type: 'object',
  description:
    'Start with a copy of a PostgreSQL that runs elsewhere. The first member copies all of its data, and follows it until a person sets the annotation clusterwright.dev/cut-over. The other members join after that. With `logical`, a Job copies one database instead.',
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
      description:
        'Role with the attribute REPLICATION, which pg_hba.conf must let in for replication. With `logical`: a role that may read the whole database.',
      pattern: '^[^\\x00-\\x1f]+$',
      maxLength: 63,
    },
    password: { ...secretRefSchema, description: 'Its password.' },
    logical: logicalSchema,
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
