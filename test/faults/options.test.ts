/** `npm run faults` does what is asked for and no more, says what is wrong, and its page in docs/ knows all of it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { scenarios } from './catalogue.ts';
import { combinationsOf, faultOptions, isWhole } from './options.ts';
import { readPlan } from './plan-file.ts';
import { realScenarios } from './real/scenarios.ts';

const asked = async (...words: readonly string[]) => {
  const options = await faultOptions(words).parse();
  return { combinations: combinationsOf(options), whole: isWhole(options) };
};

describe('what is asked for', () => {
  it.each<readonly [words: string[], combinations: number, whole: boolean]>([
    [[], 160, true],
    [['--scenario', 'S3'], 160, false],
    [['--engine', 'etcd'], 160, false],
    [['--class', 'F1'], 0, false],
    [['--class', 'F1', '--combinations', '5'], 5, false],
    [['--per-cell', '3'], 160, false],
    [['--seed', '7', '--combinations', '0'], 0, true],
  ])('%j', async (words, combinations, whole) => {
    expect(await asked(...words)).toEqual({ combinations, whole });
  });
});

describe('a plan in a file', () => {
  const home = mkdtempSync(join(tmpdir(), 'plan-file-'));
  const file = join(home, 'plan.json');
  afterAll(() => rmSync(home, { recursive: true }));

  it.each([
    ['{', 'is not JSON'],
    ['null', 'is no plan: it names no scenario'],
    ['{"kind":"Pod"}', 'is no plan: it names no scenario'],
    ['{"scenario":"S99"}', 'there is no scenario S99; there are: S1, S2, '],
    ['{"scenario":"S1","faults":[]}', 'seed must be a whole number'],
    ['{"scenario":"S1","seed":1}', 'faults must be a list'],
    ['{"scenario":"S1","seed":1,"faults":[{"do":"explode"}]}', 'faults[0].do must be one of crash, '],
  ])('%s is refused with its fault', async (text, fault) => {
    writeFileSync(file, text);
    await expect(readPlan(file)).rejects.toThrow(`${file}: ${fault}`);
  });

  it('that is not there is refused', async () => {
    await expect(readPlan(join(home, 'other.json'))).rejects.toThrow('other.json: there is no such file');
  });

  it('that is kept here is taken', async () => {
    for (const name of readdirSync('test/faults/plans')) {
      expect(await readPlan(join('test/faults/plans', name))).toMatchObject({ scenario: expect.any(String) });
    }
  });
});

describe('docs/faults.md', () => {
  const page = readFileSync('docs/faults.md', 'utf8');

  it('has a row for every scenario', () => {
    const onPods = (id: string): string => (realScenarios.some((real) => real.id === id) ? 'yes' : '');
    const rows = scenarios.map(({ id, title }) => `| ${id} | ${title} | ${onPods(id)} |`);
    const section = page.split('\n## Scenarios\n')[1]?.split('\n## ')[0] ?? '';
    expect(section.split('\n').filter((line) => /^\| .*\d/.test(line))).toEqual(rows);
  });

  it('has a row for every option', async () => {
    const help = await faultOptions([]).wrap(null).getHelp();
    const options = [...help.matchAll(/^ +--([a-z-]+)/gm)].map(([, name]) => name).filter((name) => name !== 'help');
    const rows = page.split('\n').flatMap((line) => /^\| `--([a-z-]+)/.exec(line)?.[1] ?? []);
    expect(rows.sort()).toEqual(options.sort());
  });
});
