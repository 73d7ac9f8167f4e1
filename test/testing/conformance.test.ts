/** Engines with one mistake each, and what finds it: every check of the suite is seen to fail. */
import { expect, test } from 'vitest';
import { defineEngine } from '../../src/jobs/handlers.ts';
import { type ConformanceCheck, conformanceChecks } from '../../src/testing/conformance.ts';
import { runningChildren } from '../../src/testing/running-children.ts';
import { parts, permitted, reporting, specSchemaOf, withField, withoutClaims } from './changed-toy.ts';
import type { Mistake } from './mistake.ts';
import { mistakesInBehavior } from './mistakes-in-behavior.ts';
import { mistakesInResources } from './mistakes-in-resources.ts';
import { type Toy, toy, toyBackup, toyCluster, toyEngine, toyFormat, toyKind, toySample } from './toy-engine.ts';

function checksOf(mistake: Partial<Mistake>): readonly ConformanceCheck[] {
  const { engine = {}, sample = {}, isWithoutSample = false, driver = {} } = mistake;
  const broken = toyEngine(engine);
  const children = runningChildren(broken.resources(toyCluster()));
  const samples = isWithoutSample ? [] : [toySample(children, sample)];
  return conformanceChecks(defineEngine(broken), { samples, driver: { ...toyFormat, ...driver } });
}

const mistakes: readonly Mistake[] = [...mistakesInResources, ...mistakesInBehavior];

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

const { storage: _storage, deletionPolicy, ...fields } = parts.spec?.properties ?? {};
const { scale: _scale, ...unscaled } = toyKind;
const withoutRights = (plural: string): Partial<Toy> => ({
  permissions: toy.permissions.filter(({ resources }) => !resources.includes(plural)),
});

/** What an engine does not have is not asked for. */
test.each<[story: string, engine: Partial<Toy>]>([
  ['every part', {}],
  ['backups', { backup: toyBackup }],
  [
    'backups before a deletion',
    {
      backup: toyBackup,
      ...withField('deletionPolicy', { ...deletionPolicy, enum: ['Retain', 'Snapshot', 'Delete'] }),
    },
  ],
  ['no volumes, and no rights on claims', { ...withoutClaims, ...withoutRights('persistentvolumeclaims') }],
  [
    'no deletion policy, and no rights to delete but pods',
    {
      ...specSchemaOf({ properties: { ...fields, storage: parts.spec?.properties?.storage } }),
      ...permitted((rule) =>
        rule.resources.includes('pods') ? rule : { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'delete') },
      ),
    },
  ],
  [
    'no scale, and no selector in the status',
    {
      definition: { ...toy.definition, kind: unscaled },
      ...reporting(({ selector: _, replicas: _replicas, ...report }) => report),
    },
  ],
])('finds nothing wrong with an engine that has %s', async (_, engine) => {
  expect(await failuresOf(checksOf({ engine }))).toEqual({});
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
    checksOf({ engine: { backup: toyBackup } })
      .map(ruleOf)
      .filter((rule) => !failed.has(rule)),
  ).toEqual([]);
});

test('an engine with backups is tested with its driver', () => {
  const samples = [toySample(runningChildren(toy.resources(toyCluster())))];
  const engine = defineEngine(toyEngine({ backup: toyBackup }));
  expect(() => conformanceChecks(engine, { samples })).toThrow('toy has backups: its driver is missing in the options');
});
