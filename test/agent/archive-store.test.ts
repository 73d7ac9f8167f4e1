/** Pieces of a log in a target: sealed, never replaced by other bytes, and read back as they were. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logStore, type WritableLogStore } from '../../src/agent/archive/log-store.ts';
import { progress } from '../../src/agent/archive/progress.ts';
import { container } from '../../src/agent/container.ts';
import { parseArchiveReport } from '../../src/backup/archive-report.ts';
import { parseKeys } from '../../src/backup/key.ts';
import { agentContext } from '../support/agent-context.ts';

const cluster = { namespace: 'apps', kind: 'PostgresCluster', name: 'db', uid: 'uid-1' };
const [first] = parseKeys(Buffer.alloc(32, 1).toString('base64'));
const [second] = parseKeys(Buffer.alloc(32, 2).toString('base64'));
const content = (bytes: number): Buffer => Buffer.from(Array.from({ length: bytes }, (_, index) => index % 251));

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'archive-'));
});
afterEach(() => rmSync(home, { recursive: true }));

async function open(keys: readonly (typeof first)[]): Promise<WritableLogStore> {
  const context = agentContext();
  const target = await container.openTarget({ type: 'claim', directory: home, prefix: '' }, context);
  const [one, ...others] = keys;
  return logStore({ target, keys: one === undefined ? undefined : [one, ...others] }, cluster, context);
}
const folder = () => join(home, 'apps/PostgresCluster/uid-1/archive');
const piece = (bytes: Buffer, isWhole: boolean, name = '7001/00000001/A') => ({
  kind: 'piece' as const,
  name,
  content: bytes,
  isWhole,
  end: '',
});

describe.each([
  ['with a key', [first]],
  ['without one', []],
] as const)('%s', (_, keys) => {
  it('keeps the beginning of a piece until all of it is there', async () => {
    const store = await open(keys);
    await store.put(piece(content(10), false));
    await store.put(piece(content(20), false));
    expect(readdirSync(join(folder(), '7001/00000001'))).toEqual(['A.partial']);
    expect(await store.list()).toEqual([{ name: '7001/00000001/A', isWhole: false }]);
    await store.put(piece(content(30), true));
    expect(readdirSync(join(folder(), '7001/00000001'))).toEqual(['A']);
    expect((await store.read('7001/00000001/A')).equals(content(30))).toBe(true);
    // Another process, which knows nothing of it.
    const other = await open(keys);
    await other.put(piece(content(20), false));
    await other.put(piece(content(30), true));
    expect(await other.list()).toEqual([{ name: '7001/00000001/A', isWhole: true }]);
  });

  it('refuses other bytes, also of what it has stored itself', async () => {
    const store = await open(keys);
    await store.put(piece(content(20), false));
    const other = content(30);
    other[3] = 0xff;
    for (const each of [store, await open(keys)]) {
      await expect(each.put(piece(other, true))).rejects.toMatchObject({ reason: 'Occupied' });
    }
    expect((await store.read('7001/00000001/A')).equals(content(20))).toBe(true);
  });

  it('notices what was changed, cut or moved', async () => {
    const store = await open(keys);
    await store.put(piece(content(100), true));
    const path = join(folder(), '7001/00000001/A');
    const good = readFileSync(path);
    const changed = Buffer.from(good);
    changed[60] = (changed[60] ?? 0) ^ 1;
    for (const bad of [changed, good.subarray(0, good.length - 1), good.subarray(0, 10)]) {
      writeFileSync(path, bad);
      await expect(store.read('7001/00000001/A')).rejects.toMatchObject({ reason: 'Tampered' });
    }
    writeFileSync(join(folder(), '7001/00000001/B'), good);
    await expect(store.read('7001/00000001/B')).rejects.toMatchObject({ reason: 'Tampered' });
    await expect(store.read('7001/00000001/C')).rejects.toMatchObject({ reason: 'NotFound' });
  });
});

it('reads what was written with an older key, and nothing without it', async () => {
  await (await open([first])).put(piece(content(10), true));
  expect((await (await open([second, first])).read('7001/00000001/A')).equals(content(10))).toBe(true);
  await expect((await open([second])).read('7001/00000001/A')).rejects.toMatchObject({ reason: 'Tampered' });
});

it('opens with plain tools where there is no key: the content is followed by 32 bytes', async () => {
  await (await open([])).put(piece(content(100), true));
  expect(readFileSync(join(folder(), '7001/00000001/A')).subarray(0, 100).equals(content(100))).toBe(true);
});

describe('what an archive says of itself', () => {
  const shown = () => progress({ now: () => 1_000 });

  it('is read back as it was, and nothing that is no report is', () => {
    const one = shown();
    one.following();
    // Nobody has looked yet.
    expect(parseArchiveReport(JSON.stringify(one.report()))).not.toHaveProperty('hasBase');
    one.upkeep({ hasBase: false });
    expect(parseArchiveReport(JSON.stringify(one.report()))).toMatchObject({ hasBase: false });
    one.stored('0/30 of timeline 1');
    one.failing({ reason: 'TargetUnreachable', message: 'the store is away' });
    expect(parseArchiveReport(JSON.stringify(one.report()))).toEqual(one.report());
    for (const text of [
      '',
      '[]',
      '{}',
      '{"state":"well","since":"1970-01-01T00:00:01.000Z"}',
      '{"state":"following"}',
    ]) {
      expect(parseArchiveReport(text)).toBeUndefined();
    }
  });

  it('has a gap until a base backup behind it leads to the end; what was stored before it does not count', () => {
    const one = shown();
    one.stored('0/30');
    expect(one.hasLog()).toBe(true);
    one.gap('0/30 to 0/50 is missing');
    expect(one.hasLog()).toBe(false);
    // The history of a timeline comes before its log.
    one.stored(undefined);
    expect([one.hasLog(), one.report().end]).toEqual([false, '0/30']);
    one.stored('0/60');
    expect(one.hasLog()).toBe(true);
    one.upkeep({ hasBase: false });
    expect(one.report()).toMatchObject({ gap: '0/30 to 0/50 is missing', hasBase: false });
    one.upkeep({ hasBase: true });
    expect(one.report().gap).toBeUndefined();
  });
});
