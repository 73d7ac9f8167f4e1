/** What tasks, manifests and results hold of a Redis: read by the controller's half of backups and by the agent. */
import type { Defaulted, StructuralSchema } from '../../../api/schema.ts';
import {
  type Contents,
  type EngineSchemas,
  mostContents,
  mostParts,
  partedVersion,
} from '../../../backup/engine-data.ts';
import { membersSchema, tlsFilesSchema } from '../../../backup/members.ts';
import { absolutePath } from '../../../backup/place.ts';

const count = { type: 'integer', minimum: 0 } as const;

export const redisSourceSchema = {
  type: 'object',
  required: ['engine'],
  properties: {
    engine: { type: 'string', enum: ['redis'] },
    members: { ...membersSchema, description: 'The nodes. Absent of a Redis Cluster.' },
    shards: {
      type: 'array',
      description: 'Of a Redis Cluster: the nodes of each shard, whoever of them is primary.',
      minItems: 1,
      maxItems: mostParts,
      items: { type: 'object', required: ['members'], properties: { members: membersSchema } },
    },
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
    shard: {
      type: 'object',
      description: 'Of a Redis Cluster: which shard the directory is of. The backup must be of as many.',
      required: ['index', 'count'],
      properties: {
        index: { ...count, maximum: mostParts - 1 },
        count: { type: 'integer', minimum: 1, maximum: mostParts },
      },
    },
  },
} as const satisfies StructuralSchema;

const dumpSchema = {
  type: 'object',
  required: ['replicationId', 'offset', 'approximateKeys'],
  properties: {
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

const engine = { type: 'string', enum: ['redis'] } as const;

export const redisStateSchema = {
  ...dumpSchema,
  required: ['engine', ...dumpSchema.required],
  properties: { engine, ...dumpSchema.properties },
} as const satisfies StructuralSchema;

/** Of a Redis Cluster, whose data is in as many parts as it has shards, in the same order. The shards are not of one instant. */
const redisShardsStateSchema = {
  type: 'object',
  required: ['engine', 'shards'],
  properties: {
    engine,
    shards: {
      type: 'array',
      minItems: 1,
      maxItems: mostParts,
      items: {
        type: 'object',
        required: ['slots', 'epoch', 'source', 'role', ...dumpSchema.required],
        properties: {
          slots: {
            type: 'string',
            description: 'Hash slots of the shard, as ranges: the same before the first dump and after the last one.',
            pattern: '^([0-9]{1,5}(-[0-9]{1,5})?(, [0-9]{1,5}(-[0-9]{1,5})?)*)?$',
            maxLength: 65_536,
          },
          epoch: { ...count, description: 'With which its primary has them.' },
          source: { type: 'string', description: 'Where its data came from.', minLength: 1, maxLength: 253 },
          role: { type: 'string', enum: ['primary', 'replica'] },
          ...dumpSchema.properties,
        },
      },
    },
  },
} as const satisfies StructuralSchema;

export const redisSchemas: EngineSchemas = {
  source: redisSourceSchema,
  destination: redisDestinationSchema,
  state: (formatVersion) => (formatVersion === partedVersion ? redisShardsStateSchema : redisStateSchema),
};

export type RedisSource = Defaulted<typeof redisSourceSchema>;
export type RedisDestination = Defaulted<typeof redisDestinationSchema>;
export type RedisShardsState = Defaulted<typeof redisShardsStateSchema>;
export type RedisState = Defaulted<typeof redisStateSchema> | RedisShardsState;
/** Of the data of one node. */
export type DumpState = Defaulted<typeof dumpSchema>;

/** Name of how many shards a backup of a Redis Cluster has, among what it holds. */
export const shardsContent = 'shards';

/** Undefined where it is of no Redis Cluster. */
export function shardsIn(state: RedisState): RedisShardsState['shards'] | undefined {
  return 'shards' in state ? state.shards : undefined;
}

/** Keys by number of the database: `keys.0`. Of a Redis Cluster those of all shards together, and how many shards there are. */
export function redisContents(state: RedisState): Contents {
  const shards = shardsIn(state);
  const count = shards === undefined ? {} : { [shardsContent]: String(shards.length) };
  const keys = Object.entries(keysByDatabase(state)).filter(([database]) => /^\d{1,10}$/.test(database));
  return {
    ...count,
    ...Object.fromEntries(
      keys.slice(0, mostContents - 1).map(([database, keys]) => [`keys.${database}`, String(keys)]),
    ),
  };
}

export function keysByDatabase(state: RedisState): Readonly<Record<string, number>> {
  if (!('shards' in state)) return keysInDump(state);
  const sums: Record<string, number> = {};
  for (const shard of state.shards) {
    for (const [database, keys] of Object.entries(keysInDump(shard))) sums[database] = (sums[database] ?? 0) + keys;
  }
  return sums;
}

/** What is exact stands before what is about right. */
function keysInDump({ approximateKeys, firstDatabase }: DumpState): Readonly<Record<string, number>> {
  return firstDatabase === undefined
    ? approximateKeys
    : { ...approximateKeys, [String(firstDatabase.number)]: firstDatabase.keys };
}
