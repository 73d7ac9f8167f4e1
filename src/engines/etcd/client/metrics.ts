/** What a member's metrics say. It tells them from its start on, whether it serves clients or not, and to everybody. */
import type { EngineContext } from '../../../engine/engine-context.ts';
import { metricsPort } from '../names.ts';
import { answerTimeoutMs } from './gateway.ts';

/** Those lines that match; undefined where it tells none. Rejects after a second. */
export async function metricsOf(host: string, lines: RegExp, io: EngineContext): Promise<string | undefined> {
  const over = new AbortController();
  const late = io.sleep(answerTimeoutMs, over.signal).then(
    () => over.abort(new Error(`${host} did not tell its metrics within ${answerTimeoutMs} ms`)),
    () => undefined,
  );
  try {
    const request = { host, port: metricsPort, method: 'GET', path: '/metrics', lines } as const;
    const { status, body } = await io.exchange({ ...request, signal: over.signal });
    return status === 200 ? body : undefined;
  } finally {
    over.abort(new Error('the call is over'));
    await late;
  }
}
