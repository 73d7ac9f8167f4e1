/**
 * The database refused one thing of several that it was asked, in words of its own: nothing is half done, and nothing
 * else waits for it. The condition says what was refused until it is taken, or no longer asked for.
 */
import { shortened } from '../api/bounds.ts';
import type { ConditionType, DesiredCondition } from '../api/condition.ts';

/** Of a database's answer, as much as a status shows. */
const longestRefusal = 200;

export class Refused extends Error {
  override readonly name = 'Refused';
  readonly condition: ConditionType;
  constructor(condition: ConditionType, message: string) {
    super(shortened(message));
    this.condition = condition;
  }
}

/** An answer of a process is foreign text: cut to what a person needs of it. */
export function boundedAnswer(answer: string): string {
  return shortened(answer, longestRefusal);
}

/** One condition for each type that is refused, with what each process said. */
export function refusalClaims(refusals: readonly Refused[]): DesiredCondition[] {
  const types = [...new Set(refusals.map(({ condition }) => condition))];
  return types.map((type) => {
    const told = refusals.filter(({ condition }) => condition === type).map(({ message }) => message);
    return { type, status: 'True', reason: 'Refused', message: shortened(told.join('; ')) };
  });
}
