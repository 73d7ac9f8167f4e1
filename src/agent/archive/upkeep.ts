/**
 * What an archive needs beside the log: a backup that the log leads on from, and an end. Each round looks at the store alone, so it
 * does not matter who has taken which backup, or whether the operator is there.
 */
import type { ArchiveTask, TakeTask } from '../../backup/agent-task.ts';
import { clusterFolder } from '../../backup/identity.ts';
import type { AgentContext } from '../../engine/driver/agent-context.ts';
import { tellable } from '../../engine/driver/failure.ts';
import type { LogArchive } from '../../engine/driver/log-archive.ts';
import { sleep } from '../../system/clock.ts';
import type { AgentIO } from '../agent-io.ts';
import { foldersIn, historyOf, type Repository } from '../repository.ts';
import { take } from '../take.ts';
import type { WritableLogStore } from './log-store.ts';
import type { Progress } from './progress.ts';

/** While there is no base backup, or something has failed. */
const soonMs = 5_000;
const laterMs = 300_000;
/** A backup that was just taken has so long until the log that it begins with is stored. */
const baseMs = 60_000;
const againMs = 1_000;
/** A checkpoint comes before the first byte of a base backup, however long that takes. */
const backupIdleMs = 600_000;

export interface UpkeepOptions {
  readonly task: ArchiveTask;
  readonly repository: Repository;
  readonly archive: LogArchive;
  readonly store: WritableLogStore;
  readonly shown: Progress;
}

/** Until the signal aborts. */
export async function upkeep(
  options: UpkeepOptions,
  context: AgentContext,
  io: Pick<AgentIO, 'spool'>,
): Promise<never> {
  const { shown } = options;
  const { clock, log, signal } = context;
  let unneededBefore: readonly string[] = [];
  for (;;) {
    let isWell = false;
    try {
      // Before the log comes there is nothing that a backup could be the base of.
      if (shown.report().state === 'following' && shown.hasLog()) {
        isWell = await sinceTheGap(shown, () => hasBase(options));
        shown.upkeep({ hasBase: isWell });
        if (!isWell) {
          await takeBase(options, context, io);
          isWell = await sinceTheGap(shown, () => becomesBase(options, context));
        } else unneededBefore = await prune(options, unneededBefore, context);
        shown.upkeep({ hasBase: isWell });
      }
    } catch (error) {
      signal.throwIfAborted();
      isWell = false;
      log.warn({ err: error }, 'the upkeep of the archive has failed');
      shown.upkeep({ hasBase: shown.report().hasBase, problem: tellable(error, context, 300) });
    }
    // A gap is seen at once, not at the end of a long pause.
    for (let waited = 0; waited < (isWell ? laterMs : soonMs); waited += soonMs) {
      if (isWell && shown.report().gap !== undefined) break;
      await sleep(clock, soonMs, signal);
    }
  }
}

async function backupsOf({ task, repository }: UpkeepOptions) {
  const folders = await foldersIn(repository.target, clusterFolder(task.cluster));
  const withManifest = folders.filter(({ hasManifest }) => hasManifest);
  const known = await historyOf(repository, withManifest);
  return { states: known.map(({ manifest }) => manifest.state), isComplete: known.length === withManifest.length };
}

/** What was found in a store that did not tell of a gap yet does not count. */
async function sinceTheGap(shown: Progress, ask: () => Promise<boolean>): Promise<boolean> {
  const { gap } = shown.report();
  return (await ask()) && shown.report().gap === gap;
}

async function hasBase(options: UpkeepOptions): Promise<boolean> {
  const { archive, store } = options;
  const { states } = await backupsOf(options);
  return (await archive.replayable(states, store)).length > 0;
}

/** The log that the backup begins with may still be on its way. */
async function becomesBase(options: UpkeepOptions, { clock, signal }: AgentContext): Promise<boolean> {
  for (let waited = 0; waited < baseMs; waited += againMs) {
    if (await hasBase(options)) return true;
    await sleep(clock, againMs, signal);
  }
  return false;
}

async function takeBase(
  { task, repository }: UpkeepOptions,
  context: AgentContext,
  io: Pick<AgentIO, 'spool'>,
): Promise<void> {
  const { cluster, source } = task;
  context.log.info({}, 'no backup leads to the end of the log: one is taken');
  const own: TakeTask = {
    task: 'take',
    cluster,
    purpose: { type: 'archive', name: cluster.name },
    source,
    target: task.target,
    idleTimeoutSeconds: backupIdleMs / 1000,
    jitterSeconds: 0,
  };
  await take(own, repository, { ...context, idleMs: backupIdleMs }, io);
}

/**
 * A list of the store may lack what is there. So nothing goes unless two rounds agree, and nothing at all while there is a backup whose
 * manifest cannot be read, of which nobody knows what it needs.
 */
async function prune(
  options: UpkeepOptions,
  before: readonly string[],
  { log }: AgentContext,
): Promise<readonly string[]> {
  const { archive, store } = options;
  const { states, isComplete } = await backupsOf(options);
  if (!isComplete) {
    log.warn({}, 'a manifest cannot be read: none of the log is let go');
    return [];
  }
  const now = archive.unneeded(states, await store.list());
  const agreed = now.filter((name) => before.includes(name));
  for (const name of agreed) await store.remove(name);
  if (agreed.length > 0) log.info({ pieces: agreed.length }, 'parts of the log that no backup needs are deleted');
  return now.filter((name) => !agreed.includes(name));
}
