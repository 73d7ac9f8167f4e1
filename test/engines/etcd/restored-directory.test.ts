/** The script that puts a restored data directory into place, run as the Job runs it, on what it may find. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseAgentResult } from '../../../src/backup/heard-result.ts';
import { placeCommand } from '../../../src/engines/etcd/backup/restored-directory.ts';

const pods = ['db-restore-aaaaa', 'db-restore-bbbbb'] as const;

let volume: string;
beforeEach(() => {
  volume = mkdtempSync(join(tmpdir(), 'restored-directory-'));
});
afterEach(() => rmSync(volume, { recursive: true }));

function write(path: string, content: string): void {
  mkdirSync(dirname(join(volume, path)), { recursive: true });
  writeFileSync(join(volume, path), content);
}
const read = (path: string): string => readFileSync(join(volume, path), 'utf8');

/** What `etcdutl` makes in a pod, and then the script. */
function place(pod: string, content: string): { readonly code: number | null; readonly words: string } {
  write(`${pod}/member/snap/db`, content);
  write(`${pod}/member/wal/0.wal`, 'wal');
  const words = `${volume}.words`;
  writeFileSync(words, '');
  const [, ...args] = placeCommand(volume, pod, 'data');
  const { status } = spawnSync(process.execPath, [...args.slice(0, -1), words], { encoding: 'utf8' });
  const said = readFileSync(words, 'utf8');
  rmSync(words);
  return { code: status, words: said };
}

it('puts it there, and leaves nothing of pods that were cut off', () => {
  mkdirSync(join(volume, 'lost+found'));
  write('db-restore-zzzzz/member/snap/db', 'half');
  expect(place(pods[0], 'one')).toEqual({ code: 0, words: '' });
  expect(read('data/member/snap/db')).toBe('one');
  expect(readdirSync(volume).sort()).toEqual(['.restored', 'data', 'lost+found']);
});

it('puts the later one there where an earlier pod was cut off after it had put its own there', () => {
  place(pods[0], 'one');
  expect(place(pods[1], 'two')).toEqual({ code: 0, words: '' });
  expect(read('data/member/snap/db')).toBe('two');
  expect(readdirSync(volume).sort()).toEqual(['.restored', 'data']);
});

it.each<[string, () => void, string]>([
  ['a data directory that nobody has restored', () => write('data/member/snap/db', 'precious'), 'data'],
  [
    'one that an etcd has written to since it was restored',
    () => {
      place(pods[0], 'one');
      write('data/member/wal/0.wal', 'wal and more');
    },
    'data',
  ],
  ['files of somebody else', () => write('precious/file', 'x'), 'precious'],
])('is refused by a volume that holds %s, and nothing is touched', (_, given, named) => {
  given();
  const before = readdirSync(volume, { recursive: true });
  const { code, words } = place(pods[1], 'two');
  expect(code).toBe(2);
  expect(parseAgentResult(words)).toEqual({
    result: 'failed',
    reason: 'Occupied',
    message: `the volume holds ${named}: nothing is written over data`,
    isTransient: false,
  });
  const after = readdirSync(volume, { recursive: true }).filter((name) => !String(name).startsWith(pods[1]));
  expect(after.sort()).toEqual(before.sort());
});
