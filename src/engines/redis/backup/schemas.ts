/** What tasks, manifests and results hold of a Redis: read by the controller's half of backups and by the agent. */
import type { Defaulted, StructuralSchema } from '../../../api/schema.ts';
import { type Contents, type EngineSchemas, mostContents } from '../../../backup/engine-data.ts';
import { membersSchema, tlsFilesSchema } from '../../../backup/members.ts';
import { absolutePath } from '../../../backup/place.ts';

const count = { type: 'integer', minimum: 0 } as const;

export const redisSourceSchema = {
  type: 'object',
  required: ['engine', 'members'],
  properties: {
    engine: { type: 'string', enum: ['redis'] },
    members: membersSchema,
    passwordFile: { ...absolutePath, description: 'Its first line is the password.' },
    identity: {
      type: 'object',
      description:
        'A user that no other cluster has. Where a member knows it, only those that do are asked. Without the file, nobody is asked as it.',
      required: ['user', 'passwordFile'],
      properties: { user: { type: 'string', minLength: 1, maxLength: 512 }, passwordFile: absolutePath },
    },
    sentinels: {
      type: 'object',
      description: 'Asked for the primary where a member does not answer. Absent: nobody is elected.',
      required: ['name', 'members'],
      properties: {
        name: { type: 'string', description: 'By which they watch.', minLength: 1, maxLength: 253 },
        members: membersSchema,
      },
    },
    tls: tlsFilesSchema,
  },
} as const satisfies StructuralSchema;

const redisDestinationSchema = {
  type: 'object',
  required: ['engine', 'directory'],
  properties: {
    engine: { type: 'string', enum: ['redis'] },
    directory: {
      ...absolutePath,
      description: 'The data directory. It must be there, and hold no data: nothing is ever written over.',
    },
    version: {
      type: 'string',
      description:
        'Of the new cluster, with its engine where that is not Redis: data that it could not read is refused.',
      pattern: '^(Valkey )?[0-9]+\\.[0-9]+(\\.[0-9]+)?$',
      maxLength: 40,
    },
  },
} as const satisfies StructuralSchema;

export const redisStateSchema = {
  type: 'object',
  required: ['engine', 'replicationId', 'offset', 'approximateKeys'],
  properties: {
    engine: { type: 'string', enum: ['redis'] },
    replicationId: { type: 'string', pattern: '^[0-9a-f]{40}$' },
    offset: {
      ...count,
      description: 'Of the replication stream: the data holds everything up to it, and nothing after.',
    },
    approximateKeys: {
      type: 'object',
      description: 'By number of the database, as `INFO keyspace` said just before: about right while somebody writes.',
      additionalProperties: count,
    },
    firstDatabase: {
      type: 'object',
      description: "Exact: from the dump's own header, for the first database in it. Absent where the dump has none.",
      required: ['number', 'keys', 'expiring'],
      properties: {
        number: count,
        keys: count,
        expiring: { ...count, description: 'Of the keys: those that are to expire.' },
      },
    },
  },
} as const satisfies StructuralSchema;

export const redisSchemas: EngineSchemas = {
  source: redisSourceSchema,
  destination: redisDestinationSchema,
  state: () => redisStateSchema,
};

export type RedisSource = Defaulted<typeof redisSourceSchema>;
export type RedisDestination = Defaulted<typeof redisDestinationSchema>;
export type RedisState = Defaulted<typeof redisStateSchema>;

/** Keys by number of the database: `keys.0`. */
export function redisContents(state: RedisState): Contents {
  const keys = Object.entries(keysByDatabase(state)).filter(([database]) => /^\d{1,10}$/.test(database));
  return Object.fromEntries(
    keys.slice(0, mostContents).map(([database, count]) => [`keys.${database}`, String(count)]),
  );
}

/** What is exact stands before what is about right. */
export function keysByDatabase({ approximateKeys, firstDatabase }: RedisState): Readonly<Record<string, number>> {
  return firstDatabase === undefined
    ? approximateKeys
    : { ...approximateKeys, [String(firstDatabase.number)]: firstDatabase.keys };
}
