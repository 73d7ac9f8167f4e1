/** The world of an engine in a test: nobody answers and nothing is there, but for what the test gives. */
import type { EngineContext } from '../engine/engine-context.ts';

/** Noon on a day in the future: whatever has a date is in the past. */
const noon = Date.UTC(2030, 0, 1, 12);

/** A wait does not end: whoever waits for an answer is refused at once, so no test needs a clock. */
export function silentContext(given: Partial<EngineContext> = {}): EngineContext {
  const refuse = (host: string, port: number): Promise<never> =>
    Promise.reject(new Error(`connect ECONNREFUSED ${host}:${port}`));
  return {
    dial: refuse,
    exchange: ({ host, port }) => refuse(host, port),
    secret: () => Promise.resolve(undefined),
    secretNow: () => Promise.resolve(undefined),
    secretRefused: () => undefined,
    secretOutdated: () => undefined,
    claim: () => Promise.resolve(undefined),
    serviceAccount: () => Promise.resolve(undefined),
    signal: new AbortController().signal,
    now: () => noon,
    sleep: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
    ...given,
  };
}
