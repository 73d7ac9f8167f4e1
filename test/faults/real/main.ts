/** The real layer alone, for trying: arguments are scenarios (`S3`), classes (`F14`) and files with plans. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxEnv } from '../../../src/sandbox/sandbox.ts';
import { type FaultClass, faultClasses, type Plan } from '../plan.ts';
import { runRealLayer } from './layer.ts';
import { realScenarios } from './scenarios.ts';

const words = process.argv.slice(2);
const scenarios = words.filter((word) => realScenarios.some(({ id }) => id === word));
const classes = words.filter((word): word is FaultClass => faultClasses.some((each) => each === word));
const files = words.filter((word) => word.endsWith('.json'));
const plans = await Promise.all(files.map(async (file) => JSON.parse(await readFile(file, 'utf8')) as Plan));
const lanes = Number(process.env.CLUSTERWRIGHT_FAULT_LANES ?? 3);

const beganAt = performance.now();
const results = await runRealLayer({
  kubeconfig: sandboxEnv().KUBECONFIG,
  bundle: join(process.cwd(), 'build/controller.mjs'),
  only: {
    ...(scenarios.length === 0 ? {} : { scenarios }),
    ...(classes.length === 0 ? {} : { classes }),
  },
  ...(plans.length === 0 ? {} : { plans }),
  lanes,
  log: (line) => console.log(line),
});
const failed = results.filter(({ violations }) => violations.length > 0);
const minutes = ((performance.now() - beganAt) / 60_000).toFixed(1);
console.log(`${results.length} runs, ${failed.length} with violations, ${minutes} minutes`);
process.exit(failed.length === 0 ? 0 : 1);
