/** The operator's roles that log in with a password: whether PostgreSQL knows the one in their Secret. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { passwordIn, passwordSession } from '../client/credentials.ts';
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
  readonly state: 'secret-missing' | 'password-wrong' | 'well' | 'unknown';
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
    return error instanceof ServerError && error.code === invalidPassword ? 'password-wrong' : 'unknown';
  }
}
