/**
 * The controller with one defect put in on purpose: the harness is worth as much as it finds.
 *
 * A mutant is data: which text of which source file becomes which other text. The text must be there exactly once, so a
 * mutant whose place has moved fails to build instead of testing nothing.
 */
import type { FaultClass } from '../plan.ts';

export interface Edit {
  /** Below `src/`. What runs in pods is `../test/faults/redis/scripts/...`, the translation that stands in for it. */
  readonly file: string;
  /** Is there exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly id: string;
  /** What the defect is, as one would tell it of a project that had it. */
  readonly defect: string;
  /** Where such a defect was seen; undefined for one that is only feared. */
  readonly seen?: string;
  readonly edits: readonly Edit[];
  /** Runs that are tried before all others: files of `test/faults/plans`, without their ending. */
  readonly plans?: readonly string[];
  /** Where to look for it. */
  readonly scenarios: readonly string[];
  readonly classes: readonly FaultClass[];
  /** The oracle that has to find it. Others may, too. */
  readonly oracle: string;
}
