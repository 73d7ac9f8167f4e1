/**
 * The mutants of StrykerJS, without its test runner: `node test/mutation/screen.mjs --mutate src/plan/rollout.ts --tests test/plan`.
 * Several files with commas. `--sample 200 --seed 7` takes that many mutants of each file, `--limit` the tests that a mutant
 * is tried against (the first hundred), `--slow` the milliseconds that a test may take (300), `--without` leaves test files
 * out. `--again FILE` tries only what survives by an earlier output. Prints a score for each file, and what survives.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = resolve(import.meta.dirname, '../..');
const tree = join(root, 'build/mutation/tree');
const { values } = parseArgs({
  options: {
    mutate: { type: 'string' },
    tests: { type: 'string' },
    without: { type: 'string', default: '' },
    sample: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    limit: { type: 'string', default: '100' },
    slow: { type: 'string', default: '300' },
    again: { type: 'string' },
  },
});
const list = (text) => (text ?? '').split(',').filter((part) => part !== '');

/** From the packages that StrykerJS itself stands on. */
async function fromStryker(name) {
  const core = createRequire(createRequire(import.meta.url).resolve('@stryker-mutator/core/package.json'));
  return import(pathToFileURL(core.resolve(name)).href);
}

async function instrumented(files) {
  const { createInstrumenter } = await fromStryker('@stryker-mutator/instrumenter');
  const { createInjector } = await fromStryker('typed-inject');
  const { mutator } = JSON.parse(readFileSync(join(root, 'test/mutation/stryker.json'), 'utf8'));
  const silent = new Proxy({}, { get: () => () => false });
  return createInjector()
    .provideValue('logger', silent)
    .injectFunction(createInstrumenter)
    .instrument(
      files.map((name) => ({ name, mutate: true, content: readFileSync(join(root, name), 'utf8') })),
      { plugins: null, excludedMutations: mutator.excludedMutations, ignorers: [] },
    );
}

/** Mulberry32: the same seed, the same sample. */
function shuffled(items, seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return items
    .map((item) => ({ item, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

function shown({ fileName, location: { start, end }, mutatorName, replacement }, sign) {
  const lines = readFileSync(join(root, fileName), 'utf8')
    .split('\n')
    .slice(start.line, end.line + 1);
  const last = lines.length - 1;
  lines[last] = lines[last].slice(0, end.column);
  lines[0] = lines[0].slice(start.column);
  const text = (words) => words.replace(/\s+/g, ' ').slice(0, 100);
  return `${fileName}:${start.line + 1}:${start.column + 1} ${sign} ${mutatorName}: ${text(lines.join(' '))} → ${text(replacement)}`;
}

const files = list(values.mutate);
/** What an earlier output names; undefined where there is none. */
const named = values.again === undefined ? undefined : new Set(readFileSync(values.again, 'utf8').split('\n'));
const survived = (mutant) =>
  named === undefined || ['survives', 'is not reached'].some((sign) => named.has(shown(mutant, sign)));
const { files: copies, mutants } = await instrumented(files);
const live = mutants.filter((mutant) => mutant.status === undefined && survived(mutant));
const size = Number(values.sample);
const taken = files.flatMap((name) => {
  const own = live.filter(({ fileName }) => fileName === name);
  return size === 0 ? own : shuffled(own, Number(values.seed)).slice(0, size);
});

rmSync(tree, { recursive: true, force: true });
mkdirSync(tree, { recursive: true });
for (const part of [
  'src',
  'test',
  'docs',
  'dist',
  'imports',
  'package.json',
  'tsconfig.json',
  'README.md',
  'CHANGELOG.md',
])
  cpSync(join(root, part), join(tree, part), { recursive: true });
symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
// What only a run without a mutant has to count is not counted again.
for (const { name, content } of copies)
  writeFileSync(
    join(tree, name),
    content.replace('var c = cov.static;', "if (ns.currentTestId === 'again') return; var c = cov.static;"),
  );

const RESULT = join(root, 'build/mutation/screen.json');
rmSync(RESULT, { force: true });
const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((file) => `test/${file}`)
  .filter((file) => list(values.tests).some((part) => file.includes(part)));
/** Null where no test is named like the file. */
function ownTests(file) {
  const name = basename(file, '.ts');
  return tests.some((test) => basename(test).startsWith(name)) ? name : null;
}

/** First its own tests, then what is left against all of them: a test of the plan as a whole reaches almost everything. */
for (const only of [ownTests, () => null]) {
  const MUTANTS = JSON.stringify(taken.map(({ id, fileName }) => [id, only(fileName)]));
  const excludes = list(values.without).flatMap((name) => ['--exclude', name]);
  spawnSync(
    'npx',
    [
      '--no-install',
      'vitest',
      'run',
      '--config',
      'test/mutation/screen.config.mjs',
      ...excludes,
      ...list(values.tests),
    ],
    {
      cwd: tree,
      stdio: 'ignore',
      env: { ...process.env, CI: '1', RESULT, LIMIT: values.limit, SLOW: values.slow, MUTANTS },
    },
  );
}

const { killed, reached, static: atImport, notes } = JSON.parse(readFileSync(RESULT, 'utf8'));
const total = { mutants: 0, killed: 0 };
for (const name of files) {
  const counted = taken.filter(({ fileName, id }) => fileName === name && (id in reached || !(id in atImport)));
  const alive = counted.filter(({ id }) => !(id in killed));
  for (const mutant of alive) console.log(shown(mutant, mutant.id in reached ? 'survives' : 'is not reached'));
  total.mutants += counted.length;
  total.killed += counted.length - alive.length;
  console.log(`${name}: ${counted.length - alive.length} of ${counted.length} killed`);
}
for (const note of new Set(notes)) console.log(note);
console.log(`${total.killed} of ${total.mutants} killed, ${((100 * total.killed) / total.mutants).toFixed(1)} %`);
