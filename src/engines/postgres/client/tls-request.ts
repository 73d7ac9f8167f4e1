/** The beginning of a connection that is to be secured: it is asked for in plain, and one byte answers. */
import type { Duplex } from 'node:stream';
import { tlsRequest } from './message.ts';
import { ProtocolError } from './message-decoder.ts';

/** The server offers no TLS. */
export class TlsRefused extends Error {
  override readonly name = 'TlsRefused';
}

/** Puts TLS on a stream, and checks the peer's certificate. */
export type Secure = (stream: Duplex) => Promise<Duplex>;

/**
 * The secured stream. Whatever comes with the answer was not written by the server that TLS proves, so a single byte too
 * many is refused: it would be read as if it had come within TLS.
 */
export async function securedBy(stream: Duplex, secure: Secure): Promise<Duplex> {
  const answer = await firstChunk(stream);
  if (answer.length !== 1) throw new ProtocolError('there is more than an answer to the request for TLS');
  switch (answer.toString('latin1')) {
    case 'S':
      return await secure(stream);
    case 'N':
      throw new TlsRefused('the server offers no TLS');
    default:
      throw new ProtocolError(`the request for TLS is answered with byte ${answer[0]}`);
  }
}

function firstChunk(stream: Duplex): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      stream.off('data', take).off('error', fail).off('close', end).off('end', end);
    };
    const take = (chunk: Buffer): void => {
      stream.pause();
      leave();
      resolve(chunk);
    };
    const fail = (error: Error): void => {
      leave();
      reject(error);
    };
    const end = (): void => fail(new Error('the connection to PostgreSQL has ended'));
    stream.on('data', take).on('error', fail).on('close', end).on('end', end);
    stream.write(tlsRequest());
  });
}
