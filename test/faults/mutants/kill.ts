/** Whether the matrix finds a mutant, and by which oracle. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Plan } from '../plan.ts';
import { readPlan } from '../plan-file.ts';
import { runShard } from '../shard.ts';
import { buildMutant } from './build.ts';
import type { Mutant } from './mutant.ts';

export interface Kill {
  readonly mutant: Mutant;
  /** Every oracle that objected, the most frequent first. */
  readonly by: readonly string[];
  /** The first objection of the oracle that had to find it. */
  readonly message: string | undefined;
  readonly plan: string | undefined;
}

export async function killMutant(mutant: Mutant, root: string, seed: number): Promise<Kill> {
  const program = join(root, 'build/mutants', `${mutant.id}.mjs`);
  await buildMutant(mutant, root, program);
  const { scenarios, classes } = mutant;
  const names = mutant.plans ?? [];
  const plans = await Promise.all(names.map((name) => readPlan(join(root, 'test/faults/plans', `${name}.json`))));
  const task = { scenarios, classes, seed, combinations: 0, shard: { index: 0, of: 1 }, until: mutant.oracle, plans };
  const { cells } = await runShard(program, task, () => undefined);
  const found = cells.flatMap(({ failures, ...cell }) =>
    failures.flatMap(({ plan, violations }) => violations.map((violation) => ({ ...violation, cell, plan }))),
  );
  const times = new Map<string, number>();
  for (const { oracle } of found) times.set(oracle, (times.get(oracle) ?? 0) + 1);
  const nameOf = (plan: Plan): string | undefined => names[plans.findIndex((each) => isDeepStrictEqual(each, plan))];
  const named = found.find(({ oracle }) => oracle === mutant.oracle);
  return {
    mutant,
    by: [...times].sort(([, a], [, b]) => b - a).map(([oracle]) => oracle),
    message: named?.message,
    plan: named === undefined ? undefined : (nameOf(named.plan) ?? `${named.cell.class} × ${named.cell.scenario}`),
  };
}

export function killTable(kills: readonly Kill[]): string {
  const lines = kills.map(({ mutant, by, message, plan }) =>
    [
      message === undefined ? 'ALIVE ' : 'killed',
      mutant.id.padEnd(28),
      mutant.oracle.padEnd(4),
      (plan ?? `found by ${by.join(' ') || 'nobody'}`).padEnd(20),
      message?.slice(0, 90) ?? mutant.defect,
    ].join(' '),
  );
  const dead = kills.filter(({ message }) => message !== undefined).length;
  return [...lines, `${dead} of ${kills.length} mutants killed by the oracle that has to`].join('\n');
}
