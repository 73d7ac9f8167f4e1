/**
 * Runs vitest with the given arguments, and then a second time the files that failed and that run real processes: end to end, or
 * `real-*`. It prints these as `retried: N`: each is a defect to look for, in the product or in the test. `build/tests.json` holds what
 * the last run of each file said.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, relative, resolve, sep } from 'node:path';

const root = resolve(import.meta.dirname, '..');
/** The results of these depend on how fast the machine is. */
const isReal = (name) => name.startsWith(`test${sep}e2e${sep}`) || basename(name).startsWith('real-');
const report = resolve(root, 'build/tests.json');
const second = resolve(root, 'build/tests.second.json');

function vitest(output, args) {
  rmSync(output, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${output}`];
  const { status } = spawnSync(resolve(root, 'node_modules/.bin/vitest'), ['run', ...args, ...reporters], {
    cwd: root,
    stdio: 'inherit',
  });
  return status ?? 1;
}

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const nameOf = ({ name }) => relative(root, name);
const passes = (tests) => tests.filter(({ status }) => status === 'passed').length;
const failures = (tests) => tests.filter(({ status }) => status === 'failed').length;

/** The first report, with the second run's words about the files that ran again. */
function merged(first, again) {
  const ranAgain = new Map(again.testResults.map((file) => [file.name, file]));
  const testResults = first.testResults.map((file) => ranAgain.get(file.name) ?? file);
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return { ...first, testResults, numPassedTests: passes(tests), numFailedTests: failures(tests) };
}

const status = vitest(report, process.argv.slice(2));
// Without a report it was interrupted.
if (status === 0 || !existsSync(report)) process.exit(status);
const first = read(report);
const failed = first.testResults.filter(({ status }) => status === 'failed');
const unlucky = failed.filter((file) => isReal(nameOf(file)));
if (unlucky.length === 0) process.exit(status);

const names = unlucky.map(nameOf);
console.log(`\nFiles with real processes that failed run once more: ${names.join(', ')}\n`);
const again = vitest(second, ['--project', 'e2e*', '--project', 'members', ...names]);
writeFileSync(report, JSON.stringify(merged(first, read(second))));
console.log(`retried: ${names.length}`);
for (const file of unlucky) {
  console.log(`  ${nameOf(file)}`);
  for (const { status, fullName } of file.assertionResults) if (status === 'failed') console.log(`    ${fullName}`);
}
process.exit(unlucky.length === failed.length ? again : status);
