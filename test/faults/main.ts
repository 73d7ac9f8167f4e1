/**
 * `npm run faults`: the controller under every fault that is enumerated here.
 *
 * Ends with 0 when no oracle objects. In a thread it runs the share of the matrix that it is given.
 */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { scenarios } from './catalogue.ts';
import { type CellResult, joined } from './matrix.ts';
import { mutants } from './mutants/index.ts';
import { type Kill, killMutant, killTable } from './mutants/kill.ts';
import { combinationsOf, faultOptions, isWhole } from './options.ts';
import { type FaultClass, faultClasses } from './plan.ts';
import { BadPlan, readPlan } from './plan-file.ts';
import type { RealCommandOptions } from './real/command.ts';
import { replay } from './replay.ts';
import { legend, tables, writeReport } from './report.ts';
import { runShard } from './shard.ts';
import { runThread } from './thread.ts';

const program = fileURLToPath(import.meta.url);
const root = resolve(program, '../..');
const build = join(root, 'build');
/** Of virtual rest, once a scenario: the operator looks at everything again every ten minutes. */
const restMs = 40 * 60_000;
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function main(): Promise<number> {
  const options = await faultOptions(process.argv.slice(2)).parse();
  if (options.replay !== undefined) return replayFile(options.replay, options.layer === 'real');
  if (options.mutants || options.mutant !== undefined) return killAll(options.mutant, options.seed, options.threads);
  if (options.layer === 'real') {
    const { scenario: ids, class: classes } = options;
    return runReal({
      only: { ...(ids === undefined ? {} : { scenarios: ids }), ...(classes === undefined ? {} : { classes }) },
    });
  }
  return runAll({
    scenarios: scenarios
      .filter(
        ({ id, engine }) => (options.scenario?.includes(id) ?? true) && (options.engine?.includes(engine) ?? true),
      )
      .map(({ id }) => id),
    classes: options.class ?? faultClasses,
    seed: options.seed,
    combinations: combinationsOf(options),
    isWhole: isWhole(options),
    ...(options.perCell === undefined ? {} : { perCell: options.perCell }),
    threads: options.threads,
  });
}

async function replayFile(file: string, isReal: boolean): Promise<number> {
  try {
    const plan = await readPlan(file);
    if (!isReal) return await replay(plan, say);
    const { realScenarios } = await import('./real/scenarios.ts');
    if (!realScenarios.some(({ id }) => id === plan.scenario)) {
      throw new BadPlan(file, `there is no scenario ${plan.scenario} on real pods`);
    }
    return await runReal({ plans: [plan] });
  } catch (error) {
    if (!(error instanceof BadPlan)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

async function runAll(options: {
  readonly scenarios: readonly string[];
  readonly classes: readonly FaultClass[];
  readonly seed: number;
  readonly perCell?: number;
  readonly combinations: number;
  readonly threads: number;
  readonly isWhole: boolean;
}): Promise<number> {
  const began = performance.now();
  const { threads, isWhole: whole, ...task } = options;
  let done = 0;
  const onCell = ({ scenario, class: id, runs, failures }: CellResult): void => {
    done += runs;
    process.stderr.write(`${scenario} × ${id}: ${runs} runs by one of ${threads} threads; ${done} in all\n`);
    for (const { violations } of failures.slice(0, 3)) {
      for (const { oracle, message } of violations.slice(0, 2)) say(`${scenario} × ${id}: ${oracle}: ${message}`);
    }
  };
  const shards = await Promise.all(
    Array.from({ length: threads }, (_, index) =>
      runShard(program, { ...task, restMs, shard: { index, of: threads } }, onCell),
    ),
  );
  const result = joined(shards);
  const seconds = (performance.now() - began) / 1000;
  const runs = result.cells.reduce((sum, cell) => sum + cell.runs, 0);
  const failed = result.cells.reduce((sum, cell) => sum + cell.failures.length, 0);
  const [first = [], ...others] = shards.map(({ unusedRights }) => unusedRights);
  const unused = whole ? first.filter((right) => others.every((rights) => rights.includes(right))) : [];
  const files = await writeReport(build, result, { seed: options.seed, seconds, runs, failed, unusedRights: unused });
  if (runs === 0) {
    say('nothing has run: no scenario of this engine goes by that name; --help lists them');
    return 1;
  }
  say(`\n${legend()}\n\n${tables(result)}\n`);
  if (unused.length > 0) say(`Granted and not used by any of these runs: ${unused.join(', ')}`);
  for (const file of files.slice(0, 20)) say(`failed: npm run faults -- --replay ${file}`);
  say(
    `${runs} runs in ${seconds.toFixed(0)} s (${Math.round((runs / seconds) * 60)} a minute), ${failed} failed; build/faults.json`,
  );
  return failed === 0 ? 0 : 1;
}

/** The shipped bundle on real pods: a sandbox is started where none runs. */
async function runReal(what: Pick<RealCommandOptions, 'only' | 'plans'>): Promise<number> {
  const { realLayer } = await import('./real/command.ts');
  return realLayer({ ...what, root, log: say });
}

async function killAll(only: readonly string[] | undefined, seed: number, threads: number): Promise<number> {
  const pending = mutants.filter(({ id }) => only === undefined || only.includes(id));
  const kills: Kill[] = [];
  const work = async (): Promise<void> => {
    for (let mutant = pending.shift(); mutant !== undefined; mutant = pending.shift()) {
      const kill = await killMutant(mutant, root, seed);
      kills.push(kill);
      say(killTable([kill]).split('\n')[0] ?? '');
    }
  };
  const all = pending.length;
  await Promise.all(Array.from({ length: threads }, work));
  say(`\n${killTable(kills)}`);
  return kills.length === all && kills.every(({ message }) => message !== undefined) ? 0 : 1;
}

// A connection that something has left open must not keep a finished run from ending.
if (isMainThread) process.exit(await main());
else await runThread();
