/**
 * O13: what is done is what is shown. Each write and each action was in the plan that the CLI makes from the same state.
 * How that is found out is in `../foresight`.
 */
import type { Oracle } from '../record.ts';

export const foresight: Oracle = {
  id: 'O13',
  promise: 'each write and each action was in the plan made from the same state',
  check: ({ unforeseen }) => unforeseen.slice(0, 5),
};
