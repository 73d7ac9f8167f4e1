/** A plan of this engine, or a part of one. */
import type { Plan } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';

export type PostgresPlan = Plan<PostgresAction>;
