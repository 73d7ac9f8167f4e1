/**
 * Takes a backup: data first, then everything read back and checked, then the manifest, then retention. Until the
 * manifest is written there is no backup, and whatever stops the agent before takes its own traces away where it can.
 * From then on the data stays: a manifest that nobody has answered for may be there, or arrive later.
 */
import type { AgentResult } from '../backup/agent-result.ts';
import type { TakeTask } from '../backup/agent-task.ts';
import { partedVersion } from '../backup/engine-data.ts';
import { encrypted, frameScheme } from '../backup/frames.ts';
import { backupId } from '../backup/id.ts';
import { clusterFolder } from '../backup/identity.ts';
import type { BackupKey } from '../backup/key.ts';
import {
  type Manifest,
  manifestVersion,
  ownerOf,
  type StoredData,
  serializeManifest,
  summaryOf,
} from '../backup/manifest.ts';
import { nextSequence } from '../backup/order.ts';
import type { AgentContext } from '../engine/driver/agent-context.ts';
import { driverOf } from '../engine/driver/driver.ts';
import { Failure, tellable } from '../engine/driver/failure.ts';
import { type Meter, meter } from '../engine/driver/meter.ts';
import { sleep } from '../system/clock.ts';
import { version } from '../system/version.ts';
import type { AgentIO } from './agent-io.ts';
import { lossByEarlier, prune } from './prune.ts';
import {
  claimedSequences,
  dataKey,
  type FoundBackup,
  foldersIn,
  historyOf,
  type KnownBackup,
  manifestKey,
  openManifest,
  type Repository,
} from './repository.ts';
import type { Target } from './target/target.ts';
import { verify } from './verified-data.ts';

type Taken = Extract<AgentResult, { readonly result: 'taken' }>;

export async function take(
  task: TakeTask,
  repository: Repository,
  context: AgentContext,
  io: Pick<AgentIO, 'spool'>,
): Promise<Taken> {
  const { clock, random, signal, log } = context;
  const began = clock.monotonic();
  const milliseconds = (): number => Math.round(clock.monotonic() - began);
  let { known, claimed } = await knownOf(task, repository);
  const earlier = madeBefore(task, known);
  if (earlier !== undefined) {
    log.info({ folder: earlier.path }, 'an earlier attempt has made this backup');
    return await rated(earlier, true);
  }
  if (task.jitterSeconds > 0) {
    const share = random(4).readUInt32BE() / 2 ** 32;
    await sleep(clock, share * task.jitterSeconds * 1000, signal);
    // Others have gone before it meanwhile.
    ({ known, claimed } = await knownOf(task, repository));
  }
  const sequence = nextSequence([...known.map(({ manifest }) => manifest), ...claimed]);
  const made = await make(task, repository, sequence, context, io);
  log.info({ folder: made.path, bytes: made.manifest.data.plainBytes }, 'the backup is made and verified');
  return await rated(made, false);

  /** What it means for those before it. The backup is good, whatever becomes of them. */
  async function rated(found: FoundBackup, isRepeated: boolean): Promise<Taken> {
    const { manifest } = found;
    const about = driverOf(repository.drivers, manifest.engine).describe(manifest.state);
    const backup = summaryOf(manifest, task.target.prefix, about);
    const taken = { result: 'taken', backup, isRepeated } as const;
    try {
      const { expired, doubt, ...said } = await prune(repository, task, found, known, context);
      if (said.suddenLoss !== undefined) log.warn({ why: said.suddenLoss }, 'the backup holds suddenly little');
      const failure = doubt === undefined ? {} : { retentionFailure: doubt };
      return { ...taken, pruned: expired, ...failure, ...said, milliseconds: milliseconds() };
    } catch (error) {
      log.error({ err: error }, 'retention could not do its work');
      return {
        ...taken,
        pruned: 0,
        retentionFailure: tellable(error, context, 300),
        ...lossByEarlier(repository, found, known, task.confirmed),
        milliseconds: milliseconds(),
      };
    }
  }
}

/**
 * What there is of the cluster, newest first. The target is asked whatever the purpose is: no database shall make a dump
 * for one that is not there.
 */
async function knownOf(
  { cluster }: TakeTask,
  repository: Repository,
): Promise<{
  readonly known: readonly KnownBackup[];
  readonly claimed: Awaited<ReturnType<typeof claimedSequences>>;
}> {
  const { target } = repository;
  const folders = await foldersIn(target, clusterFolder(cluster));
  const known = await historyOf(repository, folders);
  return { known, claimed: await claimedSequences(target, folders, known) };
}

/** A Job repeats what it is not sure of; one Backup is to have one backup, and so is one change of the version. */
function madeBefore({ purpose }: TakeTask, known: readonly KnownBackup[]): FoundBackup | undefined {
  const isOnce = purpose.type === 'backup' || purpose.type === 'version';
  if (!isOnce || purpose.uid === undefined) return undefined;
  return known.find(({ manifest }) => manifest.purpose.uid === purpose.uid);
}

async function make(
  task: TakeTask,
  repository: Repository,
  sequence: number,
  context: AgentContext,
  io: Pick<AgentIO, 'spool'>,
): Promise<FoundBackup> {
  const { cluster, purpose, source } = task;
  const { target, drivers } = repository;
  const key: BackupKey | undefined = repository.keys?.[0];
  const { clock, random, log } = context;
  const startedAt = clock.now();
  const id = backupId(startedAt, random(4));
  const path = `${clusterFolder(cluster)}/${id}`;
  const dump = await driverOf(drivers, source.engine).dump(source, context);
  let isManifestSent = false;
  /** What may have been written, by the numbers of parts. */
  const begun: (number | undefined)[] = dump.others === undefined ? [undefined] : [];
  /** A database that keeps a view of itself open for as long as it is read has been read before the target is asked. */
  const upload = async (
    data: AsyncIterable<Uint8Array>,
    put: (data: AsyncIterable<Uint8Array>) => Promise<void>,
  ): Promise<void> => {
    if (task.scratchDirectory === undefined) return put(data);
    const spool = await io.spool(task.scratchDirectory, data, context);
    try {
      dump.close();
      await put(spool.content());
    } finally {
      await spool.remove();
    }
  };
  try {
    const [plain, stored] = [meter(), meter()];
    const identity = { cluster, id, engine: source.engine };
    const store = async (given: AsyncIterable<Uint8Array>, part: number | undefined): Promise<StoredData> => {
      if (part !== undefined) begun.push(part);
      const own = { plain: meter(), stored: meter() };
      const content = plain.of(own.plain.of(given));
      const sealed =
        key === undefined ? content : encrypted(content, { key, owner: ownerOf(identity, part), salt: random(32) });
      await upload(sealed, (data) => target.put(dataKey(path, part), stored.of(own.stored.of(data))));
      return metered(own.plain, own.stored);
    };
    let parts: StoredData[] | undefined;
    if (dump.others === undefined) await store(dump.content, undefined);
    else {
      parts = [await store(dump.content, 0)];
      for await (const content of dump.others) parts.push(await store(content, parts.length));
    }
    const draft = {
      formatVersion: parts === undefined ? manifestVersion : partedVersion,
      ...identity,
      sequence,
      engineVersion: dump.engineVersion,
      purpose,
      topology: dump.topology,
      startedAt: new Date(startedAt).toISOString(),
      data: metered(plain, stored),
      ...(parts === undefined ? {} : { parts }),
      encryption: key === undefined ? { scheme: 'none' } : { scheme: frameScheme, keyId: key.id },
      state: dump.state(),
      writtenBy: `clusterwright ${version}`,
    } satisfies Omit<Manifest, 'completedAt'>;
    log.info({ folder: path, bytes: plain.bytes }, 'everything is stored, and is read back');
    await asBroken(verify(repository, { path, manifest: { ...draft, completedAt: draft.startedAt }, key }));
    const manifest: Manifest = { ...draft, completedAt: new Date(clock.now()).toISOString() };
    isManifestSent = true;
    await target.put(manifestKey(path), pieces(serializeManifest(manifest, key)));
    await asBroken(openManifest({ ...repository, keys: key === undefined ? undefined : [key] }, path));
    return { path, manifest, key };
  } catch (error) {
    if (isManifestSent && !isDenied(error)) log.warn({ folder: path }, 'the data stays: the manifest may still arrive');
    else await removeTraces(target, path, begun, context);
    throw error;
  } finally {
    dump.close();
  }
}

function metered(plain: Meter, stored: Meter): StoredData {
  return {
    plainBytes: plain.bytes,
    plainSha256: plain.sha256(),
    storedBytes: stored.bytes,
    storedSha256: stored.sha256(),
  };
}

async function* pieces(content: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(content);
}

/** What was written a moment ago was not tampered with: the target is of no use. */
async function asBroken<T>(checking: Promise<T>): Promise<T> {
  try {
    return await checking;
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== 'Tampered') throw error;
    throw new Failure('TargetBroken', `what was read back is not what was written: ${error.message}`, { cause: error });
  }
}

/** The target has said that the manifest is not there, or is not what was written. */
function isDenied(error: unknown): boolean {
  return error instanceof Failure && (error.reason === 'TargetRefused' || error.reason === 'TargetBroken');
}

async function removeTraces(
  target: Target,
  path: string,
  begun: readonly (number | undefined)[],
  { log }: AgentContext,
): Promise<void> {
  try {
    await target.remove(manifestKey(path));
    for (const part of begun) await target.remove(dataKey(path, part));
  } catch (error) {
    log.warn({ err: error, folder: path }, 'a folder without a backup stays: it is swept by a schedule, a day later');
  }
}
