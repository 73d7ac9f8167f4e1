/**
 * What tasks, manifests and results hold of one engine's own. The rest of this folder passes it on as it is; the engine's
 * schemas check it wherever it is read.
 */
import type { StructuralSchema } from '../api/schema.ts';

/** As an engine is called in tasks and manifests. */
export const engineNameSchema = {
  type: 'string',
  pattern: '^[a-z][a-z0-9-]*$',
  maxLength: 40,
} as const satisfies StructuralSchema;

/** Format of the manifest of a backup in several parts, and of no other: agents that know no parts read every other one. */
export const partedVersion = 3;

export const mostParts = 100;

/** Where the data of a backup comes from. */
export interface EngineSource {
  readonly engine: string;
  readonly [own: string]: unknown;
}

/** Where a restore puts data. */
export interface EngineDestination {
  readonly engine: string;
  /** MAJOR.MINOR[.PATCH] of the new cluster: data that it could not read is refused. */
  readonly version?: string;
  readonly [own: string]: unknown;
}

/** What a database said of the state that a backup holds. */
export interface EngineState {
  readonly engine: string;
  readonly [own: string]: unknown;
}

/** What a backup holds, by names that a running database is asked for, too: what a restored one is compared with. */
export type Contents = Readonly<Record<string, string>>;

/** As many as a status has room for. */
export const mostContents = 64;

/** What is shown to people of the data in a backup. */
export interface DataSummary {
  readonly contents: Contents;
  /** The restored database wants the password that root had when the backup was taken, which is not in the backup. */
  readonly authentication?: true;
}

/** How one engine's part of a task or a manifest is checked. */
export interface EngineSchemas {
  readonly source: StructuralSchema;
  /** With `engine` and `version`. */
  readonly destination: StructuralSchema;
  /** As the given version of the manifest's format has it. */
  state(formatVersion: number): StructuralSchema;
}

/** An engine as this folder knows it. */
export interface EngineFormat {
  /** `redis` */
  readonly engine: string;
  /** `RedisCluster` */
  readonly kind: string;
  readonly schemas: EngineSchemas;
}

export type EngineFormats = readonly EngineFormat[];

export const versionSchema = {
  type: 'string',
  description: 'MAJOR.MINOR[.PATCH] of the new cluster: data that it could not read is refused.',
  pattern: '^[0-9]+\\.[0-9]+(\\.[0-9]+)?$',
  maxLength: 32,
} as const satisfies StructuralSchema;
