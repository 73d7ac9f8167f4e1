/**
 * Everything the controller ever asks of a Redis process. Each action is safe to repeat, and none of them chooses a
 * primary against the sentinels: `redis.promote` is planned only where none of them can know one.
 */

export interface Target {
  readonly pod: string;
  readonly address: string;
}

export type RedisAction =
  /** Makes a node primary: at first bootstrap, or after every process of the cluster has lost its address. */
  | { readonly type: 'redis.promote'; readonly node: Target }
  | { readonly type: 'redis.follow'; readonly node: Target; readonly primary: string }
  /** `replace` drops what the sentinel watched before, and will not give up by itself. */
  | { readonly type: 'redis.monitor'; readonly sentinel: Target; readonly primary: string; readonly replace: boolean }
  /** The password is always set along: a sentinel that was told of the primary and not of it can see nobody. */
  | {
      readonly type: 'redis.tuneSentinel';
      readonly sentinel: Target;
      readonly settings: Readonly<Record<string, string>>;
    }
  /** Makes a sentinel forget replicas and peers that are gone; it finds those that exist again within seconds. */
  | { readonly type: 'redis.forget'; readonly sentinel: Target }
  | { readonly type: 'redis.configure'; readonly node: Target; readonly settings: Readonly<Record<string, string>> }
  /** A failover that needs no quorum: only where too few sentinels are left for one, and a person has said so. */
  | { readonly type: 'redis.failover'; readonly sentinel: Target }
  /** Asks Sentinel for a planned failover, with writes paused until the replicas have everything. */
  | {
      readonly type: 'redis.handOver';
      readonly primary: Target;
      readonly replicas: readonly Target[];
      readonly sentinel: Target;
    };
