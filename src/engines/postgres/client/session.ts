/** Sessions of the operator with one server, each for one question or one action. */
import { randomBytes } from 'node:crypto';
import { longestAnswerBytes } from '../../../api/bounds.ts';
import type { EngineContext, TlsMaterial } from '../../../engine/engine-context.ts';
import { within } from '../../../engine/within.ts';
import { fingerprintOf, secured } from '../../../system/secured.ts';
import { type PostgresConnection, postgresConnection } from './connection.ts';
import { type Login, logIn } from './login.ts';
import { securedBy } from './tls-request.ts';
import { openWire } from './wire.ts';

/** Time in which a server must let in and answer everything that it is asked. */
export const answerTimeoutMs = 1000;
/** Time to connect: the kernel accepts for a busy process. */
const connectTimeoutMs = 300;

const bounds = { bytes: longestAnswerBytes, rows: 512 } as const;

export interface SessionTarget {
  readonly address: string;
  readonly port: number;
  readonly login: Login;
  /** Absent: the connection is not secured. */
  readonly tls?: TlsMaterial;
  /** Default: 1 s. */
  readonly timeoutMs?: number;
  /** It speaks to a console, which knows no settings. */
  readonly isConsole?: true;
}

/** Of a session that only observes: the server itself refuses to change anything. */
export const readOnly = { default_transaction_read_only: 'on' } as const;

/**
 * Runs `talk` on a fresh connection, all within the time. The server gives up what we no longer wait for. `shown`: fingerprint of the
 * certificate that the server has shown, where it has.
 */
export async function withSession<T>(
  io: Pick<EngineContext, 'dial' | 'sleep' | 'secure' | 'nonce'>,
  { address, port, login, tls, timeoutMs = answerTimeoutMs, isConsole }: SessionTarget,
  talk: (connection: PostgresConnection, shown: string | undefined) => Promise<T>,
): Promise<T> {
  const place = `${address}:${port}`;
  const plain = await within(io, connectTimeoutMs, place, (signal) => io.dial(address, port, signal));
  // A reader gets the error. While nothing reads, an error without a listener would end the process.
  plain.on('error', () => undefined);
  let connection: PostgresConnection | undefined;
  try {
    return await within(io, timeoutMs, place, async (signal) => {
      const { secure = secured } = io;
      const stream = tls === undefined ? plain : await securedBy(plain, (open) => secure(open, address, tls, signal));
      const wire = openWire(stream, longestAnswerBytes);
      const ours = isConsole ? {} : { search_path: 'pg_catalog', statement_timeout: String(timeoutMs) };
      const settings = { ...ours, ...login.settings };
      const own = io.nonce?.(`${login.user}@${place}`) ?? nonce();
      const parameters = await logIn(wire, { ...login, settings }, own);
      const opened = postgresConnection(wire, parameters, bounds);
      connection = opened;
      return await talk(opened, fingerprintOf(stream));
    });
  } finally {
    if (connection === undefined) plain.destroy();
    else connection.close();
  }
}

/** Printable, without a comma. */
export function nonce(): string {
  return randomBytes(18).toString('base64');
}
