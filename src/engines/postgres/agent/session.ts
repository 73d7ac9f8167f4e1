/** A session of the agent with one server, for commands of the replication protocol. */
import type { Duplex } from 'node:stream';
import type { Endpoint } from '../../../backup/members.ts';
import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { openConnection, placeOf } from '../../../engine/driver/connection.ts';
import { Failure } from '../../../engine/driver/failure.ts';
import { inTime } from '../../../engine/driver/wait.ts';
import type { TlsMaterial } from '../../../engine/engine-context.ts';
import { secured } from '../../../system/secured.ts';
import { type PostgresConnection, postgresConnection } from '../client/connection.ts';
import { logIn } from '../client/login.ts';
import { ProtocolError } from '../client/message-decoder.ts';
import { isPassing, ServerError } from '../client/server-error.ts';
import { securedBy } from '../client/tls-request.ts';
import { openWire, type Wire } from '../client/wire.ts';

const answerMs = 5_000;

/** A file of timelines grows by a line with each failover. */
const longestMessage = 1024 * 1024;

/** What all sessions of one task have in common. */
export interface PostgresAccess {
  readonly user: string;
  readonly password: string | undefined;
  readonly tls: TlsMaterial | undefined;
  readonly context: AgentContext;
}

export interface PostgresSession {
  readonly place: string;
  readonly connection: PostgresConnection;
}

/** @throws Failure SourceUnreachable, SourceRefused, SourceBroken; at the latest after ten seconds */
export async function openSession(endpoint: Endpoint, access: PostgresAccess): Promise<PostgresSession> {
  const { user, password, tls, context } = access;
  const place = placeOf(endpoint);
  const plain = await openConnection(endpoint, undefined, context);
  const opened = async (): Promise<PostgresConnection> => {
    const secure = (stream: Duplex): Promise<Duplex> =>
      secured(stream, endpoint.host, tls as TlsMaterial, context.signal);
    const stream = tls === undefined ? plain : await securedBy(plain, secure);
    const wire = inTimeOnly(openWire(stream, longestMessage), place, context);
    const login = { user, replication: 'true', ...(password === undefined ? {} : { password }) } as const;
    const parameters = await logIn(wire, login, context.random(18).toString('base64'));
    return postgresConnection(wire, parameters, { bytes: longestMessage, rows: 1024 });
  };
  const patience = { ...context, idleMs: Math.min(answerMs, context.idleMs) };
  const late = (): Failure => new Failure('SourceUnreachable', `${place} does not answer`);
  try {
    return { place, connection: await inTime(opened(), patience, late) };
  } catch (error) {
    plain.destroy();
    throw postgresFailure(error, place, context);
  }
}

/** The same, of which every wait ends. */
function inTimeOnly(wire: Wire, place: string, context: AgentContext): Wire {
  const late = (): Failure => new Failure('SourceUnreachable', `${place} sent nothing for ${context.idleMs} ms`);
  return { ...wire, next: () => inTime(wire.next(), context, late) };
}

/** A server that starts, or has no connection to spare, is another one later; a wrong password stays one. */
export function postgresFailure(error: unknown, place: string, { signal }: Pick<AgentContext, 'signal'>): unknown {
  signal.throwIfAborted();
  if (error instanceof Failure) return error;
  if (error instanceof ServerError) {
    return new Failure(isPassing(error) ? 'SourceBroken' : 'SourceRefused', `${place} refuses`, { cause: error });
  }
  // Who does not prove that it knows the password is no member.
  if (error instanceof ProtocolError) return new Failure('SourceBroken', `${place} does not do`, { cause: error });
  return new Failure('SourceBroken', `the connection to ${place} broke`, { cause: error });
}
