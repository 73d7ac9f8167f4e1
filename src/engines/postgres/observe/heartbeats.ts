/** What Patroni writes every few seconds: to the lock, and to the pod of each member. */
import type { Heartbeats } from '../../../engine/engine.ts';

/** Of `status`, on a pod: how far the member is. */
const positions = ['xlog_location', 'receive_lsn', 'replay_lsn'] as const;

const nothing = (): undefined => undefined;

/** The rest of `status` tells what no other watch does: who streams, on which timeline, and who waits for a restart. */
function withoutPositions(status: string): string {
  try {
    const fields: unknown = JSON.parse(status);
    if (typeof fields !== 'object' || fields === null) return status;
    return JSON.stringify({ ...fields, ...Object.fromEntries(positions.map((name) => [name, undefined])) });
  } catch {
    // Not of Patroni: any change of it counts.
    return status;
  }
}

export const heartbeats: Heartbeats = {
  optime: nothing,
  renewTime: nothing,
  slots: nothing,
  status: withoutPositions,
};
