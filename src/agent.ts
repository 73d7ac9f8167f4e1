/** Entry point of the backup agent: what Jobs and CronJobs run. Its only argument is the path of a task. */
import { runAgentProcess } from './agent/process.ts';
import type { LogLevel } from './runtime/log.ts';

const { CLUSTERWRIGHT_LOG_LEVEL, CLUSTERWRIGHT_TERMINATION_MESSAGE_PATH } = process.env;

process.exitCode = await runAgentProcess({
  path: process.argv[2],
  terminationMessagePath: CLUSTERWRIGHT_TERMINATION_MESSAGE_PATH,
  logLevel: (CLUSTERWRIGHT_LOG_LEVEL ?? 'info') as LogLevel,
});
process.exit();
