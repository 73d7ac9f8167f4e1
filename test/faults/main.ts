/**
 * `npm run faults`: the controller under every fault that is enumerated here.
 *
 * Ends with 0 when no oracle objects. In a thread it runs the share of the matrix that it is given.
 */
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import yargs from 'yargs';
import { scenarios } from './catalogue.ts';
import { type CellResult, joined } from './matrix.ts';
import { mutants } from './mutants/index.ts';
import { type Kill, killMutant, killTable } from './mutants/kill.ts';
import { type FaultClass, faultClasses } from './plan.ts';
import { replay } from './replay.ts';
import { legend, tables, writeReport } from './report.ts';
import { engineNames } from './scenarios/scenario.ts';
import { runShard } from './shard.ts';
import { runThread } from './thread.ts';

const program = fileURLToPath(import.meta.url);
const root = resolve(program, '../..');
const build = join(root, 'build');
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function main(): Promise<number> {
  const options = await yargs(process.argv.slice(2))
    .scriptName('npm run faults --')
    .usage('$0 [options]\n\nRuns the controller under faults, and prints what held and what did not')
    .option('scenario', {
      type: 'string',
      array: true,
      describe: 'Only these',
      choices: scenarios.map(({ id }) => id),
    })
    .option('engine', { type: 'string', array: true, describe: 'Only these', choices: engineNames })
    .option('class', { type: 'string', array: true, describe: 'Only these', choices: faultClasses })
    .option('seed', { type: 'number', default: 1, describe: 'Where chance begins' })
    .option('per-cell', { type: 'number', describe: 'At most so many runs of a cell; default all' })
    .option('combinations', { type: 'number', default: 160, describe: 'Runs with several faults at once, a scenario' })
    .option('threads', { type: 'number', default: availableParallelism(), describe: 'Shards that run at once' })
    .option('replay', { type: 'string', describe: 'Run the plan in this file, and show what the oracles say' })
    .option('mutants', {
      type: 'boolean',
      default: false,
      describe: 'Put known defects into the controller, and see them found',
    })
    .option('mutant', { type: 'string', array: true, describe: 'Only these mutants' })
    .option('layer', {
      choices: ['simulated', 'real'] as const,
      default: 'simulated' as const,
      describe: 'Where the controller runs',
    })
    .strict()
    .version(false)
    .parse();
  if (options.replay !== undefined) return replay(JSON.parse(await readFile(options.replay, 'utf8')), say);
  if (options.mutants || options.mutant !== undefined) return killAll(options.mutant, options.seed, options.threads);
  if (options.layer === 'real') return runReal(options.scenario, options.class);
  return runAll({
    scenarios: scenarios
      .filter(
        ({ id, engine }) => (options.scenario?.includes(id) ?? true) && (options.engine?.includes(engine) ?? true),
      )
      .map(({ id }) => id),
    classes: options.class ?? faultClasses,
    seed: options.seed,
    combinations: options.combinations,
    ...(options.perCell === undefined ? {} : { perCell: options.perCell }),
    threads: options.threads,
  });
}

async function runAll(options: {
  readonly scenarios: readonly string[];
  readonly classes: readonly FaultClass[];
  readonly seed: number;
  readonly perCell?: number;
  readonly combinations: number;
  readonly threads: number;
}): Promise<number> {
  const began = performance.now();
  const { threads, ...task } = options;
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
      runShard(program, { ...task, shard: { index, of: threads } }, onCell),
    ),
  );
  const result = joined(shards);
  const seconds = (performance.now() - began) / 1000;
  const runs = result.cells.reduce((sum, cell) => sum + cell.runs, 0);
  const failed = result.cells.reduce((sum, cell) => sum + cell.failures.length, 0);
  const [first = [], ...others] = shards.map(({ unusedRights }) => unusedRights);
  const unused = first.filter((right) => others.every((rights) => rights.includes(right)));
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

/** The shipped bundle on real pods: the sandbox must be up. */
async function runReal(scenarios?: readonly string[], classes?: readonly FaultClass[]): Promise<number> {
  const { realLayer } = await import('./real/command.ts');
  const only = { ...(scenarios === undefined ? {} : { scenarios }), ...(classes === undefined ? {} : { classes }) };
  return realLayer({ root, only, log: say });
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
