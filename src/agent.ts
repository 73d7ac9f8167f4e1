/** Entry point of the backup agent: what Jobs and CronJobs run. Its only argument is the path of a task. */
import { runAgentProcess } from './agent/process.ts';
import { drivers } from './engines/drivers.ts';
import type { LogLevel } from './system/log.ts';

const { CLUSTERWRIGHT_LOG_LEVEL, CLUSTERWRIGHT_TERMINATION_MESSAGE_PATH } = process.env;

process.exitCode = await runAgentProcess({
  drivers,
  path: process.argv[2],
  terminationMessagePath: CLUSTERWRIGHT_TERMINATION_MESSAGE_PATH,
  logLevel: (CLUSTERWRIGHT_LOG_LEVEL ?? 'info') as LogLevel,
});
process.exit();
