/** A plan of this engine, or a part of one. */
import type { Plan } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';

export interface PostgresPlan extends Plan<PostgresAction> {
  /** It restarts servers for their settings, or begins a major upgrade: both can wait. */
  readonly canWait?: true;
}
