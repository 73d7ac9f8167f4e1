/** Bugs that others had, and that we had, as plans: none comes back. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runSimulated, scenarioNamed } from '../catalogue.ts';
import { judge } from '../oracles/index.ts';
import type { Plan } from '../plan.ts';

const directory = join(import.meta.dirname, '../plans');
/** These take 10 s and more each: `npm run test:all` replays them. */
const long = /^(E04|E08|P02|P04|P06|P07|P08|T06|T07|T08|W01|W02|W13)-/;
const isEveryPlanWanted = process.env.CLUSTERWRIGHT_ALL_VERSIONS !== undefined;
const plans = readdirSync(directory)
  .sort()
  .filter((file) => isEveryPlanWanted || !long.test(file))
  .map((file) => ({ file, plan: JSON.parse(readFileSync(join(directory, file), 'utf8')) as Plan }));

const undisturbed = new Map<string, ReturnType<typeof runSimulated>>();

/** The same run without faults: several plans have one scenario and one seed. */
function referenceOf(plan: Plan): ReturnType<typeof runSimulated> {
  const calm = { scenario: plan.scenario, seed: plan.seed, faults: [] };
  const key = JSON.stringify(calm);
  const known = undisturbed.get(key) ?? runSimulated(calm, scenarioNamed(plan.scenario));
  undisturbed.set(key, known);
  return known;
}

it.each(plans)('$file', async ({ plan }) => {
  const scenario = scenarioNamed(plan.scenario);
  const reference = await referenceOf(plan);
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
