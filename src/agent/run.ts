/** One task from beginning to end: a result, whatever happens. */
import { type AgentResult, exitCodes, maxResultBytes } from '../backup/agent-result.ts';
import { type AgentTask, BadTask, parseAgentTask } from '../backup/agent-task.ts';
import type { AgentContext } from '../engine/driver/agent-context.ts';
import type { Driver } from '../engine/driver/driver.ts';
import { Failure, isTransient, tellable } from '../engine/driver/failure.ts';
import type { AgentIO } from './agent-io.ts';
import { archiveLog } from './archive/archive.ts';
import { type SecretDigests, secretDigests } from './archive/changed-secrets.ts';
import { fetchBackup } from './fetch.ts';
import { listBackups, verifyBackup } from './inspect.ts';
import type { Repository } from './repository.ts';
import { take } from './take.ts';

const maxMessage = 1000;

/** @param context what the agent knows before it has read how patient it is to be */
export async function runTask(
  text: string,
  context: Omit<AgentContext, 'idleMs'>,
  io: AgentIO,
  drivers: readonly Driver[],
): Promise<AgentResult> {
  try {
    const task = parseAgentTask(text, drivers);
    const patient: AgentContext = { ...context, idleMs: task.idleTimeoutSeconds * 1000 };
    const secrets = task.task === 'archive' ? await secretDigests(task) : new Map<string, string>();
    const keys = await io.keys(task.encryptionKeyFile, patient);
    const target = await io.openTarget(task.target, patient);
    try {
      return await done(task, { target, keys, drivers }, patient, io, secrets);
    } finally {
      target.close();
    }
  } catch (error) {
    return failed(error, context);
  }
}

function done(
  task: AgentTask,
  repository: Repository,
  context: AgentContext,
  io: AgentIO,
  secrets: SecretDigests,
): Promise<AgentResult> {
  switch (task.task) {
    case 'take':
      return take(task, repository, context, io);
    case 'fetch':
      return fetchBackup(task, repository, context);
    case 'archive':
      return archiveLog(task, repository, context, io, secrets);
    case 'verify':
      return verifyBackup(task, repository, context);
    case 'list':
      return listBackups(task, repository, context);
  }
}

function failed(error: unknown, context: Pick<AgentContext, 'log' | 'signal' | 'conceal'>): AgentResult {
  const { log, signal } = context;
  const cause = signal.aborted ? (signal.reason as unknown) : error;
  const reason = cause instanceof Failure ? cause.reason : cause instanceof BadTask ? 'BadTask' : 'Unexpected';
  log.error({ err: error, reason }, 'the task failed');
  const message = tellable(cause, context, maxMessage);
  return { result: 'failed', reason, message, isTransient: isTransient(reason) };
}

export function exitCodeOf(result: AgentResult): number {
  if (result.result !== 'failed') return exitCodes.done;
  if (result.reason === 'Stopped') return exitCodes.stopped;
  return result.isTransient ? exitCodes.failed : exitCodes.permanent;
}

/** As a termination message: whole, or with less of what can be done without. */
export function serializeResult(result: AgentResult): string {
  const text = JSON.stringify(result);
  if (Buffer.byteLength(text) <= maxResultBytes) return text;
  switch (result.result) {
    case 'listed':
      return serializeResult({ ...result, backups: result.backups.slice(0, -1) });
    case 'failed':
      // A character has four bytes at most, and six where it is escaped.
      return JSON.stringify({ ...result, message: result.message.slice(0, Math.floor(result.message.length / 2)) });
    case 'taken':
    case 'fetched':
    case 'verified': {
      const { contents, ...backup } = result.backup;
      // The manifest has them all.
      if (contents !== undefined) return serializeResult({ ...result, backup });
      throw new Error(`a result has ${text.length} characters, and every part of it is bounded`);
    }
  }
}
