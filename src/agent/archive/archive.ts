/**
 * Follows the log of a cluster into its archive, until it is stopped. Whatever fails is tried again: the database keeps what is not
 * stored. Beside that, it takes a base backup where none leads to the end of the log, and lets go what no backup needs.
 */
import type { ArchiveTask } from '../../backup/agent-task.ts';
import type { AgentContext } from '../../engine/driver/agent-context.ts';
import { driverOf } from '../../engine/driver/driver.ts';
import { Failure, tellable } from '../../engine/driver/failure.ts';
import type { LogArchive } from '../../engine/driver/log-archive.ts';
import { sleep } from '../../system/clock.ts';
import type { AgentIO } from '../agent-io.ts';
import type { Repository } from '../repository.ts';
import { type SecretDigests, untilSecretsChange } from './changed-secrets.ts';
import { logStore, type WritableLogStore } from './log-store.ts';
import { type Progress, progress } from './progress.ts';
import { serveReport } from './report-server.ts';
import { upkeep } from './upkeep.ts';

/** Between two attempts. */
const againMs = 1_000;
const maxMessage = 500;

/** @throws Failure Stopped, Unfit */
export async function archiveLog(
  task: ArchiveTask,
  repository: Repository,
  context: AgentContext,
  io: Pick<AgentIO, 'spool'>,
  secrets: SecretDigests,
): Promise<never> {
  const { archive, engine } = driverOf(repository.drivers, task.source.engine);
  if (archive === undefined) throw new Failure('Unfit', `${engine} has no log that could be archived`);
  const shown = progress(context.clock);
  const server = await serveReport(task.port, shown.report);
  const store = logStore(repository, task.cluster, context);
  try {
    const ending = upkeep({ task, repository, archive, store, shown }, context, io);
    const changed = untilSecretsChange(task, secrets, context);
    return await Promise.race([followed(task, archive, store, shown, context), ending, changed]);
  } finally {
    server.close();
  }
}

async function followed(
  { source }: ArchiveTask,
  archive: LogArchive,
  store: WritableLogStore,
  shown: Progress,
  context: AgentContext,
): Promise<never> {
  const { clock, log, signal } = context;
  let told: string | undefined;
  for (;;) {
    try {
      for await (const event of archive.follow(source, store, context)) {
        switch (event.kind) {
          case 'opened':
            log.info({ from: event.message }, 'the log is followed');
            told = undefined;
            shown.following();
            break;
          case 'gap':
            log.error({ gap: event.message }, 'the log has a gap');
            shown.gap(event.message);
            break;
          case 'piece':
            await store.put(event);
            log.debug({ piece: event.name, end: event.end, isWhole: event.isWhole }, 'stored');
            shown.stored(event.end);
            break;
          default:
            event satisfies never;
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof Failure ? error.reason : 'Unexpected';
      const message = tellable(error, context, maxMessage);
      shown.failing({ reason, message });
      // Once each: a store that is away for a day is tried many times.
      if (message !== told) log.warn({ err: error, reason }, 'the log is not archived: it is tried again');
      told = message;
    }
    await sleep(clock, againMs, signal);
  }
}
