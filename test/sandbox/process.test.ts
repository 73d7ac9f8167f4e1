import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attempt, lastLines, run } from '../../src/sandbox/command.ts';
import { exclusively } from '../../src/sandbox/lock.ts';
import { isAlive, parseStat, processStat } from '../../src/sandbox/process.ts';
import { silent } from '../../src/sandbox/progress.ts';

describe('the record of a process', () => {
  it('is read past a program name with spaces and parentheses', () => {
    const fields = Array.from({ length: 50 }, (_, index) => String(index + 4));
    expect(parseStat(`12 (a (b) c) S ${fields.join(' ')}`)).toEqual({ state: 'S', startTime: '22' });
  });

  it('does not take a process that has got the pid since for the one that was started', async () => {
    const startTime = (await processStat(process.pid))?.startTime ?? '';
    expect(await isAlive({ name: 'me', pid: process.pid, startTime })).toBe(true);
    expect(await isAlive({ name: 'another', pid: process.pid, startTime: `${startTime}0` })).toBe(false);
  });
});

describe('a command', () => {
  it('that fails tells its name, its code and its last lines', async () => {
    const failing = run('sh', ['-c', 'for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; done; echo broken >&2; exit 3']);
    await expect(failing).rejects.toThrow(/^sh -c .* failed \(exit 3\):\n( {2}line \d+\n){7} {2}broken$/);
  });

  it('that is not there says so', async () => {
    await expect(run('/nonexistent/program', [])).rejects.toThrow(/cannot run \/nonexistent\/program/);
  });

  it('shows its lines as they are written, and gets its input', async () => {
    const lines: string[] = [];
    await attempt('cat', [], { input: 'one\ntwo\n', onLine: (line) => lines.push(line) });
    expect(lines).toEqual(['one', 'two']);
  });

  it('keeps the end of a long output', () => {
    expect(lastLines('a\n\nb\nc\n', 2)).toBe('  b\n  c');
  });
});

describe('the lock', () => {
  it('is held by one at a time, and a dead holder does not hold it', async () => {
    const run = join(await mkdtemp(join(tmpdir(), 'lock-')), 'run');
    const layout = { run, data: run, cache: run };
    try {
      const seen: string[] = [];
      await exclusively(layout, silent, async () => {
        expect(await readFile(`${run}.lock`, 'utf8')).toMatch(new RegExp(`^${process.pid} \\d+$`));
        seen.push('in');
      });
      await expect(readFile(`${run}.lock`)).rejects.toThrow('ENOENT');
      await writeFile(`${run}.lock`, `${process.pid} 1`);
      await exclusively(layout, silent, async () => seen.push('again'));
      expect(seen).toEqual(['in', 'again']);
    } finally {
      await rm(join(run, '..'), { recursive: true });
    }
  });

  it('is given back by a command that fails', async () => {
    const run = join(await mkdtemp(join(tmpdir(), 'lock-')), 'run');
    const layout = { run, data: run, cache: run };
    try {
      await expect(exclusively(layout, silent, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
      await expect(readFile(`${run}.lock`)).rejects.toThrow('ENOENT');
    } finally {
      await rm(join(run, '..'), { recursive: true });
    }
  });
});
