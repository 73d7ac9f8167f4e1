/** Where the data of a backup comes from: the members of one cluster, and what they want to see of who asks. */
import type { Defaulted, StructuralSchema } from '../api/schema.ts';
import { absolutePath } from './place.ts';

/** As many as a task may name. */
export const mostMembers = 64;

const members = {
  type: 'array',
  minItems: 1,
  maxItems: mostMembers,
  items: {
    type: 'object',
    required: ['host', 'port'],
    properties: {
      host: { type: 'string', pattern: '^[A-Za-z0-9.:_-]+$', maxLength: 253 },
      port: { type: 'integer', minimum: 1, maximum: 65535 },
    },
  },
} as const;

const tls = {
  type: 'object',
  description: 'Absent: connections are not secured.',
  required: ['caFile'],
  properties: {
    caFile: absolutePath,
    certFile: absolutePath,
    keyFile: absolutePath,
    servername: {
      type: 'string',
      description: 'The name that certificates must be for, where it is not the host that is dialled.',
      maxLength: 253,
    },
  },
} as const;

export const redisSourceSchema = {
  type: 'object',
  required: ['engine', 'members'],
  properties: {
    engine: { type: 'string', enum: ['redis'] },
    members,
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
        members,
      },
    },
    tls,
  },
} as const satisfies StructuralSchema;

export const etcdSourceSchema = {
  type: 'object',
  required: ['engine', 'members'],
  properties: {
    engine: { type: 'string', enum: ['etcd'] },
    members,
    user: { type: 'string', default: 'root', minLength: 1, maxLength: 253 },
    passwordFile: { ...absolutePath, description: 'Its first line is the password. Used only where etcd asks for it.' },
    tls,
    clusterId: {
      type: 'string',
      description: 'In decimal, as etcd says it in answers: a member of another cluster is refused.',
      pattern: '^[0-9]{1,20}$',
    },
    peerDomain: {
      type: 'string',
      description: 'Members are known to each other by names in this domain: those of another cluster are refused.',
      pattern: '^[A-Za-z0-9._-]+$',
      maxLength: 253,
    },
  },
} as const satisfies StructuralSchema;

export type RedisSource = Defaulted<typeof redisSourceSchema>;
export type EtcdSource = Defaulted<typeof etcdSourceSchema>;
export type Source = RedisSource | EtcdSource;
export type Endpoint = Source['members'][number];
export type TlsFiles = NonNullable<Source['tls']>;
