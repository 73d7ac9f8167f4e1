/** Bugs that others had, and that we had, as plans: none comes back. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { judge } from '../oracles/index.ts';
import type { Plan } from '../plan.ts';
import { redisKit } from '../redis/subject.ts';
import { redisScenarios } from '../scenarios/redis.ts';
import { simulatedRun } from '../simulated/run.ts';

const directory = join(import.meta.dirname, '../plans');
const plans = readdirSync(directory)
  .sort()
  .map((file) => ({ file, plan: JSON.parse(readFileSync(join(directory, file), 'utf8')) as Plan }));

it.each(plans)('$file', async ({ plan }) => {
  const scenario = redisScenarios.find(({ id }) => id === plan.scenario);
  if (scenario === undefined) throw new Error(`there is no scenario ${plan.scenario}`);
  const reference = await simulatedRun({ plan: { ...plan, faults: [] }, scenario, kit: redisKit });
  const run = await simulatedRun({ plan, scenario, kit: redisKit });
  expect(judge(run, reference, scenario.mayDiffer)).toEqual([]);
});

it('a plan gives the same run every time', async () => {
  const plan = plans[0]?.plan;
  if (plan === undefined) throw new Error('there are no plans');
  const scenario = redisScenarios.find(({ id }) => id === plan.scenario);
  if (scenario === undefined) throw new Error(`there is no scenario ${plan.scenario}`);
  const told = async (): Promise<unknown> => {
    const { entries, settledAt } = await simulatedRun({ plan, scenario, kit: redisKit });
    return [settledAt, entries.map(({ at, verb, what, status }) => `${at} ${verb} ${what} ${status}`)];
  };
  expect(await told()).toEqual(await told());
});
