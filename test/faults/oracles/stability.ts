/** O1: once the fault is over, the cluster becomes what its spec says, and then the operator is at rest. */
import type { Oracle } from '../record.ts';

export const stability: Oracle = {
  id: 'O1',
  promise: 'it becomes ready for the current generation, and then nothing is written any more',
  check: ({ settled, complaints, restless }) => [
    ...(settled ? [] : [`it did not settle: ${complaints.slice(0, 3).join('; ')}`]),
    ...(restless.length === 0 ? [] : [`${restless.length} writes at rest, such as ${restless.slice(0, 3).join(', ')}`]),
  ],
};
