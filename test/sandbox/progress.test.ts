import { describe, expect, it } from 'vitest';
import { createProgress, duration, isInteractive } from '../../src/sandbox/progress.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

function stage(isTTY: boolean): {
  readonly clock: VirtualClock;
  readonly written: string[];
  readonly progress: ReturnType<typeof createProgress>;
} {
  const clock = new VirtualClock();
  const written: string[] = [];
  const stream = { isTTY, columns: 60, write: (text: string) => written.push(text) };
  return { clock, written, progress: createProgress({ stream, clock, env: {} }) };
}

/** A promise and its handles. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void; readonly fail: (error: Error) => void } {
  let open = (): void => undefined;
  let fail = (_: Error): void => undefined;
  const opened = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { opened, open, fail };
}

describe('progress in a log', () => {
  it('prints a line when a step begins, every 15 s, and when it ends', async () => {
    const { clock, written, progress } = stage(false);
    const work = gate();
    const step = progress.step('Compiling etcd', async ({ report }) => {
      report('3 of 9 packages');
      await work.opened;
      return 7;
    });
    expect(written).toEqual(['Compiling etcd ...\n']);
    await clock.advance(31_000);
    work.open();
    expect(await step).toBe(7);
    expect(written).toEqual([
      'Compiling etcd ...\n',
      '  Compiling etcd: 3 of 9 packages, 15 s\n',
      '  Compiling etcd: 3 of 9 packages, 30 s\n',
      'Compiling etcd: done in 31 s\n',
    ]);
    expect(clock.pending).toEqual([]);
  });

  it('says that a step failed, lets the error pass and stops its timer', async () => {
    const { clock, written, progress } = stage(false);
    const work = gate();
    const step = progress.step('Linking', () => work.opened);
    await clock.advance(2_000);
    work.fail(new Error('disk full'));
    await expect(step).rejects.toThrow('disk full');
    expect(written.at(-1)).toBe('Linking: failed after 2.0 s\n');
    expect(clock.pending).toEqual([]);
  });
});

describe('progress on a terminal', () => {
  it('rewrites one line and leaves one behind', async () => {
    const { clock, written, progress } = stage(true);
    const work = gate();
    const step = progress.step('Starting', async ({ report }) => {
      report('nodes');
      await work.opened;
    });
    await clock.advance(1_300);
    work.open();
    await step;
    const lines = written.join('').split('\r\u001b[K');
    expect(lines.slice(1, -1).every((line) => !line.includes('\n'))).toBe(true);
    expect(lines.at(-2)).toMatch(/^\S Starting {2}nodes {2}1\.2 s$/);
    expect(lines.at(-1)).toBe('✓ Starting  1.3 s\n');
    expect(clock.pending).toEqual([]);
  });

  it('never writes past the edge', async () => {
    const { clock, written, progress } = stage(true);
    const work = gate();
    const step = progress.step('x'.repeat(200), () => work.opened);
    await clock.advance(500);
    work.open();
    await step;
    const rewritten = written.slice(0, -1).map((text) => text.replace('\r\u001b[K', ''));
    expect(Math.max(...rewritten.map((text) => text.length))).toBeLessThan(60);
  });

  it('keeps a note in its own line during a step', async () => {
    const { written, progress } = stage(true);
    await progress.step('Starting', async () => {
      progress.note('by the way');
    });
    expect(written.join('')).toContain('\r\u001b[Kby the way\n');
  });
});

describe('what counts as a terminal', () => {
  const cases: readonly [boolean | undefined, NodeJS.ProcessEnv, boolean][] = [
    [true, {}, true],
    [true, { CI: 'true' }, false],
    [true, { TERM: 'dumb' }, false],
    [false, {}, false],
    [undefined, {}, false],
  ];
  it.each(cases)('isTTY %s with %j is %s', (isTTY, env, expected) => {
    const stream = { ...(isTTY === undefined ? {} : { isTTY }), write: () => undefined };
    expect(isInteractive(stream, env)).toBe(expected);
  });
});

describe('durations', () => {
  it.each([
    [340, '0.3 s'],
    [9_940, '9.9 s'],
    [9_960, '10 s'],
    [59_400, '59 s'],
    [60_000, '1 min 00 s'],
    [185_000, '3 min 05 s'],
  ])('%d ms is %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
});
