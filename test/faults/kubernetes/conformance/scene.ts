/** A scene over any transport: requests as JSON, watches gathered as they come, waiting by a clock. */

import type { Transport } from '../../../../src/runtime/transport.ts';
import { type Clock, sleep } from '../../../../src/system/clock.ts';
import type { Answer, CallOptions, Json, OpenWatch, Scene, WatchFrame } from './conformance-case.ts';

const types = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  'json-patch': 'application/json-patch+json',
} as const;

export interface SceneOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly namespace: string;
  readonly container: Json;
  /** Of its clock. */
  readonly patienceMs: number;
}

export function sceneOn({ transport, clock, namespace, container, patienceMs }: SceneOptions): Scene {
  async function until<T>(what: string, ask: () => Promise<T> | T): Promise<T> {
    const deadline = clock.monotonic() + patienceMs;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (clock.monotonic() > deadline) {
          if (error instanceof Error) error.message = `${what}: not within ${patienceMs / 1000} s\n${error.message}`;
          throw error;
        }
      }
      await sleep(clock, 50);
    }
  }

  async function call(method: Parameters<Scene['call']>[0], path: string, options: CallOptions = {}): Promise<Answer> {
    const { body, query, type } = options;
    const response = await transport.request({
      method,
      path,
      ...(query === undefined ? {} : { query }),
      headers: { 'content-type': type === undefined ? 'application/json' : types[type] },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.parse(response.body) as Json };
  }

  async function watch(path: string, query: Readonly<Record<string, string>> = {}): Promise<OpenWatch> {
    const closing = new AbortController();
    const response = await transport.stream({
      method: 'GET',
      path,
      query: { watch: 'true', ...query },
      signal: closing.signal,
    });
    const frames: WatchFrame[] = [];
    let hasEnded = false;
    const reading = gather(response.body, frames).finally(() => {
      hasEnded = true;
    });
    // Closing it is no failure, and any other shows in what is missing.
    reading.catch(() => undefined);
    const events = (): readonly WatchFrame[] => frames.filter(({ type }) => type !== 'BOOKMARK');
    return {
      status: response.status,
      frames,
      seen: (count) =>
        until(`${count} events`, () => {
          if (events().length < count) throw new Error(`only ${JSON.stringify(events().map(({ type }) => type))}`);
          return events().map(({ type, object }) => `${type} ${object.metadata.name}`);
        }),
      get hasEnded() {
        return hasEnded;
      },
      close: () => closing.abort(),
    };
  }

  return { namespace, container, call, watch, until, pause: (ms) => sleep(clock, ms) };
}

async function gather(body: AsyncIterable<Uint8Array>, frames: WatchFrame[]): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') frames.push(JSON.parse(line) as WatchFrame);
  }
}
