/** One plan, run again: what the operator did, and what the oracles say to it. */
import { runSimulated, scenarioNamed } from './catalogue.ts';
import { judge } from './oracles/index.ts';
import type { Plan } from './plan.ts';
import { isWrite } from './simulated/settling.ts';

/** 0 when no oracle objects. @throws when the plan names a scenario that does not exist. */
export async function replay(plan: Plan, say: (line: string) => void): Promise<number> {
  const scenario = scenarioNamed(plan.scenario);
  const reference = await runSimulated({ ...plan, faults: [] }, scenario);
  const run = await runSimulated(plan, scenario);
  const violations = judge(run, reference, scenario.mayDiffer);
  say(`${scenario.id} ${scenario.title}, seed ${plan.seed}: ${JSON.stringify(plan.faults)}`);
  for (const { life, at, verb, what, write, status, byFault } of run.entries.filter(isWrite)) {
    const number = write === undefined ? '   -' : String(write).padStart(4);
    const fate = byFault === true ? `${status ?? 'no answer'} (fault)` : String(status ?? 'no answer');
    say(
      `${number} ${(at / 1000).toFixed(3).padStart(9)} s process ${life} ${verb} ${what}: ${verb === 'command' ? 'done' : fate}`,
    );
  }
  for (const { id, startedAt, endedAt, end, error } of run.lives) {
    say(
      `process ${id}: from ${startedAt} ms to ${endedAt ?? '...'} ms, ${end ?? 'running'}${error === undefined ? '' : `: ${error}`}`,
    );
  }
  for (const { oracle, message } of violations) say(`${oracle}: ${message}`);
  say(violations.length === 0 ? 'no oracle objects' : `${violations.length} objections`);
  return violations.length === 0 ? 0 : 1;
}
