/** What a database said of the state that a backup holds: what a restored database is compared with. */
import type { Defaulted, StructuralSchema } from '../api/schema.ts';

const count = { type: 'integer', minimum: 0 } as const;
/** 64 bits and more do not fit a number. */
const decimal = { type: 'string', pattern: '^[0-9]{1,20}$' } as const;

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

export const etcdStateSchema = {
  type: 'object',
  required: ['engine', 'clusterId', 'memberId', 'revision'],
  properties: {
    engine: { type: 'string', enum: ['etcd'] },
    clusterId: decimal,
    memberId: decimal,
    revision: { ...decimal, description: 'The snapshot holds this one, and those after it that came while it began.' },
    keys: { ...count, description: 'Keys at about that revision. Not in manifests of format 1.' },
    authentication: {
      type: 'boolean',
      description: 'Whether the data asks for the password that root had then. Not in manifests of format 1.',
    },
    hashKv: {
      type: 'object',
      description: 'HashKV at that revision. It depends on the revision up to which the keyspace had been compacted.',
      required: ['hash', 'compactRevision'],
      properties: { hash: count, compactRevision: { type: 'string', pattern: '^-?[0-9]{1,20}$' } },
    },
  },
} as const satisfies StructuralSchema;

/** As format 1 has it. */
export const etcdStateSchema1: StructuralSchema = (() => {
  const { keys: _k, authentication: _a, ...properties } = etcdStateSchema.properties;
  return { ...etcdStateSchema, properties };
})();

export type RedisState = Defaulted<typeof redisStateSchema>;
export type EtcdState = Defaulted<typeof etcdStateSchema>;
export type BackupState = RedisState | EtcdState;
