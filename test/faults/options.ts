/** What can be asked of `npm run faults`, and what is meant where nothing is said. */
import { availableParallelism } from 'node:os';
import yargs from 'yargs';
import { scenarios } from './catalogue.ts';
import { faultClasses } from './plan.ts';
import { engineNames } from './scenarios/scenario.ts';

/** Random runs of a scenario where every class is run; none where classes are named. */
export const defaultCombinations = 160;

export function faultOptions(words: readonly string[]) {
  return yargs([...words])
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
    .option('combinations', {
      type: 'number',
      describe: `Runs with several faults at once, a scenario; default ${defaultCombinations}, and none with --class`,
    })
    .option('threads', { type: 'number', default: availableParallelism(), describe: 'Shards that run at once' })
    .option('replay', { type: 'string', describe: 'Run the plan in this file, on the layer that is asked for' })
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
    .check((argv) => {
      const numbers = [argv.seed, argv.perCell, argv.combinations, argv.threads].map((n) => Number(n ?? 0));
      if (!numbers.every((n) => Number.isInteger(n) && n >= 0)) throw new Error('numbers are whole, from 0 on');
      return true;
    })
    .strict()
    .version(false);
}

interface Filters {
  readonly scenario?: readonly string[] | undefined;
  readonly engine?: readonly string[] | undefined;
  readonly class?: readonly string[] | undefined;
  readonly perCell?: number | undefined;
  readonly combinations?: number | undefined;
}

export function combinationsOf({ combinations, class: classes }: Filters): number {
  return combinations ?? (classes === undefined ? defaultCombinations : 0);
}

/** Only then does a right that nobody used say something about the right. */
export function isWhole({ scenario, engine, class: classes, perCell }: Filters): boolean {
  return [scenario, engine, classes, perCell].every((filter) => filter === undefined);
}
