/** The oracles in their order, and their verdict on a run. */
import type { Excuse } from '../plan.ts';
import type { Oracle, RunRecord, Violation } from '../record.ts';
import { availability } from './availability.ts';
import { counts } from './counts.ts';
import { data } from './data.ts';
import { endState } from './end-state.ts';
import { foresight } from './foresight.ts';
import { honesty } from './honesty.ts';
import { membership } from './membership.ts';
import { permissions } from './permissions.ts';
import { politeness } from './politeness.ts';
import { process } from './process.ts';
import { secrecy } from './secrecy.ts';
import { singleWriter } from './single-writer.ts';
import { stability } from './stability.ts';
import { writeSafety } from './write-safety.ts';

export const oracles: readonly Oracle[] = [
  stability,
  endState,
  counts,
  writeSafety,
  data,
  membership,
  process,
  honesty,
  politeness,
  singleWriter,
  secrecy,
  permissions,
  foresight,
  availability,
];

/** What the plan, or `excuses`, say may differ is left out, and nothing else. */
export function judge(run: RunRecord, reference: RunRecord, excuses: readonly Excuse[] = []): readonly Violation[] {
  const isExcused = ({ oracle, message }: Violation): boolean =>
    [...(run.plan.mayDiffer ?? []), ...excuses].some(
      (excuse) => excuse.oracle === oracle && message.includes(excuse.about ?? ''),
    );
  return oracles
    .flatMap((oracle) => oracle.check(run, reference).map((message) => ({ oracle: oracle.id, message })))
    .filter((violation) => !isExcused(violation));
}
