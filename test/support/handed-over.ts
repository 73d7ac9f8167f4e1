/**
 * A planned change of primary on a busy machine: the action that was refused has left the primary in its place, and is asked for again, as the
 * operator does it.
 */
import { until } from './until.ts';

/** A sentinel that stood still, or has not asked a node since it is back; somebody who was not heard in time. */
const passing = /TILT|NOGOODSLAVE|did not (catch up|hear)|for more than/;

/** Any other refusal rejects at once. */
export async function handedOver(handOver: () => Promise<void>): Promise<void> {
  const refusal = await until('the primary is handed over', () =>
    handOver().catch((error: Error) => {
      if (passing.test(error.message)) throw error;
      return error;
    }),
  );
  if (refusal !== undefined) throw refusal;
}
