/** What plans for a database and for a user have in common. */
import type { Cluster } from '../../../api/cluster.ts';
import { type ActStep, type ObjectStep, type Outcome, type Plan, settled, wait } from '../../../plan/plan.ts';
import type { ContentAction } from '../action.ts';

export type ContentPlan = Plan<ContentAction>;
export type ContentStep = ActStep<ContentAction>;

const changeMs = 1000;
const refusedMs = 60_000;
export const recheckMs = 5000;

/** A statement, or several that are one transaction. */
export interface Statement {
  readonly summary: string;
  readonly database: string;
  readonly sql: string;
  readonly manual?: string;
}

export function runStep(address: string, { summary, ...statement }: Statement): ContentStep {
  return { type: 'act', action: { type: 'postgres.run', address, ...statement }, summary };
}

/** While PostgreSQL has refused something, everything is asked for again once a minute, and the status says what it said. */
export function planWith(
  resource: Cluster,
  steps: readonly (ContentStep | ObjectStep)[],
  outcome: Outcome = settled,
): ContentPlan {
  if (steps.length === 0) return { steps, outcome };
  const refused = resource.status?.conditions?.find(({ type }) => type === 'StatementRefused');
  if (refused === undefined || refused.observedGeneration !== resource.metadata.generation)
    return { steps, outcome: wait('Updating', 'changes are being made', changeMs) };
  return {
    steps: steps.map((step) => (step.type === 'act' ? { ...step, unhurried: true } : step)),
    outcome: wait('StatementRefused', refused.message, refusedMs),
  };
}

export function unreachable(why: string): ContentPlan {
  return { steps: [], outcome: wait('NotObserved', why, recheckMs) };
}

/** Why a resource may not touch what has its name. `what`: `database shop`. */
export function notOurs(
  what: string,
  { kind, metadata }: Cluster,
  {
    exists,
    madeFor,
    adopt,
  }: { readonly exists: boolean; readonly madeFor: string | undefined; readonly adopt: boolean },
): string | undefined {
  if (!exists || adopt || madeFor === metadata.name) return undefined;
  return madeFor === undefined
    ? `${what} exists and was not created for this ${kind}: to manage it all the same, set spec.adopt to true`
    : `${what} was created for ${kind} ${madeFor}: to manage it here, delete that one and set spec.adopt to true`;
}
