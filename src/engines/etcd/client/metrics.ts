/** What a member's metrics say. It tells them from its start on, whether it serves clients or not, and to everybody. */
import type { EngineContext } from '../../../engine/engine-context.ts';
import { within } from '../../../engine/within.ts';
import { metricsPort } from '../names.ts';
import { answerTimeoutMs } from './gateway.ts';

/** Those lines that match; undefined where it tells none. Rejects after a second. */
export async function metricsOf(host: string, lines: RegExp, io: EngineContext): Promise<string | undefined> {
  const request = { host, port: metricsPort, method: 'GET', path: '/metrics', lines } as const;
  const { status, body } = await within(io, answerTimeoutMs, `${host} (GET /metrics)`, (signal) =>
    io.exchange({ ...request, signal }),
  );
  return status === 200 ? body : undefined;
}
