/** What a client of the first database would meet: the database, its owner, and whether the password of the Secret lets it in. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { isBindable } from '../../../resources/secret.ts';
import { type ApplicationFacts, applicationQuestion, commentQuestion, filledQuestion } from '../client/application.ts';
import { operatorSession, ownerPassword, ownerSession, SecretUnusable } from '../client/credentials.ts';
import { askOne } from '../client/question.ts';
import { ServerError } from '../client/server-error.ts';
import { type SessionTarget, withSession } from '../client/session.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { initMark, postgresNames } from '../names.ts';

export type ApplicationSeen =
  | { readonly state: 'unknown'; readonly why: string }
  | {
      readonly state: 'seen';
      readonly facts: ApplicationFacts;
      /** `invalid_password`: the server knows another one. Anything else that keeps the owner out is the user's to decide. */
      readonly isPasswordWrong: boolean;
      /** Of the Secret for the application: somebody has deleted it, or its key `password`. */
      readonly lacks?: 'secret' | 'key';
      /** The Secret has all that a workload is bound with. One that is older lacks the type. */
      readonly isBindable?: true;
      /** Of `init.sql`; absent where there is none. `run`: only the database itself says so, whose owner may change that. */
      readonly init?: 'due' | 'run' | 'done';
    };

/** SQLSTATE of a login with a wrong password: PostgreSQL's documentation, Appendix A. */
const invalidPassword = '28P01';

/** `address`: of the primary. */
export async function observeApplication(
  cluster: Cluster<PostgresSpec>,
  address: string,
  io: EngineContext,
): Promise<ApplicationSeen> {
  const { database, owner } = cluster.spec.initial;
  try {
    const target = await operatorSession(cluster, address, io);
    const facts = await withSession(io, target, (connection) =>
      askOne(connection, applicationQuestion(database, owner)),
    );
    const init = cluster.spec.init === undefined ? undefined : await initOf(target, cluster.spec.initial, io);
    const isThere = facts.hasOwner && facts.owner !== undefined;
    const lacks = await lackOf(cluster, io);
    return {
      state: 'seen',
      facts,
      isPasswordWrong: isThere && lacks === undefined && (await isRefused(cluster, address, io)),
      ...(lacks === undefined ? {} : { lacks }),
      ...(isBindable(await io.secret(postgresNames(cluster.metadata.name).app)) ? { isBindable: true } : {}),
      ...(init === undefined ? {} : { init }),
    };
  } catch (error) {
    io.signal.throwIfAborted();
    return { state: 'unknown', why: (error as Error).message };
  }
}

function initOf(
  target: SessionTarget,
  { database, owner }: PostgresSpec['initial'],
  io: EngineContext,
): Promise<'due' | 'run' | 'done'> {
  return withSession(io, target, async (connection) => {
    const { isFilled } = await askOne(connection, filledQuestion(owner));
    if (isFilled) return 'done';
    const { isMarked } = await askOne(connection, commentQuestion(database, initMark));
    return isMarked ? 'run' : 'due';
  });
}

async function lackOf(cluster: Cluster<PostgresSpec>, io: EngineContext): Promise<'secret' | 'key' | undefined> {
  try {
    await ownerPassword(cluster, io);
    return undefined;
  } catch (error) {
    if (!(error instanceof SecretUnusable)) throw error;
    const { app } = postgresNames(cluster.metadata.name);
    if ((await io.secret(app)) === undefined) return 'secret';
    io.secretRefused(app);
    return 'key';
  }
}

async function isRefused(cluster: Cluster<PostgresSpec>, address: string, io: EngineContext): Promise<boolean> {
  try {
    const password = await ownerPassword(cluster, io);
    await withSession(io, await ownerSession(cluster, address, password, io), () => Promise.resolve());
    return false;
  } catch (error) {
    io.signal.throwIfAborted();
    return error instanceof ServerError && error.code === invalidPassword;
  }
}
