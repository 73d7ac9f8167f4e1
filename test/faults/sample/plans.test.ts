/** Bugs that others had, and that we had, as plans: none comes back. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runSimulated, scenarioNamed } from '../catalogue.ts';
import { judge } from '../oracles/index.ts';
import type { Plan } from '../plan.ts';

const directory = join(import.meta.dirname, '../plans');
const plans = readdirSync(directory)
  .sort()
  .map((file) => ({ file, plan: JSON.parse(readFileSync(join(directory, file), 'utf8')) as Plan }));

it.each(plans)('$file', async ({ plan }) => {
  const scenario = scenarioNamed(plan.scenario);
  const reference = await runSimulated({ ...plan, faults: [] }, scenario);
  const run = await runSimulated(plan, scenario);
  expect(judge(run, reference, scenario.mayDiffer)).toEqual([]);
});

it('a plan gives the same run every time', async () => {
  const plan = plans[0]?.plan;
  if (plan === undefined) throw new Error('there are no plans');
  const scenario = scenarioNamed(plan.scenario);
  const told = async (): Promise<unknown> => {
    const { entries, settledAt } = await runSimulated(plan, scenario);
    return [settledAt, entries.map(({ at, verb, what, status }) => `${at} ${verb} ${what} ${status}`)];
  };
  expect(await told()).toEqual(await told());
});
