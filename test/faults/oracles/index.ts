/** The oracles in their order, and their verdict on a run. */
import type { Oracle, RunRecord, Violation } from '../record.ts';
import { counts } from './counts.ts';
import { data } from './data.ts';
import { endState } from './end-state.ts';
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
];

/** What the plan says may differ is left out, and nothing else. */
export function judge(run: RunRecord, reference: RunRecord): readonly Violation[] {
  const excused = new Set((run.plan.mayDiffer ?? []).map(({ oracle }) => oracle));
  return oracles
    .filter(({ id }) => !excused.has(id))
    .flatMap((oracle) => oracle.check(run, reference).map((message) => ({ oracle: oracle.id, message })));
}
