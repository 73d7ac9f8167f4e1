/** A connection to a database process, in TLS where material is given. */
import type { Duplex } from 'node:stream';
import type { Endpoint } from '../../backup/members.ts';
import { dialTcp } from '../../system/dial.ts';
import { secured } from '../../system/secured.ts';
import type { TlsMaterial } from '../engine-context.ts';
import { Failure } from './failure.ts';
import { inTime, type Patience } from './wait.ts';

const connectMs = 5_000;

export const placeOf = ({ host, port }: Endpoint): string => `${host}:${port}`;

/** @throws Failure SourceUnreachable */
export async function openConnection(
  endpoint: Endpoint,
  tls: TlsMaterial | undefined,
  patience: Patience,
): Promise<Duplex> {
  const place = placeOf(endpoint);
  const over = new AbortController();
  const opening = open(endpoint, tls, AbortSignal.any([over.signal, patience.signal]));
  const late = (): Failure => new Failure('SourceUnreachable', `${place} does not answer`);
  try {
    const socket = await inTime(opening, { ...patience, idleMs: Math.min(connectMs, patience.idleMs) }, late);
    // Whoever reads it learns of an error; while nobody does, it must not end the process.
    socket.on('error', () => undefined);
    return socket;
  } catch (error) {
    over.abort(error);
    if (error instanceof Failure) throw error;
    throw new Failure('SourceUnreachable', `${place} cannot be reached`, { cause: error });
  }
}

async function open({ host, port }: Endpoint, tls: TlsMaterial | undefined, signal: AbortSignal): Promise<Duplex> {
  const plain = await dialTcp(host, port, signal);
  return tls === undefined ? plain : await secured(plain, host, tls, signal);
}
