/** What an engine is given, over real connections and by the real clock: for tests beside real servers. */
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { EngineContext } from '../../src/engine/engine-context.ts';

/** @param secrets by name */
export function realContext(secrets: Readonly<Record<string, Readonly<Record<string, string>>>>): EngineContext {
  return {
    signal: new AbortController().signal,
    now: () => Date.now(),
    sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
    secret: async (name) => secrets[name],
    secretNow: async (name) => secrets[name],
    secretRefused: () => undefined,
    secretOutdated: () => undefined,
    serviceAccount: () => Promise.resolve(undefined),
    claim: () => Promise.reject(new Error('nobody here has claims')),
    exchange: () => Promise.reject(new Error('nobody here speaks HTTP')),
    dial: (host, port) =>
      new Promise<Duplex>((resolve, reject) => {
        const socket = connect({ host, port });
        socket.once('error', reject);
        socket.once('connect', () => resolve(socket));
      }),
  };
}
