/** O5: what was acknowledged can be read at the end, and so can what a backup was taken of. */
import type { Oracle } from '../record.ts';

export const data: Oracle = {
  id: 'O5',
  promise: 'no acknowledged write is lost, in the cluster or in a backup',
  check: ({ ledger, vault }) => [
    ...(ledger === undefined || ledger.lost.length === 0
      ? []
      : [`${ledger.lost.length} of ${ledger.acknowledged} acknowledged writes are lost, such as ${ledger.lost[0]}`]),
    ...vault.lost,
  ],
};
