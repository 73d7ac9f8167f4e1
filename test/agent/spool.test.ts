/** Data in the scratch space of the pod: there as a whole, or not at all. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spoolTo } from '../../src/agent/spool.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { expectResult } from '../support/agent-context.ts';
import { collectedBytes } from '../support/collected.ts';
import { smallSnapshot } from '../support/dumps.ts';
import { type FileJournal, fileJournal } from '../support/file-journal.ts';
import { runWith } from '../support/given-dump.ts';
import { type BackupStore, openStore } from '../support/stored-backup.ts';

let directory: string;
let store: BackupStore;
let journal: FileJournal | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'spool-'));
  store = openStore();
});
afterEach(() => {
  journal?.stop();
  rmSync(directory, { recursive: true });
  store.close();
});

const { signal } = new AbortController();
async function* content(end: () => void = () => undefined): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < 40; i++) yield Buffer.alloc(100_000, i);
  end();
}

describe('a spool', () => {
  it('gives back what it was given, as often as it is asked, and leaves nothing', async () => {
    const spool = await spoolTo(directory, content(), signal);
    const given = await collectedBytes(content());
    for (let i = 0; i < 2; i++) expect((await collectedBytes(spool.content())).equals(given)).toBe(true);
    await spool.remove();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('leaves nothing of what ends early or is stopped', async () => {
    const fail = (): never => {
      throw new Error('cut off');
    };
    await expect(spoolTo(directory, content(fail), signal)).rejects.toThrow('cut off');
    await expect(spoolTo(directory, content(), AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    expect(readdirSync(directory)).toEqual([]);
    await expect(spoolTo(join(directory, 'nowhere'), content(), signal)).rejects.toMatchObject({ reason: 'BadTask' });
  });

  it('is closed, also of what ends early', async () => {
    journal = await fileJournal(directory);
    const fail = (): never => {
      throw new Error('cut off');
    };
    await spoolTo(directory, content(), signal);
    await expect(spoolTo(directory, content(fail), signal)).rejects.toThrow('cut off');
    expect(journal.stillOpen()).toBe(0);
  });

  it('says that there is no room in the pod, which is nobody’s fault but the machine’s', async () => {
    // What is written to it finds a full disk.
    symlinkSync('/dev/full', join(directory, 'spool'));
    await expect(spoolTo(directory, content(), signal)).rejects.toMatchObject({
      reason: 'Unexpected',
      message: `there is no room for the data in ${directory} of the pod`,
      cause: { code: 'ENOSPC' },
    });
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each<[string, Error]>([
    [
      'the database',
      new Failure('SourceBroken', 'cut off', { cause: Object.assign(new Error('x'), { code: 'ENOSPC' }) }),
    ],
    ['a defect', new Error('odd')],
    ['a connection', Object.assign(new Error('reset'), { code: 'ECONNRESET' })],
  ])('does not take the blame for %s', async (_, error) => {
    const fail = (): never => {
      throw error;
    };
    await expect(spoolTo(directory, content(fail), signal)).rejects.toBe(error);
  });

  it('holds nothing in plain where there is a key', async () => {
    const task = {
      task: 'take',
      target: { type: 'claim', directory: join(store.home, 'nowhere'), prefix: '' },
      encryptionKeyFile: store.keyFile,
      scratchDirectory: directory,
      cluster: { namespace: 'apps', kind: 'EtcdCluster', name: 'db', uid: 'uid-2' },
      purpose: { type: 'schedule', name: 'nightly' },
      source: { engine: 'etcd', members: [{ host: '127.0.0.1', port: 1 }] },
    };
    const state = { engine: 'etcd', clusterId: '1', memberId: '2', revision: '3' } as const;
    const { backup } = expectResult(await runWith({ ...task, target: store.target }, state), 'taken');
    expect(readdirSync(directory)).toEqual([]);
    const stored = readFileSync(join(store.home, 'claim', backup.folder, 'data'));
    expect(stored.includes(smallSnapshot().subarray(0, 64))).toBe(false);
    expect(await runWith(task, state)).toMatchObject({ result: 'failed', reason: 'TargetRefused' });
    expect(readdirSync(directory)).toEqual([]);
  });
});
