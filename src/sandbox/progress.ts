/**
 * Tells what is being done, how far it is and for how long.
 *
 * On a terminal one line is rewritten until its step ends; elsewhere a step prints a line when it begins, one every
 * 15 s, and one when it ends. Steps run one after another; a step that fails says so and lets its error pass.
 */
import { type Clock, systemClock } from '../system/clock.ts';

export interface Step {
  /** Replaces what is shown beside the title, for example `412 of 1204 packages`. */
  report(detail: string): void;
}

export interface Progress {
  step<T>(title: string, work: (step: Step) => Promise<T>): Promise<T>;
  /** One line of its own, between steps or during one. */
  note(text: string): void;
}

/** The part of `process.stderr` that is used. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ProgressOptions {
  /** Default `process.stderr`: standard output belongs to results. */
  readonly stream?: ProgressStream;
  readonly clock?: Clock;
  readonly env?: NodeJS.ProcessEnv;
}

const rewriteEvery = 120;
const printEvery = 15_000;
const clearLine = '\r\u001b[K';
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** A terminal that can rewrite a line, and no CI job that only looks like one. */
export function isInteractive(stream: ProgressStream, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb' && (env.CI ?? '') === '';
}

export function createProgress(options: ProgressOptions = {}): Progress {
  const stream = options.stream ?? process.stderr;
  const clock = options.clock ?? systemClock;
  return isInteractive(stream, options.env ?? process.env) ? terminal(stream, clock) : plain(stream, clock);
}

/** Says nothing. */
export const silent: Progress = {
  step: (_title, work) => work({ report: () => undefined }),
  note: () => undefined,
};

function terminal(stream: ProgressStream, clock: Clock): Progress {
  let line = '';
  return {
    async step(title, work) {
      const started = clock.monotonic();
      let detail = '';
      let frame = 0;
      const draw = (): void => {
        const parts = [`${frames[frame % frames.length]} ${title}`, detail, duration(clock.monotonic() - started)];
        line = parts
          .filter((part) => part !== '')
          .join('  ')
          .slice(0, (stream.columns ?? 80) - 1);
        stream.write(clearLine + line);
      };
      const stop = every(clock, rewriteEvery, () => {
        frame += 1;
        draw();
      });
      const end = (mark: string): void => {
        stop();
        line = '';
        stream.write(`${clearLine}${mark} ${title}  ${duration(clock.monotonic() - started)}\n`);
      };
      draw();
      return await settle(
        work({
          report: (text) => {
            detail = text;
          },
        }),
        () => end('✓'),
        () => end('✗'),
      );
    },
    note: (text) => stream.write(`${clearLine}${text}\n${line}`),
  };
}

function plain(stream: ProgressStream, clock: Clock): Progress {
  return {
    async step(title, work) {
      const started = clock.monotonic();
      const elapsed = (): string => duration(clock.monotonic() - started);
      let detail = '';
      stream.write(`${title} ...\n`);
      const stop = every(clock, printEvery, () =>
        stream.write(`  ${title}: ${[detail, elapsed()].filter((part) => part !== '').join(', ')}\n`),
      );
      const end = (outcome: string): void => {
        stop();
        stream.write(`${title}: ${outcome} ${elapsed()}\n`);
      };
      return await settle(
        work({
          report: (text) => {
            detail = text;
          },
        }),
        () => end('done in'),
        () => end('failed after'),
      );
    },
    note: (text) => stream.write(`${text}\n`),
  };
}

async function settle<T>(work: Promise<T>, done: () => void, failed: () => void): Promise<T> {
  try {
    const value = await work;
    done();
    return value;
  } catch (error) {
    failed();
    throw error;
  }
}

function every(clock: Clock, ms: number, call: () => void): () => void {
  let cancel = clock.after(ms, function again() {
    cancel = clock.after(ms, again);
    call();
  });
  return () => cancel();
}

/** `0.4 s`, `12 s`, `3 min 05 s`. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}
