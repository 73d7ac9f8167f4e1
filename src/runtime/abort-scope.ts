/**
 * An abort signal that follows its parents and can also be aborted by itself.
 *
 * `AbortSignal.any` would do the first half, but a child stays tied to a long-lived parent: on Node 20 one that is asked
 * for every ten seconds never goes. Here `dispose` cuts the tie at once.
 */

import { setMaxListeners } from 'node:events';

export interface AbortScope {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops following the parents. Does not abort. */
  dispose(): void;
}

export function createAbortScope(...parents: readonly (AbortSignal | undefined)[]): AbortScope {
  const controller = new AbortController();
  // All connections of a pass listen to its signal: many are no leak.
  setMaxListeners(Number.POSITIVE_INFINITY, controller.signal);
  const followed = parents.filter((parent) => parent !== undefined);
  const follow = ({ target }: Event): void => controller.abort((target as AbortSignal).reason);
  const aborted = followed.find((parent) => parent.aborted);
  if (aborted !== undefined) controller.abort(aborted.reason);
  else for (const parent of followed) parent.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    dispose: () => {
      for (const parent of followed) parent.removeEventListener('abort', follow);
    },
  };
}
