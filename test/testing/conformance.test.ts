/** Engines with one mistake each, and what finds it: every check of the suite is seen to fail. */
import { expect, it, test } from 'vitest';
import { defineEngine } from '../../src/jobs/handlers.ts';
import { type ConformanceCheck, conformanceChecks } from '../../src/testing/conformance.ts';
import { runningChildren } from '../../src/testing/running-children.ts';
import { type Mistake, mistakes } from './mistakes.ts';
import { toyCluster, toyEngine, toySample } from './toy-engine.ts';

function checksOf({
  engine = {},
  sample = {},
  isWithoutSample = false,
}: Partial<Mistake>): readonly ConformanceCheck[] {
  const broken = toyEngine(engine);
  const children = runningChildren(broken.resources(toyCluster()));
  return conformanceChecks(defineEngine(broken), { samples: isWithoutSample ? [] : [toySample(children, sample)] });
}

/** Without the engine or the story. */
const ruleOf = ({ name }: ConformanceCheck): string => name.replace(/^[^:]*: /, '');

async function failuresOf(checks: readonly ConformanceCheck[]): Promise<Readonly<Record<string, string>>> {
  const told = checks.map(async (check) => {
    const message = await check.run().then(
      () => undefined,
      (error: Error) => error.message,
    );
    return message === undefined ? [] : [[ruleOf(check), message] as const];
  });
  return Object.fromEntries((await Promise.all(told)).flat());
}

it('finds nothing wrong with an engine that keeps every rule', async () => {
  expect(await failuresOf(checksOf({}))).toEqual({});
});

test.each(mistakes)('$story', async (mistake) => {
  const failures = await failuresOf(checksOf(mistake));
  expect(failures).toEqual(
    Object.fromEntries(Object.entries(mistake.found).map(([rule, words]) => [rule, expect.stringContaining(words)])),
  );
});

test('every check is failed by some of these engines', () => {
  const failed = new Set(mistakes.flatMap(({ found }) => Object.keys(found)));
  expect(
    checksOf({})
      .map(ruleOf)
      .filter((rule) => !failed.has(rule)),
  ).toEqual([]);
});
