/** What the primary has of a logical import. */
import { shortened } from '../../../api/bounds.ts';
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { filledQuestion } from '../client/application.ts';
import { operatorSession } from '../client/credentials.ts';
import { ask, askOne } from '../client/question.ts';
import { withSession } from '../client/session.ts';
import { type StagingFacts, stagingQuestion } from '../client/staging.ts';
import type { PostgresSpec } from '../kind/schema.ts';

export type StagingSeen =
  | { readonly state: 'unknown'; readonly why: string }
  | {
      readonly state: 'seen';
      readonly databases: readonly StagingFacts[];
      /** The first database has been a copy. It is not copied again, even where somebody has dropped it since. */
      readonly isFilled: boolean;
    };

const mostWords = 300;

/** `address`: of the primary. */
export async function observeStaging(
  cluster: Cluster<PostgresSpec>,
  address: string,
  io: EngineContext,
): Promise<StagingSeen> {
  try {
    const target = await operatorSession(cluster, address, io);
    return await withSession(io, target, async (connection): Promise<StagingSeen> => {
      const databases = await ask(connection, stagingQuestion);
      const { isFilled } = await askOne(connection, filledQuestion(cluster.spec.initial.owner));
      return { state: 'seen', databases: databases.map(inPlainText), isFilled };
    });
  } catch (error) {
    io.signal.throwIfAborted();
    return { state: 'unknown', why: (error as Error).message };
  }
}

/** The owner of the database has written it. */
function inPlainText({ database, copied }: StagingFacts): StagingFacts {
  const printable = copied?.replaceAll(/[^\x20-\x7e]/g, ' ').trim();
  return { database, copied: printable === undefined ? undefined : shortened(printable, mostWords) };
}
