/** The mutants fit the source that they are made of. That they are found is shown by `npm run faults -- --mutants`. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scenarios as allScenarios } from '../catalogue.ts';
import { oracles } from '../oracles/index.ts';
import { mutated, StaleMutant } from './build.ts';
import { mutants } from './index.ts';

const source = (file: string): string => readFileSync(join(import.meta.dirname, '../../../src', file), 'utf8');

it.each(mutants)('$id can be made: $defect', ({ id, edits, scenarios, oracle, plans = [] }) => {
  for (const file of new Set(edits.map((edit) => edit.file))) {
    const own = edits.filter((edit) => edit.file === file);
    expect(mutated(id, own, source(file))).not.toBe(source(file));
  }
  const known = allScenarios.map((scenario) => scenario.id);
  expect(scenarios.filter((scenario) => !known.includes(scenario))).toEqual([]);
  expect(plans.filter((plan) => !existsSync(join(import.meta.dirname, '../plans', `${plan}.json`)))).toEqual([]);
  expect(plans.length + scenarios.length).toBeGreaterThan(0);
  expect(oracles.map((one) => one.id)).toContain(oracle);
});

it('there are enough of them, and each is its own', () => {
  expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length);
  expect(mutants.length).toBeGreaterThanOrEqual(15);
});

it.each([
  ['twice', 'a b a'],
  ['not at all', 'b'],
])('a text that is there %s makes no mutant', (_, text) => {
  expect(() => mutated('m', [{ file: 'x.ts', find: 'a', replace: 'c' }], text)).toThrow(StaleMutant);
});
