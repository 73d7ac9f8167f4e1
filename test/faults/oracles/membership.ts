/** O6: never two members that take writes, never a member short of what the fault itself takes away. */
import type { Oracle } from '../record.ts';

export const membership: Oracle = {
  id: 'O6',
  promise: 'clients never meet two primaries, and no quorum is given up',
  check: ({ membership: found }) => found,
};
