/** What tasks and manifests hold of a journal: a toy database that tells everybody who connects all that it holds. */
import { absolutePath, type Defaulted, type EngineSchemas, membersSchema, versionSchema } from 'clusterwright/backup';

const engine = { type: 'string', enum: ['journal'] } as const;

const sourceSchema = {
  type: 'object',
  required: ['engine', 'members'],
  properties: { engine, members: membersSchema },
} as const;

const destinationSchema = {
  type: 'object',
  required: ['engine', 'directory'],
  properties: { engine, directory: absolutePath, version: versionSchema },
} as const;

const stateSchema = {
  type: 'object',
  required: ['engine', 'entries'],
  properties: { engine, entries: { type: 'integer', minimum: 0 } },
} as const;

export const journalSchemas: EngineSchemas = {
  source: sourceSchema,
  destination: destinationSchema,
  state: () => stateSchema,
};

export type JournalSource = Defaulted<typeof sourceSchema>;
export type JournalDestination = Defaulted<typeof destinationSchema>;
export type JournalState = Defaulted<typeof stateSchema>;
