/** What the steps of an import are about. */
import type { Outcome, Step } from '../../../plan/plan.ts';
import type { Claim } from '../../../resources/children.ts';
import type { RedisAction } from '../action.ts';
import type { ImportSource } from '../kind/source.ts';
import type { DataNode } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import type { ImportSeen } from '../observe/source.ts';

/** No watch tells how far it is. */
export const followMs = 5000;

export interface ImportPlan {
  readonly steps: readonly Step<RedisAction>[];
  readonly outcome: Outcome;
}

/** All that the steps of an import are about. */
export interface Import {
  readonly situation: Situation;
  readonly source: ImportSource;
  readonly node: DataNode & { readonly imports: ImportSeen };
  readonly claim: Claim;
}
