/** Files and folders of a mounted directory: when a write survives a crash, and which error a failing disk gives. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimTarget } from '../../src/agent/target/claim.ts';
import type { Target } from '../../src/agent/target/target.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { agentContext } from '../support/agent-context.ts';
import { collected, collectedBytes } from '../support/collected.ts';
import { type FileJournal, fileJournal } from '../support/file-journal.ts';

let directory: string;
let target: Target;
let journal: FileJournal | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'claim-files-'));
  target = claimTarget({ type: 'claim', directory, prefix: 'team' }, agentContext());
});
afterEach(() => {
  journal?.stop();
  rmSync(directory, { recursive: true });
});

async function* content(text = 'data'): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
const all = (): readonly string[] => readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
function given(name: string, text = 'x'): void {
  mkdirSync(join(directory, 'team', name, '..'), { recursive: true });
  writeFileSync(join(directory, 'team', name), text);
}

describe('what is stored', () => {
  it.each(['', '/'])(
    'is on the disk before it has its name, and then each folder around it (mounted at …%s)',
    async (end) => {
      target = claimTarget({ type: 'claim', directory: `${directory}${end}`, prefix: 'team' }, agentContext());
      journal = await fileJournal(directory);
      await target.put('a/b/data', content());
      expect(journal.entries).toEqual([
        'sync team/a/b/data.part of 4 bytes',
        'sync team/a/b with data',
        'sync team/a with b',
        'sync team with a',
        'sync . with team',
      ]);
      expect((await collectedBytes(target.get('a/b/data'))).toString()).toBe('data');
      const [first] = await collected(target.get('a/b/data'));
      expect(first).toHaveLength(4);
      expect(journal.stillOpen()).toBe(0);
    },
  );

  it('goes with the folders that it leaves empty, and with none that holds something, nor with the mounted one', async () => {
    given('kept/data');
    given('a/b/c/data');
    given('a/rest');
    await target.remove('a/b/c/data');
    expect(all()).toEqual(['team', 'team/a', 'team/a/rest', 'team/kept', 'team/kept/data']);
    for (const key of ['a/rest', 'kept/data', 'kept/data']) await target.remove(key);
    expect(all()).toEqual([]);
  });
});

describe('a list', () => {
  it('goes on where a file goes in the meantime', async () => {
    for (const name of ['a/1', 'a/2', 'a/3']) given(name);
    const seen: string[] = [];
    for await (const { key } of target.list('a')) {
      seen.push(key);
      if (seen.length === 1) rmSync(join(directory, 'team/a', key === 'a/2' ? '1' : '2'));
    }
    expect(seen).toHaveLength(2);
  });

  it('fails rather than lack what may be there', async () => {
    for (const name of ['a/1', 'a/2']) given(name);
    const listing = async (): Promise<void> => {
      for await (const _ of target.list('a')) {
        rmSync(join(directory, 'team/a'), { recursive: true });
        given('a');
      }
    };
    await expect(listing()).rejects.toMatchObject({ reason: 'TargetRefused' });
    await expect(collected(target.list('x'.repeat(300)))).rejects.toMatchObject({
      reason: 'TargetUnreachable',
      cause: { code: 'ENAMETOOLONG' },
    });
  });

  it('is empty of what is a file, and of a folder that is not there', async () => {
    given('a');
    expect(await collected(target.list('a'))).toEqual([]);
    expect(await collected(target.list('b'))).toEqual([]);
  });
});

describe('a sweep', () => {
  it('takes what is older than it is told, and was never finished; nothing else', async () => {
    for (const name of ['a/old.part', 'a/just.part', 'a/old', 'b/old.part']) {
      given(name);
      utimesSync(join(directory, 'team', name), 1000, name.includes('just') ? 1000 : 999);
    }
    expect(await target.sweep('a', 1_000_000)).toBe(1);
    expect((await collected(target.list(''))).map(({ key }) => key).sort()).toEqual([
      'a/just.part',
      'a/old',
      'b/old.part',
    ]);
  });
});

describe('a disk that does not play along', () => {
  const path = (key: string): string => join(directory, 'team', key);

  it.each<[string, () => void, string, string, string]>([
    ['a file where a folder should be', () => given('a'), 'a/b/data', 'TargetRefused', 'cannot be used'],
    ['a name that is too long', () => given('rest'), `${'x'.repeat(300)}/data`, 'TargetUnreachable', 'cannot be used'],
    [
      'no room',
      () => {
        given('a/rest');
        // What is written to it finds a full disk.
        symlinkSync('/dev/full', path('a/data.part'));
      },
      'a/data',
      'TargetUnreachable',
      'there is no room for',
    ],
  ])('is told of, and nothing stays: %s', async (_, prepare, key, reason, words) => {
    prepare();
    const before = all().filter((name) => !name.endsWith('.part'));
    const said = words === 'cannot be used' ? `${path(key)} ${words}` : `${words} ${path(key)}`;
    await expect(target.put(key, content())).rejects.toMatchObject({ name: 'Failure', reason, message: said });
    expect(all()).toEqual(before);
  });

  it('is told of where it is read, and where something is taken away', async () => {
    given('a/b/data');
    await expect(collected(target.get('a/c'))).rejects.toMatchObject({
      reason: 'NotFound',
      message: `there is no ${path('a/c')}`,
    });
    const refused = {
      reason: 'TargetRefused',
      message: `${path('a/b/data/x')} cannot be used`,
      cause: { code: 'ENOTDIR' },
    };
    await expect(collected(target.get('a/b/data/x'))).rejects.toMatchObject(refused);
    await expect(target.remove('a/b/data/x')).rejects.toMatchObject(refused);
    // It can be opened, and not be read.
    await expect(collected(target.get('a/b'))).rejects.toMatchObject({
      reason: 'TargetUnreachable',
      message: `${path('a/b')} cannot be used`,
    });
    expect(readFileSync(path('a/b/data'), 'utf8')).toBe('x');
  });

  it('is no disk at all where a file is mounted', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, 'x');
    const odd = claimTarget({ type: 'claim', directory: file, prefix: '' }, agentContext());
    await expect(odd.put('a/data', content())).rejects.toMatchObject({
      reason: 'TargetRefused',
      message: `${file} is no directory`,
    });
  });

  it.each<[string, Error]>([
    ['the database', new Failure('SourceBroken', 'cut', { cause: Object.assign(new Error('x'), { code: 'ENOSPC' }) })],
    ['a defect', new Error('odd')],
  ])('is not blamed for %s', async (_, error) => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield* content();
      throw error;
    }
    await expect(target.put('a/b/data', failing())).rejects.toBe(error);
    expect(all()).toEqual([]);
  });
});
