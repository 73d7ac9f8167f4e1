/**
 * Notices a watch whose connection has died without a word, which no socket error reports.
 *
 * Three limits on silence: while initial events are awaited, a server that knows them sends something within seconds;
 * one that has sent a periodic bookmark sends one every minute; and no server keeps a watch beyond the time-out that it
 * was asked for. Each only cuts the connection, and resuming costs one request.
 */
import type { Clock } from '../system/clock.ts';

const INITIAL_SILENCE_MS = 15_000;
/** Two and a half times the minute between bookmarks. */
const BOOKMARK_SILENCE_MS = 150_000;
const GRACE_MS = 30_000;

/** `initial`: the end of the initial events never came. */
export class WatchSilent extends Error {
  readonly code = 'WatchSilent';
  readonly initial: boolean;

  constructor(silenceMs: number, initial: boolean) {
    super(`nothing came through the watch for ${silenceMs / 1000} s`);
    this.name = 'WatchSilent';
    this.initial = initial;
  }
}

export interface Watchdog {
  /** An event came. `periodic`: it was a bookmark other than that which ends the initial events. */
  heard(periodic: boolean): void;
  initialDone(): void;
  stop(): void;
}

/** Starts at once; `onSilence` is called at most once. */
export function createWatchdog(
  clock: Clock,
  timeoutSeconds: number,
  awaitsInitial: boolean,
  onSilence: (silent: WatchSilent) => void,
): Watchdog {
  let initial = awaitsInitial;
  let bookmarks = false;
  let cancel: () => void = () => undefined;

  const restart = (): void => {
    cancel();
    const limit = initial ? INITIAL_SILENCE_MS : bookmarks ? BOOKMARK_SILENCE_MS : timeoutSeconds * 1000 + GRACE_MS;
    cancel = clock.after(limit, () => onSilence(new WatchSilent(limit, initial)));
  };

  restart();
  return {
    heard(periodic) {
      bookmarks ||= periodic;
      restart();
    },
    initialDone() {
      initial = false;
      restart();
    },
    stop: () => cancel(),
  };
}
