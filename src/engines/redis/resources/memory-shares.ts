/**
 * How the memory of a data node is divided: data fills 60 % of the limit. A fork for an append-only rewrite copies every page
 * that changes meanwhile, and the buffers of replicas and clients come on top (safety rule R10), so each of them is bounded by
 * a share, too.
 */

/** Share of the container's memory limit that data may fill. */
export const dataShareOfLimit = 0.6;
export const mebibyte = 1024 ** 2;

export interface MemoryShares {
  readonly maxmemory: string;
  readonly 'maxmemory-clients': string;
  readonly 'repl-backlog-size': string;
  readonly 'client-output-buffer-limit': string;
}

/**
 * In bytes. Since Redis 7.0 the replicas and the backlog share one buffer, so the backlog is no more on top. A replica that
 * is far behind is cut off by the soft limit after a minute and by the hard one at once; it comes back with a new copy.
 */
export function memoryShares(limit: number): MemoryShares {
  const share = (parts: number): number => Math.max(mebibyte, Math.floor(limit / parts));
  return {
    maxmemory: String(Math.floor(limit * dataShareOfLimit)),
    'maxmemory-clients': String(share(8)),
    'repl-backlog-size': String(Math.min(256 * mebibyte, share(32))),
    'client-output-buffer-limit': `replica ${share(8)} ${share(16)} 60`,
  };
}
