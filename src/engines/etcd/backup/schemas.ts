/** What tasks, manifests and results hold of an etcd: read by the controller's half of backups and by the agent. */
import type { Defaulted, StructuralSchema } from '../../../api/schema.ts';
import { type Contents, type EngineSchemas, versionSchema } from '../../../backup/engine-data.ts';
import { membersSchema, tlsFilesSchema } from '../../../backup/members.ts';
import { absolutePath } from '../../../backup/place.ts';

const count = { type: 'integer', minimum: 0 } as const;
/** 64 bits and more do not fit a number. */
const decimal = { type: 'string', pattern: '^[0-9]{1,20}$' } as const;

export const etcdSourceSchema = {
  type: 'object',
  required: ['engine', 'members'],
  properties: {
    engine: { type: 'string', enum: ['etcd'] },
    members: membersSchema,
    user: { type: 'string', default: 'root', minLength: 1, maxLength: 253 },
    passwordFile: {
      ...absolutePath,
      description:
        'Its first line is the password. Used only where etcd asks for it; without the file, nobody is told one.',
    },
    tls: tlsFilesSchema,
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

const etcdDestinationSchema = {
  type: 'object',
  required: ['engine', 'file'],
  properties: {
    engine: { type: 'string', enum: ['etcd'] },
    file: {
      ...absolutePath,
      description: "The snapshot's file, for `etcdutl snapshot restore`. Its directory must be there.",
    },
    version: versionSchema,
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
const etcdStateSchema1: StructuralSchema = (() => {
  const { keys: _k, authentication: _a, ...properties } = etcdStateSchema.properties;
  return { ...etcdStateSchema, properties };
})();

export const etcdSchemas: EngineSchemas = {
  source: etcdSourceSchema,
  destination: etcdDestinationSchema,
  state: (formatVersion) => (formatVersion === 1 ? etcdStateSchema1 : etcdStateSchema),
};

export type EtcdSource = Defaulted<typeof etcdSourceSchema>;
export type EtcdDestination = Defaulted<typeof etcdDestinationSchema>;
export type EtcdState = Defaulted<typeof etcdStateSchema>;

export function etcdContents({ revision, hashKv }: EtcdState): Contents {
  return {
    revision,
    ...(hashKv === undefined ? {} : { hash: String(hashKv.hash), compactRevision: hashKv.compactRevision }),
  };
}
