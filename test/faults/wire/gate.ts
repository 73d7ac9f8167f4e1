/**
 * One open watch, between the server and the operator: frames pass one by one, and can be held, delayed, repeated, lost
 * with the connection, or answered with an error.
 *
 * Frames of one watch never overtake each other: no server does that.
 */
import { ApiUnreachable } from '../../../src/runtime/api-error.ts';
import { type Clock, sleep } from '../../../src/system/clock.ts';
import { createLineSplitter } from '../../../src/system/line-splitter.ts';

export type GateEnd = 'close' | 'reset' | 'hang' | 'expire';

export interface Gate {
  readonly resource: string;
  /** Frames wait from now on. */
  hold(): void;
  /** Waiting frames pass; `forgotten`: they are dropped, and the watch ends with 410. */
  release(how: 'passed' | 'forgotten'): void;
  /** The last frames that passed pass again. */
  replay(count: number): void;
  /** Nothing of the server passes any more. A connection ends once: what is said of it later changes nothing. */
  end(how: GateEnd): void;
  /** It ended without a word, and its reader has yet to notice. */
  readonly hangs: boolean;
}

export interface GateOptions {
  readonly resource: string;
  readonly path: string;
  readonly clock: Clock;
  readonly delayMs: number;
  /** Milliseconds for which the reader stands still from now on; none when not positive. */
  readonly pausedMs: () => number;
  readonly signal: AbortSignal | undefined;
}

interface Frame {
  readonly text: string;
  readonly due: number;
}

/** The frames of a watch as a server writes them, without their line ends. */
export type Frames = AsyncIterable<string>;

export async function* framesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const splitter = createLineSplitter();
  for await (const chunk of chunks) yield* splitter.push(chunk);
}

const expired = JSON.stringify({
  type: 'ERROR',
  object: {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: 410,
    reason: 'Expired',
    message: 'The resourceVersion for the provided watch is too old.',
  },
});

/** How many frames are remembered for a replay. */
const remembered = 50;

export function gateOf(source: Frames, options: GateOptions): { gate: Gate; body: AsyncGenerator<Uint8Array> } {
  const { resource, path, clock, delayMs, pausedMs, signal } = options;
  const waiting: Frame[] = [];
  const passed: string[] = [];
  let held = false;
  let ended: GateEnd | undefined;
  let drained: { readonly error?: unknown } | undefined;
  let wake: () => void = () => undefined;

  const nudge = (): void => wake();
  const gate: Gate = {
    resource,
    hold() {
      held = true;
    },
    release(how) {
      held = false;
      if (how === 'forgotten') gate.end('expire');
      nudge();
    },
    replay(count) {
      waiting.push(...passed.slice(-count).map((text) => ({ text, due: clock.monotonic() })));
      nudge();
    },
    end(how) {
      ended ??= how;
      nudge();
    },
    get hangs() {
      return ended === 'hang';
    },
  };

  async function drain(): Promise<void> {
    try {
      for await (const text of source) {
        waiting.push({ text, due: clock.monotonic() + delayMs });
        nudge();
      }
      drained = {};
    } catch (error) {
      drained = { error };
    }
    nudge();
  }

  function news(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve;
    });
  }

  /** What the connection shows when the gate was ended. */
  async function* lastWords(how: GateEnd): AsyncGenerator<Uint8Array> {
    switch (how) {
      case 'close':
        return;
      case 'expire':
        yield Buffer.from(`${expired}\n`);
        return;
      case 'reset': {
        const text = waiting[0]?.text ?? passed.at(-1) ?? expired;
        yield Buffer.from(text.slice(0, text.length >> 1));
        throw new ApiUnreachable('WATCH', path, true, new Error('the connection was reset'));
      }
      case 'hang':
        while (signal?.aborted !== true) await news();
        return;
      default:
        return how satisfies never;
    }
  }

  async function* body(): AsyncGenerator<Uint8Array> {
    signal?.addEventListener('abort', nudge, { once: true });
    void drain();
    for (;;) {
      signal?.throwIfAborted();
      const frame = held ? undefined : waiting[0];
      if (ended !== undefined) {
        yield* lastWords(ended);
        signal?.throwIfAborted();
        return;
      }
      if (frame === undefined) {
        if (!held && drained !== undefined) {
          if (drained.error !== undefined) throw drained.error;
          return;
        }
        await news();
      } else if (pausedMs() > 0) {
        await sleep(clock, pausedMs(), signal);
      } else if (frame.due > clock.monotonic()) {
        await sleep(clock, frame.due - clock.monotonic(), signal);
      } else {
        waiting.shift();
        passed.push(frame.text);
        if (passed.length > remembered) passed.shift();
        yield Buffer.from(`${frame.text}\n`);
      }
    }
  }
  return { gate, body: body() };
}
