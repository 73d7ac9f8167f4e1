/**
 * What the agent is told to do: one JSON file, whose path is its only argument.
 *
 * The file holds no secret; passwords, keys and certificates are paths. A field that is not known is refused, since a
 * task that was only half understood is worse than one that fails.
 */
import { schemaViolations, withDefaults } from '../api/check.ts';
import { prune } from '../api/prune.ts';
import type { Defaulted, StructuralSchema } from '../api/schema.ts';
import { displayPath } from '../api/violation.ts';
import { archiveReportPort } from './archive-report.ts';
import { type EngineDestination, type EngineFormats, type EngineSource, engineNameSchema } from './engine-data.ts';
import { type ClusterIdentity, clusterIdentitySchema, type Purpose, purposeSchema, uidSchema } from './identity.ts';
import { absolutePath, claimPlaceSchema, type Place, type S3Place, s3PlaceSchema } from './place.ts';

/** In the operator's image; the path of the task follows. */
export const agentCommand = ['/usr/local/bin/node', '/agent.mjs'] as const;

export const retentionSchema = {
  type: 'object',
  description: 'What is kept of the same schedule. Where both are given, a backup goes that either would let go.',
  properties: {
    count: { type: 'integer', minimum: 1, maximum: 10000 },
    ageSeconds: { type: 'integer', minimum: 60, maximum: 1_000_000_000 },
  },
} as const satisfies StructuralSchema;

export type Retention = Defaulted<typeof retentionSchema>;

/** As `id.ts` makes them. */
export const idPattern = '^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$';

export const whichSchema = {
  type: 'object',
  description: 'Which backup. What is left out is not looked at; what is found must be of one cluster only.',
  properties: {
    id: {
      type: 'string',
      description: 'Absent: the newest.',
      pattern: idPattern,
    },
    namespace: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 },
    name: { type: 'string', description: 'Of the cluster.', maxLength: 253 },
    uid: { ...uidSchema, description: 'Of the cluster.' },
  },
} as const satisfies StructuralSchema;

export type Which = Defaulted<typeof whichSchema>;

interface Common {
  readonly target: Place;
  /** 32 bytes in base64. Absent: nothing is encrypted, and only backups that are not can be read. */
  readonly encryptionKeyFile?: string;
  /** Longest wait for the next byte of anybody; default 60. */
  readonly idleTimeoutSeconds: number;
}

/** Take a backup, read it back, write its manifest, and then let old ones go. */
export interface TakeTask extends Common {
  readonly task: 'take';
  readonly cluster: ClusterIdentity;
  readonly purpose: Purpose;
  readonly source: EngineSource;
  /** Absent: everything is kept. Only for a purpose of type `schedule`. */
  readonly retention?: Retention;
  /** Id of a backup that holds suddenly little, of which a person has said that it is as it should be. */
  readonly confirmed?: string;
  /** Where all of the data is kept before the target is asked, so that the database is not held up by it. */
  readonly scratchDirectory?: string;
  /** A random time up to this long is waited first; default 0. */
  readonly jitterSeconds: number;
}

/** Write the data of a backup where a new member will find it. Every byte is checked before any is in place. */
export interface FetchTask extends Common {
  readonly task: 'fetch';
  readonly which: Which;
  readonly destination: EngineDestination;
}

/** Read a backup back and check everything about it, as a fetch does; nothing is written. */
export interface VerifyTask extends Common {
  readonly task: 'verify';
  readonly which: Which;
  readonly engine: string;
}

/** Say which backups there are; newest first. Data is not read, manifests are checked. */
export interface ListTask extends Common {
  readonly task: 'list';
  readonly which: Which;
  readonly engine?: string;
}

/** Follow the log of a cluster into its archive, until the process is stopped. */
export interface ArchiveTask extends Common {
  readonly task: 'archive';
  readonly cluster: ClusterIdentity;
  readonly source: EngineSource;
  /** Where it says how far it is. */
  readonly port: number;
}

export type AgentTask = TakeTask | FetchTask | VerifyTask | ListTask | ArchiveTask;

/** The schema of a task, for the variants that it names. */
function schemaOf(task: Readonly<Record<string, unknown>>, formats: EngineFormats): StructuralSchema {
  const engine = { ...engineNameSchema, enum: formats.map((format) => format.engine) };
  const byEngine = (part: 'source' | 'destination'): Readonly<Record<string, StructuralSchema>> =>
    Object.fromEntries(formats.map((format) => [format.engine, format.schemas[part]]));
  const properties = {
    task: { type: 'string', enum: ['take', 'fetch', 'verify', 'list', 'archive'] },
    target: variantOf(task.target, 'type', { s3: s3PlaceSchema, claim: claimPlaceSchema }),
    encryptionKeyFile: absolutePath,
    idleTimeoutSeconds: { type: 'integer', default: 60, minimum: 1, maximum: 3600 },
  } as const;
  const object = (required: readonly string[], more: Readonly<Record<string, StructuralSchema>>): StructuralSchema => ({
    type: 'object',
    required: ['task', 'target', ...required],
    properties: { ...properties, ...more },
  });
  switch (task.task) {
    case 'take':
      return object(['cluster', 'purpose', 'source'], {
        cluster: clusterIdentitySchema,
        purpose: purposeSchema,
        source: variantOf(task.source, 'engine', byEngine('source')),
        retention: retentionSchema,
        scratchDirectory: absolutePath,
        confirmed: { type: 'string', pattern: idPattern },
        jitterSeconds: { type: 'integer', default: 0, minimum: 0, maximum: 86_400 },
      });
    case 'fetch':
      return object(['which', 'destination'], {
        which: whichSchema,
        destination: variantOf(task.destination, 'engine', byEngine('destination')),
      });
    case 'archive':
      return object(['cluster', 'source'], {
        cluster: clusterIdentitySchema,
        source: variantOf(task.source, 'engine', byEngine('source')),
        port: { type: 'integer', default: archiveReportPort, minimum: 0, maximum: 65_535 },
      });
    case 'verify':
      return object(['which', 'engine'], { which: whichSchema, engine });
    default:
      return object(['which'], { which: whichSchema, engine });
  }
}

function variantOf(
  value: unknown,
  discriminator: string,
  variants: Readonly<Record<string, StructuralSchema>>,
): StructuralSchema {
  const named = (value as Readonly<Record<string, unknown>> | null | undefined)?.[discriminator];
  const found = typeof named === 'string' && Object.hasOwn(variants, named) ? variants[named] : undefined;
  return (
    found ?? {
      type: 'object',
      required: [discriminator],
      properties: { [discriminator]: { type: 'string', enum: Object.keys(variants) } },
      'x-kubernetes-preserve-unknown-fields': true,
    }
  );
}

/** Says every fault, one after the other. */
export class BadTask extends Error {
  override readonly name = 'BadTask';
}

/** @throws BadTask */
export function parseAgentTask(text: string, formats: EngineFormats): AgentTask {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new BadTask('the task is not JSON', { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadTask('the task is no object');
  const schema = schemaOf(value as Readonly<Record<string, unknown>>, formats);
  const unknown = prune(schema, value).unknown.map((path) => `${displayPath(path)} is not known`);
  const faults = schemaViolations(schema, value).map(({ path, message }) => `${displayPath(path)} ${message}`);
  const found = [...unknown, ...faults];
  if (found.length > 0) throw new BadTask(`the task is not valid: ${found.join('; ')}`);
  const task = withDefaults(schema, value) as AgentTask;
  if (task.target.type === 's3') requireBoth(task.target);
  if (task.task === 'take' || task.task === 'archive') requireFitting(task, formats);
  if (task.task === 'take') requireSchedule(task);
  return task;
}

/** Half of the credentials are none, and would make the agent somebody else. */
function requireBoth({ accessKeyIdFile, secretAccessKeyFile }: S3Place): void {
  if ((accessKeyIdFile === undefined) === (secretAccessKeyFile === undefined)) return;
  throw new BadTask('target.accessKeyIdFile and target.secretAccessKeyFile are named together, or neither is');
}

function requireFitting({ cluster, source }: TakeTask | ArchiveTask, formats: EngineFormats): void {
  if (!formats.some(({ engine, kind }) => engine === source.engine && kind === cluster.kind)) {
    throw new BadTask(`source.engine ${source.engine} does not fit cluster.kind ${cluster.kind}`);
  }
}

function requireSchedule({ retention, purpose }: TakeTask): void {
  if (retention !== undefined && purpose.type !== 'schedule') {
    throw new BadTask(`retention is for a purpose of type schedule, and this one is of type ${purpose.type}`);
  }
}
