/** PostgresUser: a role of a PostgresCluster, its password, and what it may do. */
import {
  adoptRule,
  adoptSchema,
  clusterSchema,
  contentDeletionPolicySchema,
  contentKind,
} from '../../../api/content.ts';
import { group, version } from '../../../api/group.ts';
import type { Defaulted, StructuralSchema, Written } from '../../../api/schema.ts';
import { secretRefSchema } from '../../../api/secret-ref.ts';
import { isFreeRole, nameSchema, reservedRoles } from './identifier.ts';

const roleRules = [{ rule: isFreeRole, message: reservedRoles }];

export const databasePrivileges = ['CONNECT', 'CREATE', 'TEMPORARY'] as const;
export const schemaPrivileges = ['USAGE', 'CREATE'] as const;
export const tablePrivileges = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'] as const;
export const sequencePrivileges = ['USAGE', 'SELECT', 'UPDATE'] as const;

const privileges = <const Names extends readonly string[], const Default extends readonly string[]>(
  description: string,
  names: Names,
  value: Default,
) =>
  ({
    type: 'array',
    description,
    maxItems: names.length,
    default: value,
    'x-kubernetes-list-type': 'set',
    items: { type: 'string', description: 'One privilege.', enum: names },
  }) as const;

const roleList = (description: string) =>
  ({
    type: 'array',
    description,
    maxItems: 16,
    default: [],
    'x-kubernetes-list-type': 'set',
    items: { ...nameSchema('Name of a role.'), 'x-kubernetes-validations': roleRules },
  }) as const;

const schemaGrantSchema = {
  type: 'object',
  description: 'Privileges on one schema and on what is in it.',
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
    privileges: privileges('On the schema itself.', schemaPrivileges, ['USAGE']),
    tables: privileges(
      'On all tables and views of the schema, and on those that `createdBy` creates later.',
      tablePrivileges,
      [],
    ),
    sequences: privileges(
      'On all sequences of the schema, and on those that `createdBy` creates later.',
      sequencePrivileges,
      [],
    ),
    createdBy: roleList(
      'Roles whose later tables and sequences the user gets these privileges on (default privileges). When empty: the owner of the database.',
    ),
  },
} as const satisfies StructuralSchema;

const grantSchema = {
  type: 'object',
  description: 'Privileges in one database.',
  required: ['database'],
  properties: {
    database: nameSchema('Name of the database.'),
    privileges: privileges('On the database itself.', databasePrivileges, ['CONNECT']),
    schemas: {
      type: 'array',
      description: 'Privileges on schemas.',
      maxItems: 16,
      default: [],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: schemaGrantSchema,
    },
  },
} as const satisfies StructuralSchema;

export const userSpecSchema = {
  type: 'object',
  description:
    'The role, as it should be. It is never a superuser, and has neither CREATEROLE, REPLICATION nor BYPASSRLS.',
  required: ['cluster', 'name'],
  properties: {
    cluster: clusterSchema('PostgresCluster'),
    name: {
      ...nameSchema('Name of the role, always quoted: case counts. Immutable.'),
      'x-kubernetes-validations': [
        { rule: 'self == oldSelf', message: 'name is immutable' },
        { rule: isFreeRole, message: reservedRoles },
      ],
    },
    adopt: adoptSchema('the role'),
    login: {
      type: 'boolean',
      description: 'Whether the role can log in. False: a group, which has no password. Put right if it differs.',
      default: true,
    },
    passwordSecret: {
      ...secretRefSchema,
      description:
        'Secret with the password. When absent, the operator generates the Secret RESOURCE-login, which also has host, port, database, username, uri and jdbc-uri.',
    },
    database: nameSchema(
      'Database in the connection details of a generated Secret. Default when it is generated: that of the first grant, or else the initial one of the cluster.',
    ),
    createDatabase: {
      type: 'boolean',
      description: 'Whether the role may create databases (CREATEDB). Put right if it differs.',
      default: false,
    },
    inherit: {
      type: 'boolean',
      description: 'Whether the role has the privileges of the roles that it is a member of. Put right if it differs.',
      default: true,
    },
    connectionLimit: {
      type: 'integer',
      description: 'Connections of the role at a time; -1 is no limit. Put right if it differs.',
      minimum: -1,
      maximum: 262_143,
      default: -1,
    },
    validUntil: {
      type: 'string',
      description:
        'Time after which the password is no longer accepted, as `2030-01-31T00:00:00Z`. Default: never. Put right if it differs.',
      pattern:
        '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$',
      maxLength: 35,
    },
    memberOf: roleList(
      'Roles that this one is a member of. Missing memberships are granted. One that leaves the list is revoked if the operator granted it.',
    ),
    grants: {
      type: 'array',
      description:
        'Privileges that are granted to the role itself. When present, they are exact: the operator revokes other privileges on databases, and on schemas, tables and sequences of the databases in which the role has any. When absent, it neither grants nor revokes.',
      maxItems: 16,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['database'],
      items: grantSchema,
    },
    deletionPolicy: contentDeletionPolicySchema(
      'What happens to the role when this resource is deleted: Retain keeps it and its Secret. Delete revokes `grants` and drops it, if it owns nothing. Nothing that it owns is dropped or given to others.',
    ),
  },
  'x-kubernetes-validations': [
    adoptRule,
    {
      rule: 'self.login || !has(self.passwordSecret)',
      message: 'passwordSecret is only for a role that can log in',
      fieldPath: '.passwordSecret',
    },
  ],
} as const satisfies StructuralSchema;

/** After defaulting. */
export type UserSpec = Defaulted<typeof userSpecSchema>;
/** As people write it. */
export type UserSpecInput = Written<typeof userSpecSchema>;

const resource = { group, version, kind: 'PostgresUser', plural: 'postgresusers', namespaced: true } as const;

export const userKind = contentKind(resource, 'Role', {
  shortName: 'pguser',
  description: 'A role in a PostgresCluster, with its password and privileges.',
  spec: userSpecSchema,
});
