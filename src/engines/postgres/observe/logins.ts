/** The operator's roles that log in with a password: whether PostgreSQL knows the one in their Secret. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { operatorSession, passwordIn, passwordSession } from '../client/credentials.ts';
import { askOne, boolean, question } from '../client/question.ts';
import { literal } from '../client/quoting.ts';
import { ServerError } from '../client/server-error.ts';
import { withSession } from '../client/session.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { postgresNames, roles } from '../names.ts';

export interface LoginWanted {
  readonly role: string;
  readonly secret: string;
}

export interface LoginSeen extends LoginWanted {
  /** `unknown`: nobody could be asked, or PostgreSQL refuses for another reason. */
  readonly state: 'secret-missing' | 'role-missing' | 'password-wrong' | 'well' | 'unknown';
}

/** SQLSTATE of a login with a wrong password: PostgreSQL's documentation, Appendix A. */
const invalidPassword = '28P01';

export function loginsWanted({ metadata, spec }: Cluster<PostgresSpec>): readonly LoginWanted[] {
  const { poolerLogin, exporterLogin } = postgresNames(metadata.name);
  return [
    ...(spec.pooler === undefined ? [] : [{ role: roles.pooler, secret: poolerLogin }]),
    ...(spec.monitoring === undefined ? [] : [{ role: roles.monitor, secret: exporterLogin }]),
  ];
}

/** `address`: of the primary. */
export async function observeLogins(
  cluster: Cluster<PostgresSpec>,
  address: string,
  io: EngineContext,
): Promise<readonly LoginSeen[]> {
  return await Promise.all(
    loginsWanted(cluster).map(async (wanted) => ({ ...wanted, state: await stateOf(cluster, wanted, address, io) })),
  );
}

async function stateOf(
  cluster: Cluster<PostgresSpec>,
  { role, secret }: LoginWanted,
  address: string,
  io: EngineContext,
): Promise<LoginSeen['state']> {
  if ((await io.secret(secret)) === undefined) return 'secret-missing';
  try {
    const password = await passwordIn(secret, cluster, io);
    const target = await passwordSession(cluster, address, { user: role, database: 'postgres', password }, io);
    await withSession(io, target, () => Promise.resolve());
    return 'well';
  } catch (error) {
    io.signal.throwIfAborted();
    if (!(error instanceof ServerError) || error.code !== invalidPassword) return 'unknown';
    return (await hasRole(cluster, role, address, io)) ? 'password-wrong' : 'role-missing';
  }
}

/** PostgreSQL says of a role that is not there that its password is wrong. */
async function hasRole(
  cluster: Cluster<PostgresSpec>,
  role: string,
  address: string,
  io: EngineContext,
): Promise<boolean> {
  try {
    const target = await operatorSession(cluster, address, io);
    const { isThere } = await withSession(io, target, (connection) => askOne(connection, roleQuestion(role)));
    return isThere;
  } catch {
    io.signal.throwIfAborted();
    // What it cannot say is found out when the password is set.
    return true;
  }
}

const roleQuestion = (role: string) =>
  question<{ readonly isThere: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = ${literal(role)}) AS "isThere"`,
    { isThere: boolean },
  );
