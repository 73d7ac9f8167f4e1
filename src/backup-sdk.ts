/**
 * `clusterwright/backup`: what both halves of an engine say of its backups, the controller's and the agent's. Pure. The
 * schemas that are made with it are imported by both bundles.
 */
export type { Defaulted, StructuralSchema } from './api/schema.ts';
export {
  type Contents,
  type DataSummary,
  type EngineDestination,
  type EngineSchemas,
  type EngineSource,
  type EngineState,
  mostContents,
  mostParts,
  partedVersion,
  versionSchema,
} from './backup/engine-data.ts';
export { type Endpoint, membersSchema, mostMembers, type TlsFiles, tlsFilesSchema } from './backup/members.ts';
export { absolutePath } from './backup/place.ts';
