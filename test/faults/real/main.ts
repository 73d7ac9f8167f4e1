/** The real layer alone: arguments are scenarios (`S3`), classes (`F14`) and files with plans. */
import { readFile } from 'node:fs/promises';
import { type FaultClass, faultClasses, type Plan } from '../plan.ts';
import { realLayer } from './command.ts';
import { realScenarios } from './scenarios.ts';

const words = process.argv.slice(2);
const scenarios = words.filter((word) => realScenarios.some(({ id }) => id === word));
const classes = words.filter((word): word is FaultClass => faultClasses.some((each) => each === word));
const files = words.filter((word) => word.endsWith('.json'));
const plans = await Promise.all(files.map(async (file) => JSON.parse(await readFile(file, 'utf8')) as Plan));

process.exit(
  await realLayer({
    root: process.cwd(),
    only: {
      ...(scenarios.length === 0 ? {} : { scenarios }),
      ...(classes.length === 0 ? {} : { classes }),
    },
    ...(plans.length === 0 ? {} : { plans }),
    log: (line) => console.log(line),
  }),
);
