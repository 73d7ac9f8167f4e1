/**
 * Lays a dump out as the data directory of a new Redis: an append-only file that consists of its base alone, and the mark
 * that says that the volume holds a dataset. Redis reads the one, the pod's start script the other.
 *
 * Every byte is checked before the folder takes its name, and each step can be found again: a volume that holds anything
 * else is never touched, and a second attempt ends where the first one was cut off.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Origin } from '../../../engine/driver/driver.ts';
import { renameDurably, syncFolder, writeDurably } from '../../../engine/driver/durable.ts';
import { codeOf, Failure } from '../../../engine/driver/failure.ts';

/** Names that the shipped configuration gives Redis by default. */
const appendFolder = 'appendonlydir';
const base = 'appendonly.aof.1.base.rdb';
const manifest = { name: 'appendonly.aof.manifest', content: `file ${base} seq 1 type b\n` };
/** As the start script looks for it. */
const mark = 'initialised';
/** Likewise, in mode Cluster: without `nodes.conf`, data is only served where this is there. It is there before the data is, and goes with the first start. */
const shardMark = 'restored-shard';

const staging = '.restoring';
const origin = 'restored-from.json';
/** A file system's own, and what an attempt that was cut off has left. */
const harmless: ReadonlySet<string> = new Set(['lost+found', staging, origin, `${origin}.part`]);

/**
 * @param shardSlots of the volume of a shard of a Redis Cluster: which ones, for people
 * @returns whether an earlier attempt had done it
 * @throws Failure Occupied
 */
export async function fillRedisVolume(
  directory: string,
  from: Origin,
  content: () => AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  shardSlots?: string,
): Promise<{ readonly isRepeated: boolean }> {
  const place = (...names: readonly string[]): string => join(directory, ...names);
  const entries = await entriesOf(directory);
  const isFilled = entries.includes(appendFolder) && (await isFrom(place(origin), from));
  if (isFilled) await requireUntouched(place(appendFolder));
  if (isFilled && entries.includes(mark)) return { isRepeated: true };
  if (!isFilled) {
    const isHarmless = (name: string): boolean =>
      harmless.has(name) || (name === shardMark && shardSlots !== undefined);
    const foreign = entries.filter((name) => !isHarmless(name));
    if (foreign.length > 0) {
      const some = foreign.slice(0, 5).join(', ');
      throw new Failure('Occupied', `${directory} holds ${some}: nothing is written over data`);
    }
    await rm(place(staging), { recursive: true, force: true });
    try {
      await mkdir(place(staging));
      await writeDurably(place(staging, base), content(), signal);
      await writeDurably(place(staging, manifest.name), [Buffer.from(manifest.content)], signal);
      await syncFolder(place(staging));
      await writeDurably(place(`${origin}.part`), [Buffer.from(`${JSON.stringify(from)}\n`)], signal);
      await renameDurably(place(`${origin}.part`), place(origin));
      if (shardSlots !== undefined) await writeDurably(place(shardMark), [Buffer.from(`${shardSlots}\n`)], signal);
    } catch (error) {
      await rm(place(staging), { recursive: true, force: true });
      await rm(place(`${origin}.part`), { force: true });
      throw error;
    }
    await renameDurably(place(staging), place(appendFolder));
  }
  await writeDurably(place(mark), [], signal);
  await syncFolder(directory);
  return { isRepeated: false };
}

async function entriesOf(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (cause) {
    throw new Failure('BadTask', `destination.directory ${directory} cannot be used`, { cause });
  }
}

/** The backup that an earlier attempt has begun to fill the volume from; undefined where none has. */
export async function begunFrom(directory: string): Promise<string | undefined> {
  return (await originIn(join(directory, origin)))?.path;
}

async function isFrom(path: string, from: Origin): Promise<boolean> {
  const found = await originIn(path);
  return found?.path === from.path && found.plainSha256 === from.plainSha256;
}

async function originIn(path: string): Promise<Partial<Origin> | undefined> {
  try {
    const found = JSON.parse(await readFile(path, 'utf8')) as Partial<Origin> | null;
    return typeof found?.path === 'string' ? found : undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A Redis that has run on it has written a file beside the base: then it is data of its own, wherever it began. */
async function requireUntouched(folder: string): Promise<void> {
  const found = await readdir(folder);
  const isOurs = found.every((name) => name === base || name === manifest.name);
  if (isOurs && (await readFile(join(folder, manifest.name), 'utf8')) === manifest.content) return;
  throw new Failure('Occupied', `a Redis has written to ${folder} since it was filled: nothing is written over data`);
}
