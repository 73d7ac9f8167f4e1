import { blocked, type Plan } from '../plan/plan.ts';

/** There is an object of the name we need, and it is not ours: the message names it, and its owner. */
export class NameConflict extends Error {
  readonly code = 'NameConflict';
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NameConflict';
  }
}

/** Nothing is done until one of the two has another name. */
export function conflictPlan({ message }: NameConflict): Plan {
  return { steps: [], outcome: blocked('NameConflict', message) };
}
