/**
 * What becomes of a member that will not come back by itself.
 *
 * It is replaced by one with a new number, and its volume is kept under every policy: nobody knows what is on it that the others do not have.
 * Only data that is known to be a part of the primary's is deleted and copied again in its place, and only while another standby is whole.
 * With `synchronous.strict`, nor is that: Patroni has read at its start how a member copies, and may have started before. It would copy with
 * a slot, and if the other standby went away meanwhile, commits would wait for that copy. A new member copies without: see `slotted-copies.ts`.
 */
import { type Outcome, wait } from '../../../plan/plan.ts';
import { podOf, type Situation } from '../observe/situation.ts';
import { isStrict } from '../resources/patroni-config.ts';
import { type Failure, failureOf } from './failed-member.ts';
import { problemOf } from './health.ts';
import { leavers } from './members.ts';
import type { PostgresPlan } from './postgres-plan.ts';
import { asked, recheckMs } from './restart.ts';
import { retiredMarks } from './volumes.ts';

export interface Replacement extends PostgresPlan {
  /** Number of who goes. */
  readonly lost?: number;
}

/** `requested`: number of a member that a person wants replaced. */
export function planReplacement(situation: Situation, requested?: number): Replacement | undefined {
  const { roster, primary, live } = situation;
  if (primary === undefined || problemOf(situation, numberOf(situation, primary.pod)) !== undefined) return undefined;
  for (const index of roster.keys()) {
    const failure = failureOf(situation, index);
    if (failure === undefined || arrivals(situation, index).length > 0) continue;
    const member = live.get(index);
    const isSpare = [...roster.keys()].some(
      (other) =>
        other !== index && problemOf(situation, other) === undefined && podOf(situation, other) !== primary.pod,
    );
    if (failure.isBehind === true && member !== undefined && isSpare && !mayHaveSlot(situation, index)) {
      const words = `${member.pod} copies the data of the primary again: ${failure.why}`;
      return {
        steps: [
          {
            type: 'act',
            action: { type: 'postgres.reinitialize', member: asked(member) },
            summary: `delete the data of ${member.pod} and copy that of the primary: ${failure.why}`,
            destructive: true,
          },
        ],
        outcome: wait('Reinitializing', words, recheckMs),
      };
    }
    return replacing(situation, index, failure);
  }
  if (requested === undefined || arrivals(situation, requested).length > 0 || isNeeded(situation, requested))
    return undefined;
  return replacing(situation, requested, { why: 'a person has asked for it' });
}

/** A new member's Patroni has started lately. If it were replaced each time, each would leave a volume. */
function mayHaveSlot({ spec, roster }: Situation, index: number): boolean {
  return isStrict(spec) && roster.get(index) !== 'join';
}

function replacing(situation: Situation, index: number, { why }: Failure): Replacement {
  const outcome: Outcome = wait(
    'Replacing',
    `${podOf(situation, index)} is replaced: ${why}; its volume is kept`,
    recheckMs,
  );
  return { lost: index, steps: retiredMarks(situation, index), outcome };
}

/** Members that have yet to copy the data: if they fail as well, it is not the data of one member. */
function arrivals({ roster, live }: Situation, besides: number): number[] {
  return [...roster].flatMap(([index, start]) =>
    index !== besides && start === 'join' && live.get(index)?.isStreaming !== true ? [index] : [],
  );
}

/** It is well, and another one is away, or leaves: nobody takes a second one away meanwhile. */
function isNeeded(situation: Situation, index: number): boolean {
  const isWell = (one: number): boolean => problemOf(situation, one) === undefined;
  const isOtherAway = [...situation.roster.keys()].some((other) => other !== index && !isWell(other));
  return isWell(index) && (isOtherAway || leavers(situation).length > 0);
}

function numberOf(situation: Situation, pod: string): number {
  return [...situation.roster.keys()].find((index) => podOf(situation, index) === pod) ?? -1;
}
