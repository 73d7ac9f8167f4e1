/** What tasks, manifests and results hold of a PostgreSQL: read by the controller's half of backups and by the agent. */
import type { Defaulted, StructuralSchema } from '../../../api/schema.ts';
import { type Contents, type EngineSchemas, versionSchema } from '../../../backup/engine-data.ts';
import { membersSchema, tlsFilesSchema } from '../../../backup/members.ts';
import { absolutePath } from '../../../backup/place.ts';
import { untilSchema } from '../kind/until.ts';

const count = { type: 'integer', minimum: 0 } as const;
const systemId = {
  type: 'string',
  description: 'The system identifier: the same in every copy of one database cluster, and in no other.',
  pattern: '^[0-9]{1,20}$',
} as const;
const lsn = { type: 'string', pattern: '^[0-9A-F]{1,8}/[0-9A-F]{1,8}$' } as const;

export const postgresSourceSchema = {
  type: 'object',
  required: ['engine', 'members', 'user'],
  properties: {
    engine: { type: 'string', enum: ['postgres'] },
    members: membersSchema,
    user: { type: 'string', description: 'Has the attribute REPLICATION.', minLength: 1, maxLength: 63 },
    passwordFile: {
      ...absolutePath,
      description: 'Its first line is the password. Absent: the certificate in `tls` says who asks.',
    },
    tls: tlsFilesSchema,
    withStandby: {
      type: 'boolean',
      description:
        'The archive confirms to the primary only the log that a standby also has on its disk. Set for synchronous.strict, where PostgreSQL counts each connection that confirms the log as a standby.',
    },
    systemId: {
      ...systemId,
      description: 'Members of another database cluster are left out. Absent: all must be of one.',
    },
  },
} as const satisfies StructuralSchema;

const postgresDestinationSchema = {
  type: 'object',
  required: ['engine', 'directory'],
  properties: {
    engine: { type: 'string', enum: ['postgres'] },
    directory: {
      ...absolutePath,
      description:
        'The data directory, which is made. What it is in must be there; the directory itself may be there, empty.',
    },
    dataDirectory: {
      ...absolutePath,
      description:
        'Where others move it once it is recovered. With `DIRECTORY.recovering`, they have begun: what is in either directory is then the backup.',
    },
    log: {
      type: 'object',
      description: 'The archived log is wanted as well, as far as it leads on from the backup.',
      required: ['directory'],
      properties: { directory: absolutePath, until: untilSchema },
    },
    version: { ...versionSchema, description: 'MAJOR of the new cluster.', pattern: '^[0-9]+([.][0-9]+)?$' },
  },
} as const satisfies StructuralSchema;

export const postgresStateSchema = {
  type: 'object',
  required: ['engine', 'systemId', 'timeline', 'startLsn', 'endLsn', 'segmentBytes', 'files', 'bytes'],
  properties: {
    engine: { type: 'string', enum: ['postgres'] },
    systemId,
    timeline: { type: 'integer', minimum: 1, maximum: 4_294_967_295 },
    startLsn: { ...lsn, description: 'Recovery begins here.' },
    endLsn: { ...lsn, description: 'From here on the data is consistent. The log up to it is in the backup.' },
    segmentBytes: { ...count, description: 'Of a file of the log.' },
    files: { ...count, description: 'In the manifest of the server, which has no files of the log.' },
    bytes: { ...count, description: 'Of these files.' },
  },
} as const satisfies StructuralSchema;

export const postgresSchemas: EngineSchemas = {
  source: postgresSourceSchema,
  destination: postgresDestinationSchema,
  state: () => postgresStateSchema,
};

export type PostgresSource = Defaulted<typeof postgresSourceSchema>;
export type PostgresDestination = Defaulted<typeof postgresDestinationSchema>;
export type PostgresState = Defaulted<typeof postgresStateSchema>;

/** What a restored database says of itself, too. */
export function postgresContents({ systemId }: PostgresState): Contents {
  return { systemId };
}
