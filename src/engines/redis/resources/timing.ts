/**
 * Every time that follows from how long a node may be silent before it counts as down. The planner has them from here,
 * the scripts of the pods from files of the ConfigMap.
 *
 * A sentinel pings every second. So a cut-off primary counts as down a second and `downAfter` after its last answer, and
 * until then a node that no sentinel knows must have left it: what it acknowledges would be lost. It asks every second.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { durationMs } from '../../../api/duration.ts';
import type { RedisSpec } from '../kind/schema.ts';

export interface Timing {
  /** Without an answer for longer, a sentinel has missed one, and may be about to want another primary. */
  readonly missedMs: number;
  /** How often a sentinel asks the nodes what they know: Sentinel's own ten seconds are longer than it takes to lose one. */
  readonly infoPeriodMs: number;
  /**
   * From the pause of writes to the request for a failover. A paused primary does not answer its sentinels either: later, another of them may
   * begin a failover of its own, and two nodes would take writes.
   */
  readonly askWithinMs: number;
  /** How often a proxy asks each sentinel. It takes a sentinel for silent at the second answer that does not come. */
  readonly proxyAsksMs: number;
  readonly proxyAnswerMs: number;
  /** A node may join a primary and leave it in time. */
  readonly isEnoughToLeave: boolean;
}

/** Pings are timed by the sentinels' own clocks, and the request is on its way for a while. */
const askingMs = 500;

/** From here on the times below are those that the figures in the docs were measured with. */
const ampleMs = 3_000;

/** The longest way between two pings and back, in which nothing is missed. */
const leastMissedMs = 1_200;

export function timingOf({ spec }: Cluster<RedisSpec>): Timing {
  const downAfterMs = durationMs(spec.sentinel.downAfter);
  return {
    missedMs: Math.min(1_500, Math.max(leastMissedMs, Math.floor(downAfterMs / 2))),
    infoPeriodMs: Math.min(2_000, Math.floor((downAfterMs * 2) / 3)),
    askWithinMs: Math.min(3_000, downAfterMs - askingMs),
    proxyAsksMs: Math.min(250, Math.floor(downAfterMs / 8)),
    proxyAnswerMs: Math.min(1_000, Math.floor(downAfterMs / 4)),
    isEnoughToLeave: downAfterMs >= ampleMs,
  };
}
