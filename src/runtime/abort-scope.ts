/**
 * An abort signal that follows a parent and can also be aborted by itself.
 *
 * `AbortSignal.any` would do the first half, but ties every short-lived child to its long-lived parent until the garbage
 * collector runs; here `dispose` cuts the tie at once.
 */

export interface AbortScope {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops following the parent. Does not abort. */
  dispose(): void;
}

export function createAbortScope(parent?: AbortSignal): AbortScope {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent?.reason);
  if (parent?.aborted) follow();
  else parent?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    dispose: () => parent?.removeEventListener('abort', follow),
  };
}
