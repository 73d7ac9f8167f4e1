/**
 * The agent as a process: a task's path in, a line of JSON out, and an exit code that says whether to try again.
 *
 * SIGTERM stops it at once: connections end, an upload that has begun is aborted, and no manifest is written.
 */
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AgentResult, exitCodes, terminationMessagePath } from '../backup/agent-result.ts';
import type { Driver } from '../engine/driver/driver.ts';
import { codeOf, Failure } from '../engine/driver/failure.ts';
import { systemClock } from '../system/clock.ts';
import { createLog, type LogLevel } from '../system/log.ts';
import { container } from './container.ts';
import { exitCodeOf, runTask, serializeResult } from './run.ts';

export interface AgentProcessOptions {
  /** Of the engines whose backups it takes and reads. */
  readonly drivers: readonly Driver[];
  /** Of the task. */
  readonly path: string | undefined;
  /** Default: where Kubernetes looks; where there is no such file, the message is on stdout only. */
  readonly terminationMessagePath?: string | undefined;
  readonly logLevel: LogLevel;
}

/** Resolves with the exit code. */
export async function runAgentProcess(options: AgentProcessOptions): Promise<number> {
  const log = createLog({ level: options.logLevel });
  const stopping = new AbortController();
  // Every member that is asked and every part that is sent listens.
  setMaxListeners(0, stopping.signal);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping');
      stopping.abort(new Failure('Stopped', `received ${signal}`));
    });
  }
  process.on('unhandledRejection', (error) => {
    log.error({ err: error }, 'a rejection was not handled');
    process.exit(exitCodes.failed);
  });
  const result = await resultOf(options.path, options.drivers, {
    clock: systemClock,
    random: randomBytes,
    log,
    environment: process.env,
    signal: stopping.signal,
    protect: (secret) => log.protect(secret),
    conceal: (text) => log.conceal(text),
  });
  const line = serializeResult(result);
  process.stdout.write(`${line}\n`);
  await leave(options.terminationMessagePath ?? terminationMessagePath, line).catch((error: unknown) => {
    log.warn({ err: error }, 'the termination message could not be written');
  });
  return exitCodeOf(result);
}

async function resultOf(
  path: string | undefined,
  drivers: readonly Driver[],
  context: Parameters<typeof runTask>[1],
): Promise<AgentResult> {
  const usage = (message: string): AgentResult => ({
    result: 'failed',
    reason: 'BadTask',
    message,
    isTransient: false,
  });
  if (path === undefined) return usage('the only argument is the path of a task');
  try {
    return await runTask(await readFile(path, 'utf8'), context, container, drivers);
  } catch (error) {
    return usage(`the task in ${path} cannot be read: ${codeOf(error) ?? String(error)}`);
  }
}

/** Only where the file is: outside of Kubernetes nobody looks for it. */
async function leave(path: string, line: string): Promise<void> {
  try {
    await writeFile(path, `${line}\n`, { flag: 'r+' });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
