/** What every target of backups must do, whatever is behind it. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Target } from '../../src/agent/target/target.ts';
import type { AgentContext } from '../../src/engine/driver/agent-context.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { agentContext } from './agent-context.ts';
import { collected, collectedBytes } from './collected.ts';

export interface TargetUnderTest {
  open(prefix: string, context: AgentContext): Target;
  /** Names of everything that is stored, half-written things included. */
  leftovers(): readonly string[];
  stop(): Promise<void>;
}

async function* inPieces(content: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

async function* thenFails(content: Buffer, error: Error): AsyncGenerator<Uint8Array> {
  yield* inPieces(content, 1 << 20);
  throw error;
}

export function describeTarget(title: string, start: () => Promise<TargetUnderTest>): void {
  describe(title, () => {
    let under: TargetUnderTest;
    let number = 0;
    beforeAll(async () => {
      under = await start();
    }, 60_000);
    // Thousands of small files may take their time to go.
    afterAll(() => under.stop(), 180_000);
    const open = (context = agentContext()): Target => {
      number += 1;
      return under.open(`prefix-${number}/below`, context);
    };
    const listed = async (target: Target, folder: string): Promise<readonly string[]> => {
      return (await collected(target.list(folder))).map(({ key }) => key).sort();
    };

    // 8 MiB is the first part of an upload.
    it.each([0, 1, 65_537, 8 << 20, (8 << 20) + 1, 20_000_000])('gives back %d bytes', async (length) => {
      const target = open();
      const content = randomBytes(length);
      await target.put('a/data', inPieces(content, 300_001));
      expect((await collectedBytes(target.get('a/data'))).equals(content)).toBe(true);
      const [object] = await collected(target.list('a'));
      expect(object).toMatchObject({ key: 'a/data', bytes: length });
      expect(Math.abs((object?.modifiedAt ?? 0) - Date.now())).toBeLessThan(60_000);
      target.close();
    });

    it('lists a folder and what is below, and nothing that only begins like it', async () => {
      const target = open();
      for (const key of ['a/b/c/data', 'a/b/c/manifest.json', 'a/b2/c/data', 'z/data']) {
        await target.put(key, inPieces(Buffer.from(key), 3));
      }
      expect(await listed(target, 'a/b')).toEqual(['a/b/c/data', 'a/b/c/manifest.json']);
      expect(await listed(target, 'nowhere')).toEqual([]);
      expect(await listed(target, '')).toEqual(['a/b/c/data', 'a/b/c/manifest.json', 'a/b2/c/data', 'z/data']);
      target.close();
    });

    it('lists more than a page of a thousand', async () => {
      const target = open();
      const keys = Array.from({ length: 1010 }, (_, i) => `many/${String(i).padStart(4, '0')}/data`);
      for (let i = 0; i < keys.length; i += 50) {
        await Promise.all(keys.slice(i, i + 50).map((key) => target.put(key, inPieces(Buffer.from('x'), 1))));
      }
      expect(await listed(target, 'many')).toEqual(keys);
      target.close();
    }, 180_000);

    it('forgets what is removed, twice if need be', async () => {
      const target = open();
      await target.put('a/data', inPieces(Buffer.from('x'), 1));
      await target.remove('a/data');
      await target.remove('a/data');
      expect(await listed(target, '')).toEqual([]);
      await expect(collectedBytes(target.get('a/data'))).rejects.toMatchObject({ reason: 'NotFound' });
      target.close();
    });

    it.each([100, 20_000_000])('keeps nothing of %d bytes after which the content fails', async (length) => {
      const target = open();
      const before = under.leftovers();
      const failure = new Failure('SourceBroken', 'cut');
      await expect(target.put('a/data', thenFails(randomBytes(length), failure))).rejects.toBe(failure);
      expect(await listed(target, '')).toEqual([]);
      expect(under.leftovers()).toEqual(before);
      target.close();
    });

    it('keeps nothing of what is under way when it is stopped', async () => {
      const context = agentContext();
      const target = open(context);
      const before = under.leftovers();
      async function* stopping(): AsyncGenerator<Uint8Array> {
        yield* inPieces(randomBytes(20_000_000), 1 << 20);
        context.stop();
        yield* inPieces(randomBytes(20_000_000), 1 << 20);
      }
      await expect(target.put('a/data', stopping())).rejects.toMatchObject({ reason: 'Stopped' });
      expect(under.leftovers()).toEqual(before);
      target.close();
    });

    it('writes over what is there', async () => {
      const target = open();
      await target.put('a/data', inPieces(Buffer.from('old and long'), 5));
      await target.put('a/data', inPieces(Buffer.from('new'), 5));
      expect((await collectedBytes(target.get('a/data'))).toString()).toBe('new');
      target.close();
    });

    it('sweeps nothing that is young', async () => {
      const target = open();
      await target.put('a/data', inPieces(Buffer.from('x'), 1));
      expect(await target.sweep('a', Date.now() - 60_000)).toBe(0);
      expect(await listed(target, 'a')).toEqual(['a/data']);
      target.close();
    });
  });
}
