/// <reference types="node" preserve="true" />
/** The backup agent as Jobs and CronJobs run it: the path of a task is its only argument. */
import type { Driver } from '../engine/driver/driver.ts';
import type { LogLevel } from '../system/log.ts';
import { runAgentProcess } from './process.ts';

/** Resolves with the exit code. */
export function runAgent({ drivers }: { readonly drivers: readonly Driver[] }): Promise<number> {
  const { CLUSTERWRIGHT_LOG_LEVEL, CLUSTERWRIGHT_TERMINATION_MESSAGE_PATH } = process.env;
  return runAgentProcess({
    drivers,
    path: process.argv[2],
    terminationMessagePath: CLUSTERWRIGHT_TERMINATION_MESSAGE_PATH,
    logLevel: (CLUSTERWRIGHT_LOG_LEVEL ?? 'info') as LogLevel,
  });
}
