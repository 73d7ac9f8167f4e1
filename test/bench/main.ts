/** `npm run bench`: weighs a controller, prints what it found, and writes it to `build/bench.json`. */
import { parseOptions, UsageError, usage } from './options.ts';
import { runOwn } from './own-run.ts';
import { createRecorder } from './recorder.ts';
import { report } from './report.ts';
import { describeMachine } from './results.ts';
import { runRunning } from './running-run.ts';

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  try {
    const options = parseOptions(args);
    const { subject } = options;
    const begin = {
      at: new Date().toISOString(),
      subject: subject.type === 'own' ? `clusterwright, ${subject.workload.resource.kind}` : subject.userAgent,
      machine: await describeMachine(),
    };
    const recorder = createRecorder('build/bench.json', begin, (line) => process.stderr.write(`${line}\n`));
    if (subject.type === 'own') await runOwn(options, subject, recorder);
    else await runRunning(options, subject, recorder);
    process.stdout.write(`\n${report(recorder.results)}`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}`);
    return 2;
  }
}

process.exitCode = await main(process.argv.slice(2));
process.exit();
