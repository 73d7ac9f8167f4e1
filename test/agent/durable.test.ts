/** Files that outlive a power failure: on the disk before they bear their name, and their folder after it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renameDurably, syncFolder, writeDurably } from '../../src/engine/driver/durable.ts';
import { type FileJournal, fileJournal } from '../support/file-journal.ts';

let directory: string;
let journal: FileJournal;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'durable-'));
  journal = await fileJournal(directory);
});
afterEach(() => {
  journal.stop();
  rmSync(directory, { recursive: true });
});

const { signal } = new AbortController();

describe('a file that is written', () => {
  it('is on the disk as a whole, over what was there, and closed', async () => {
    const path = join(directory, 'data');
    writeFileSync(path, 'old and longer');
    await writeDurably(path, [Buffer.from('new '), Buffer.from('data')], signal);
    expect(readFileSync(path, 'utf8')).toBe('new data');
    expect(journal.entries).toEqual(['sync data of 8 bytes']);
    expect(journal.stillOpen()).toBe(0);
  });

  it('is nobody else’s to read', async () => {
    const path = join(directory, 'data');
    await writeDurably(path, [], signal);
    expect(statSync(path).mode & 0o027).toBe(0);
  });

  it('is closed and not called durable where its content fails, or the agent is stopped in between', async () => {
    const stopping = new AbortController();
    async function* content(end: () => void): AsyncGenerator<Uint8Array> {
      yield Buffer.from('first');
      end();
      yield Buffer.from('second');
    }
    const cut = (): never => {
      throw new Error('cut off');
    };
    await expect(writeDurably(join(directory, 'a'), content(cut), signal)).rejects.toThrow('cut off');
    const stop = (): void => stopping.abort(new Error('stopped'));
    await expect(writeDurably(join(directory, 'b'), content(stop), stopping.signal)).rejects.toThrow('stopped');
    expect(readFileSync(join(directory, 'b'), 'utf8')).toBe('first');
    expect(journal.entries).toEqual([]);
    expect(journal.stillOpen()).toBe(0);
  });
});

describe('a name', () => {
  it('is given for good once the folder around it is on the disk, too', async () => {
    mkdirSync(join(directory, 'folder'));
    writeFileSync(join(directory, 'data.part'), 'x');
    await renameDurably(join(directory, 'data.part'), join(directory, 'folder', 'data'));
    expect(journal.entries).toEqual(['sync folder with data']);
    expect(journal.stillOpen()).toBe(0);
  });

  it('is not given to a file that is not there, and a folder that is not there is not brought to the disk', async () => {
    await expect(renameDurably(join(directory, 'a'), join(directory, 'b'))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(syncFolder(join(directory, 'nowhere'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(journal.entries).toEqual([]);
  });
});
