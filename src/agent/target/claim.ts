/**
 * Backups as files in a mounted directory. A file is written beside its place, brought to the disk and renamed, so that
 * whatever bears its name is whole.
 */
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ClaimPlace } from '../../backup/place.ts';
import type { AgentContext } from '../../engine/driver/agent-context.ts';
import { syncFolder, writeDurably } from '../../engine/driver/durable.ts';
import { codeOf, Failure } from '../../engine/driver/failure.ts';
import type { StoredObject, Target } from './target.ts';

const readBytes = 1024 * 1024;
const unfinished = '.part';

/** In a volume: of Redis, of etcd as we and others lay it out, of PostgreSQL, MySQL and Kafka. */
const databaseFiles: readonly string[] = [
  'appendonlydir/appendonly.aof.manifest',
  'dump.rdb',
  'data/member/snap',
  'member/snap',
  'PG_VERSION',
  'data/PG_VERSION',
  'pgdata/PG_VERSION',
  'ibdata1',
  'meta.properties',
];

export function claimTarget(place: ClaimPlace, { signal }: Pick<AgentContext, 'signal'>): Target {
  // Without a slash at its end: what is below it has a longer path, and it has itself to be brought to the disk.
  const directory = resolve(place.directory);
  const root = join(directory, place.prefix);
  const pathOf = (key: string): string => join(root, key);

  /** Takes away what is empty, up to the mounted directory. */
  async function removeEmpty(from: string): Promise<void> {
    for (let folder = from; folder.length > directory.length; folder = dirname(folder)) {
      try {
        await rmdir(folder);
      } catch (error) {
        // It holds something, or somebody else was faster.
        if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EBUSY'].includes(codeOf(error) ?? '')) return;
        throw error;
      }
    }
  }

  async function requireMounted(): Promise<void> {
    const found = await stat(directory).catch((cause: unknown) => {
      throw new Failure('TargetRefused', `${directory} cannot be used`, { cause });
    });
    if (!found.isDirectory()) throw new Failure('TargetRefused', `${directory} is no directory`);
  }

  /** Nothing is written beside the files of a database: whatever named this volume as a target was wrong. */
  async function requireNoDatabase(): Promise<void> {
    await requireMounted();
    for (const name of databaseFiles) {
      const isThere = await lstat(join(directory, name)).then(
        () => true,
        () => false,
      );
      if (!isThere) continue;
      const words = `the volume holds the data of a database (${name}), and backups need one of their own`;
      throw new Failure('TargetRefused', words);
    }
  }

  async function* walk(folder: string, key: string): AsyncGenerator<StoredObject> {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return [];
      throw failureOf(error, folder);
    });
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const inner = key === '' ? entry.name : `${key}/${entry.name}`;
      if (entry.isDirectory()) yield* walk(path, inner);
      else if (entry.isFile()) {
        const found = await lstat(path).catch((error: unknown) => {
          // Somebody else took it away in between. For any other reason it may be there, and a list that lacks it is wrong.
          if (codeOf(error) === 'ENOENT') return undefined;
          throw failureOf(error, path);
        });
        if (found !== undefined) yield { key: inner, bytes: found.size, modifiedAt: found.mtimeMs };
      }
    }
  }

  return {
    async put(key, content) {
      await requireNoDatabase();
      const path = pathOf(key);
      const part = `${path}${unfinished}`;
      try {
        await mkdir(dirname(path), { recursive: true });
        await writeDurably(part, content, signal);
        await rename(part, path);
        await reachDisk(dirname(path), directory);
      } catch (error) {
        // What cannot be taken away is swept a day later. It must not hide why the backup failed.
        await rm(part).catch(() => undefined);
        await removeEmpty(dirname(path)).catch(() => undefined);
        throw failureOf(error, path);
      }
    },
    async *get(key) {
      await requireMounted();
      let file: FileHandle;
      try {
        file = await open(pathOf(key), 'r');
      } catch (error) {
        throw failureOf(error, pathOf(key));
      }
      try {
        for (;;) {
          signal.throwIfAborted();
          const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(readBytes), 0, readBytes);
          if (bytesRead === 0) return;
          yield buffer.subarray(0, bytesRead);
        }
      } catch (error) {
        throw failureOf(error, pathOf(key));
      } finally {
        await file.close();
      }
    },
    async *list(folder) {
      await requireMounted();
      yield* walk(pathOf(folder), folder);
    },
    async remove(key) {
      try {
        await rm(pathOf(key), { force: true });
        await removeEmpty(dirname(pathOf(key)));
      } catch (error) {
        throw failureOf(error, pathOf(key));
      }
    },
    async sweep(folder, before) {
      let swept = 0;
      for await (const { key, modifiedAt } of walk(pathOf(folder), folder)) {
        if (!key.endsWith(unfinished) || modifiedAt >= before) continue;
        await this.remove(key);
        swept += 1;
      }
      return swept;
    },
    close: () => undefined,
  };
}

/** A renamed file is safe once its folder is on the disk, and a new folder once the one around it is. */
async function reachDisk(from: string, upTo: string): Promise<void> {
  let folder = from;
  await syncFolder(folder);
  while (folder.length > upTo.length) {
    folder = dirname(folder);
    await syncFolder(folder);
  }
}

function failureOf(error: unknown, path: string): unknown {
  const code = codeOf(error);
  // What failed may have been the content.
  if (error instanceof Failure || code === undefined) return error;
  switch (code) {
    case 'ENOENT':
      return new Failure('NotFound', `there is no ${path}`, { cause: error });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
      return new Failure('TargetRefused', `${path} cannot be used`, { cause: error });
    case 'ENOSPC':
    case 'EDQUOT':
      return new Failure('TargetUnreachable', `there is no room for ${path}`, { cause: error });
    default:
      return new Failure('TargetUnreachable', `${path} cannot be used`, { cause: error });
  }
}
