/** PgBouncer's console: a database of its own name, which knows a few commands and no SQL. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext, TlsMaterial } from '../../../engine/engine-context.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { poolerPort, roles } from '../names.ts';
import { operatorTls, poolerServerName, SecretUnusable } from './credentials.ts';
import { ask, question, text } from './question.ts';
import { type SessionTarget, withSession } from './session.ts';

/** How long the transactions that run may go on before a pause is given up. */
export const pauseTimeoutMs = 8000;

/** Whose certificate it shows, and for which name. */
async function shownBy(cluster: Cluster<PostgresSpec>, io: EngineContext): Promise<Partial<TlsMaterial>> {
  const { secretRef: { name } = {}, serverName: servername = poolerServerName(cluster) } =
    cluster.spec.pooler?.tls ?? {};
  if (name === undefined) return { servername };
  const ca = (await io.secret(name))?.['ca.crt'];
  if (ca === undefined) throw new SecretUnusable(`Secret ${name} has no key ca.crt`);
  return { servername, ca };
}

async function consoleOf(
  cluster: Cluster<PostgresSpec>,
  address: string,
  io: EngineContext,
  timeoutMs?: number,
): Promise<SessionTarget> {
  return {
    address,
    port: poolerPort,
    login: { user: roles.operator, database: 'pgbouncer' },
    tls: { ...(await operatorTls(cluster, io)), ...(await shownBy(cluster, io)) },
    isConsole: true,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

const state = question<{ readonly key: string; readonly value: string }>('SHOW STATE', { key: text, value: text });

export async function isPaused(cluster: Cluster<PostgresSpec>, address: string, io: EngineContext): Promise<boolean> {
  const rows = await withSession(io, await consoleOf(cluster, address, io), (connection) => ask(connection, state));
  return rows.some(({ key, value }) => key === 'paused' && value === 'yes');
}

/** Resolves when no server connection is left. From the command on, clients wait. Rejects where transactions go on for too long. */
export async function pausePooler(cluster: Cluster<PostgresSpec>, address: string, io: EngineContext): Promise<void> {
  const target = await consoleOf(cluster, address, io, pauseTimeoutMs);
  await withSession(io, target, (connection) => connection.query('PAUSE'));
}

export async function resumePooler(cluster: Cluster<PostgresSpec>, address: string, io: EngineContext): Promise<void> {
  const target = await consoleOf(cluster, address, io);
  await withSession(io, target, (connection) => connection.query('RESUME'));
}
