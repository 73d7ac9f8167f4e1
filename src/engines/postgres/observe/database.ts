/** What the primary says of the database of a PostgresDatabase. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { ask, askOne } from '../client/question.ts';
import {
  type DatabaseFacts,
  databaseFactsQuestion,
  type ExtensionFacts,
  extensionsQuestion,
  type SchemaFacts,
  schemasQuestion,
} from '../client/questions/database-facts.ts';
import type { DatabaseSpec } from '../kind/database.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { begunDatabase, contentMarkPattern } from '../names.ts';
import { askPrimary, type Unreachable } from './content.ts';

export interface DatabaseSeen {
  readonly state: 'seen';
  readonly address: string;
  readonly facts: DatabaseFacts;
  /** Of those that the spec names. */
  readonly extensions: readonly ExtensionFacts[];
  readonly schemas: readonly SchemaFacts[];
}

export type DatabaseObserved = Unreachable | DatabaseSeen;

export async function observeDatabase(
  { metadata, spec }: Cluster<DatabaseSpec>,
  target: Cluster<PostgresSpec>,
  io: EngineContext,
): Promise<DatabaseObserved> {
  return await askPrimary<DatabaseSeen>(target, io, async (talk, address) => {
    const about = databaseFactsQuestion(
      spec.name,
      begunDatabase(metadata.uid),
      spec.owner,
      contentMarkPattern('PostgresDatabase'),
    );
    const facts = await talk('postgres', (connection) => askOne(connection, about));
    const names = {
      extensions: spec.extensions.map(({ name }) => name),
      schemas: spec.schemas.map(({ name }) => name),
    };
    if (!facts.exists || names.extensions.length + names.schemas.length === 0)
      return { state: 'seen', address, facts, extensions: [], schemas: [] };
    return await talk(spec.name, async (connection) => ({
      state: 'seen',
      address,
      facts,
      extensions: await ask(connection, extensionsQuestion(names.extensions)),
      schemas: await ask(connection, schemasQuestion(names.schemas)),
    }));
  });
}

/** As if the owner were there, and the database not. */
export const noDatabase: DatabaseObserved = {
  state: 'seen',
  address: '',
  facts: {
    exists: false,
    isBegun: false,
    owner: undefined,
    connectionLimit: undefined,
    encoding: undefined,
    locale: undefined,
    madeFor: undefined,
    hasOwner: true,
    isOwnerSuperuser: false,
    mayActAsOwner: true,
    ownerPower: undefined,
  },
  extensions: [],
  schemas: [],
};
