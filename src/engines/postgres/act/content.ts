/** What the actions for databases and users do. Each may be repeated: the next look shows what happened. */
import { randomBytes } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { Refused } from '../../../engine/refused.ts';
import type { ContentAction } from '../action.ts';
import { SecretUnusable } from '../client/credentials.ts';
import { literal } from '../client/quoting.ts';
import { saltBytes, scramVerifier } from '../client/scram-verifier.ts';
import { inWords, isPassing, ServerError } from '../client/server-error.ts';
import { withSession } from '../client/session.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { contentSession } from '../observe/content.ts';

/** A new database is a copy of a small one, and waits for a checkpoint; a commit may wait for a standby. */
const timeoutMs = 30_000;
const insufficientPrivilege = '42501';

export async function actContent(
  action: ContentAction,
  resource: Cluster,
  target: Cluster<PostgresSpec>,
  io: EngineContext,
): Promise<void> {
  const database = action.type === 'postgres.run' ? action.database : 'postgres';
  const sql = action.type === 'postgres.run' ? action.sql : await withVerifier(action, io);
  const session = await contentSession(target, action.address, database, io);
  try {
    await withSession(io, { ...session, timeoutMs }, (connection) => connection.query(sql));
  } catch (error) {
    // A resource that goes has to wait for each of its statements.
    if (!(error instanceof ServerError) || resource.metadata.deletionTimestamp !== undefined) throw worded(error);
    if (isPassing(error)) throw worded(error);
    throw new Refused('StatementRefused', `${inWords(error)}${advice(action, error, target)}`);
  }
}

async function withVerifier(
  { before, after, secret }: Extract<ContentAction, { type: 'postgres.setPassword' }>,
  io: EngineContext,
): Promise<string> {
  const password = (await io.secret(secret.name, undefined, secret.told))?.[secret.key];
  if (password === undefined) throw new SecretUnusable(`Secret ${secret.name} has no key ${secret.key}`);
  return `${before}${literal(await scramVerifier(password, randomBytes(saltBytes)))}${after}`;
}

function worded(error: unknown): unknown {
  return error instanceof ServerError ? new Error(inWords(error), { cause: error }) : error;
}

/** The superuser connects in the pod alone. */
function advice(action: ContentAction, { code }: ServerError, { metadata, status }: Cluster): string {
  if (action.type !== 'postgres.run' || action.manual === undefined || code !== insufficientPrivilege) return '';
  const pod = status?.primary ?? 'POD';
  return `; a superuser can: kubectl exec -n ${metadata.namespace} ${pod} -c postgres -- psql -U postgres -d ${action.database} -c '${action.manual}'`;
}
