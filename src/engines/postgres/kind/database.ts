/** PostgresDatabase: a database of a PostgresCluster, with its extensions and schemas. */
import {
  adoptRule,
  adoptSchema,
  clusterSchema,
  contentDeletionPolicySchema,
  contentKind,
} from '../../../api/content.ts';
import { group, version } from '../../../api/group.ts';
import type { Defaulted, StructuralSchema, Written } from '../../../api/schema.ts';
import { isFreeRole, nameSchema, reservedRoles } from './identifier.ts';

const ownerRules = [{ rule: isFreeRole, message: `the owner ${reservedRoles}` }];

/** A name of a locale or of an encoding. */
const localeName = (description: string) =>
  ({
    type: 'string',
    description,
    pattern: '^[A-Za-z0-9][A-Za-z0-9_.@-]*$',
    maxLength: 63,
    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is set when the database is created' }],
  }) as const;

const extensionSchema = {
  type: 'object',
  description: 'One extension.',
  required: ['name'],
  properties: {
    name: nameSchema('Name of the extension, as in `pg_available_extensions`.'),
    version: {
      type: 'string',
      description:
        'Version. Another one is updated to this. When absent, the default version is created and never updated.',
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$',
      maxLength: 63,
    },
    schema: nameSchema(
      'Schema for the objects of the extension, set when it is created: by default the one that the extension names, or else `public`. Another one is reported.',
    ),
  },
} as const satisfies StructuralSchema;

const schemaSchema = {
  type: 'object',
  description: 'One schema.',
  required: ['name'],
  properties: {
    name: {
      ...nameSchema('Name of the schema.'),
      'x-kubernetes-validations': [
        {
          rule: "!self.startsWith('pg_') && self != 'information_schema'",
          message: 'must not be a schema of PostgreSQL: pg_*, information_schema',
        },
      ],
    },
    owner: {
      ...nameSchema(
        'Role that owns the schema. Put right if it differs. Default when it is created: the owner of the database.',
      ),
      'x-kubernetes-validations': ownerRules,
    },
  },
} as const satisfies StructuralSchema;

export const databaseSpecSchema = {
  type: 'object',
  description: 'The database, as it should be.',
  required: ['cluster', 'name', 'owner'],
  properties: {
    cluster: clusterSchema('PostgresCluster'),
    name: {
      ...nameSchema('Name of the database, always quoted: case counts. Immutable.'),
      'x-kubernetes-validations': [
        { rule: 'self == oldSelf', message: 'name is immutable' },
        {
          rule: "!(self in ['postgres', 'template0', 'template1']) && !self.startsWith('clusterwright-')",
          message:
            'must not be a database of PostgreSQL or of the operator: postgres, template0, template1, clusterwright-*',
        },
      ],
    },
    owner: {
      ...nameSchema(
        'Role that owns the database. It must exist, for example by a PostgresUser. Put right if it differs.',
      ),
      'x-kubernetes-validations': ownerRules,
    },
    adopt: adoptSchema('the database'),
    connectionLimit: {
      type: 'integer',
      description: 'Connections to the database at a time; -1 is no limit. Put right if it differs.',
      minimum: -1,
      maximum: 262_143,
      default: -1,
    },
    encoding: { ...localeName('Encoding of a new database. Immutable.'), default: 'UTF8' },
    locale: {
      ...localeName('Locale of a new database, for collation and character classes. Immutable.'),
      default: 'C.UTF-8',
    },
    icuLocale: localeName('ICU locale of a new database, for example `de-DE`, which then sorts by ICU. Immutable.'),
    extensions: {
      type: 'array',
      description:
        'Extensions. Missing ones are created as the owner of the database, which PostgreSQL allows for trusted extensions. An extension that leaves the list stays in the database.',
      maxItems: 32,
      default: [],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: extensionSchema,
    },
    schemas: {
      type: 'array',
      description: 'Schemas. Missing ones are created. A schema that leaves the list stays in the database.',
      maxItems: 32,
      default: [],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: schemaSchema,
    },
    deletionPolicy: contentDeletionPolicySchema(
      'What happens to the database when this resource is deleted: Retain keeps it. Delete drops it, as soon as nobody is connected; sessions are never ended for that.',
    ),
  },
  'x-kubernetes-validations': [
    adoptRule,
    {
      rule: 'has(self.icuLocale) == has(oldSelf.icuLocale)',
      message: 'icuLocale is set when the database is created',
      fieldPath: '.icuLocale',
    },
  ],
} as const satisfies StructuralSchema;

/** After defaulting. */
export type DatabaseSpec = Defaulted<typeof databaseSpecSchema>;
/** As people write it. */
export type DatabaseSpecInput = Written<typeof databaseSpecSchema>;

const resource = { group, version, kind: 'PostgresDatabase', plural: 'postgresdatabases', namespaced: true } as const;

export const databaseKind = contentKind(resource, 'Database', {
  shortName: 'pgdb',
  description: 'A database in a PostgresCluster.',
  spec: databaseSpecSchema,
});
