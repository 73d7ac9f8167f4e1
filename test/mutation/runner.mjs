/**
 * Runs each test once as it is, and then once for each mutant that it reaches and no test has found yet: in one process, so
 * a mutant costs what its tests cost. A test that fails once more without the mutant was harmed by it, and finds nothing.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { VitestTestRunner } from 'vitest/runners';
import { getFn } from 'vitest/suite';

const { RESULT: path = '', MUTANTS: mutants = '[]', LIMIT: limit = '100', SLOW: slowMs = '300' } = process.env;
/** Each mutant with the name that its own tests begin with; null where every test is tried against it. */
const names = new Map(JSON.parse(mutants));
globalThis.__stryker__ ??= {};
const stryker = globalThis.__stryker__;
stryker.mutantCoverage ??= { static: {}, perTest: {} };
globalThis.foundSoFar ??= existsSync(path)
  ? JSON.parse(readFileSync(path, 'utf8'))
  : { killed: {}, reached: {}, static: {}, notes: [] };
const result = globalThis.foundSoFar;
const { setTimeout: later, clearTimeout: cancel } = globalThis;
const go = Object.assign(new Error('the next mutant'), { stack: '' });
// A promise that a mutant has left behind.
process.on('unhandledRejection', () => undefined);

export default class MutantRunner extends VitestTestRunner {
  async onBeforeRunTask(test) {
    test.retry = Number.MAX_SAFE_INTEGER;
    this.turn = { test, stage: 'plain', mutants: [], failures: 0 };
    await super.onBeforeRunTask(test);
  }

  onBeforeTryTask(test) {
    super.onBeforeTryTask(test);
    const { stage, mutants, reached } = this.turn;
    if (test.result?.errors) test.result.errors = [];
    stryker.hitCount = 0;
    stryker.activeMutant = stage === 'mutant' ? mutants[0] : undefined;
    stryker.hitLimit = stage === 'mutant' ? (reached[mutants[0]] + 1) * 100 : Number.POSITIVE_INFINITY;
    stryker.currentTestId = stage === 'plain' ? test.id : 'again';
    if (stage === 'plain') delete stryker.mutantCoverage.perTest[test.id];
  }

  async runTask(test) {
    const { turn } = this;
    const begun = performance.now();
    let timer;
    try {
      const run = getFn(test)();
      if (turn.stage === 'plain') await run;
      else {
        const timeout = new Promise((_, reject) => {
          timer = later(() => reject(new Error('takes too long')), 1500 + 10 * turn.tookMs);
        });
        await Promise.race([run, timeout]);
      }
      turn.failed = false;
    } catch (error) {
      if (turn.stage === 'plain') throw error;
      turn.failed = true;
    } finally {
      cancel(timer);
      turn.tookMs ??= performance.now() - begun;
    }
    if (turn.stage !== 'last') throw go;
  }

  onAfterRetryTask(test) {
    const { turn } = this;
    // What the next file imports is no part of this test.
    if (turn.stage === 'last') stryker.currentTestId = undefined;
    const failed = turn.failed === true || (test.result.errors ?? []).some(({ message }) => message !== go.message);
    stryker.activeMutant = undefined;
    switch (turn.stage) {
      case 'plain': {
        turn.reached = stryker.mutantCoverage.perTest[test.id] ?? {};
        for (const id of Object.keys(turn.reached)) result.reached[id] ??= 0;
        // Slower ones are left out: they would take most of the time and find little.
        const isUsable = !failed && turn.failed === false && turn.tookMs <= slowMs;
        if (!isUsable) result.notes.push(`${failed ? 'red' : 'slow'}: ${test.file.name} ${test.name}`);
        turn.mutants = Object.keys(turn.reached).filter(
          (id) =>
            isUsable &&
            names.has(id) &&
            basename(test.file.name).startsWith(names.get(id) ?? '') &&
            result.killed[id] === undefined &&
            result.reached[id] < limit,
        );
        break;
      }
      case 'mutant':
        result.reached[turn.mutants[0]] += 1;
        turn.stage = 'check';
        if (failed) return;
        turn.mutants.shift();
        break;
      case 'check':
        turn.failures += failed ? 1 : 0;
        if (turn.failures === 1 && failed) return;
        if (failed) turn.mutants = [];
        else result.killed[turn.mutants.shift()] = `${test.file.name} ${test.name}`;
        break;
      default:
        return;
    }
    turn.failures = 0;
    turn.stage = turn.mutants.length === 0 ? 'last' : 'mutant';
  }

  onAfterRunFiles(files) {
    result.static = { ...stryker.mutantCoverage.static };
    writeFileSync(path, JSON.stringify(result));
    super.onAfterRunFiles(files);
  }
}
