/** What this process asks of real files below a directory: which of them are brought to the disk, under which name, and in which order. */
import { readdirSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { vi } from 'vitest';

export interface FileJournal {
  /** `sync PATH`, a line each, with the name that the file or folder had at that moment; folders say what was in them. */
  readonly entries: readonly string[];
  /** Of the files that were written, read or synced: how many were not closed. */
  stillOpen(): number;
  stop(): void;
}

export async function fileJournal(root: string): Promise<FileJournal> {
  const entries: string[] = [];
  const handles = new Set<FileHandle>();
  const probe = await open(root, 'r');
  const methods = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  const { sync } = methods;
  const nameOf = (inode: number): string => {
    const names = ['.', ...readdirSync(root, { recursive: true, encoding: 'utf8' })];
    return names.find((name) => statSync(join(root, name)).ino === inode) ?? 'nowhere';
  };
  const syncs = vi.spyOn(methods, 'sync').mockImplementation(async function (this: FileHandle) {
    handles.add(this);
    const about = await this.stat();
    const name = nameOf(about.ino);
    const held = about.isDirectory() ? ` with ${readdirSync(join(root, name)).join(', ')}` : ` of ${about.size} bytes`;
    entries.push(`sync ${name}${held}`);
    await sync.call(this);
  });
  const others = (['writeFile', 'read'] as const).map((method) => {
    const original = methods[method] as (...args: unknown[]) => Promise<unknown>;
    return vi.spyOn(methods, method).mockImplementation(function (this: FileHandle, ...args: unknown[]) {
      handles.add(this);
      return original.apply(this, args) as never;
    });
  });
  return {
    entries,
    stillOpen: () => [...handles].filter(({ fd }) => fd !== -1).length,
    stop: () => {
      for (const spy of [syncs, ...others]) spy.mockRestore();
    },
  };
}
