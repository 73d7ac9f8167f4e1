/** A connection to a database process, in TLS where material is given. */
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { Endpoint } from '../../backup/members.ts';
import { dialTcp } from '../../system/dial.ts';
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
  if (tls === undefined) return plain;
  return await new Promise<Duplex>((resolve, reject) => {
    const { servername, ...material } = tls;
    const name = servername === undefined ? {} : { servername };
    const secured = connectTls({ socket: plain, host, ...material, ...name });
    const give = (error: Error): void => {
      plain.destroy();
      reject(error);
    };
    secured.once('error', give);
    signal.addEventListener('abort', () => give(signal.reason as Error), { once: true });
    plain.once('close', () => reject(new Error('the connection ended before TLS was agreed')));
    secured.once('secureConnect', () => {
      secured.off('error', give);
      resolve(secured);
    });
  });
}
