/** Frames: whatever somebody does to stored bytes is noticed before a wrong byte is handed out. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decrypted, encrypted, FrameRefused, headerBytes } from '../../src/backup/frames.ts';
import { type BackupKey, parseKeys } from '../../src/backup/key.ts';
import { collectedBytes } from '../support/collected.ts';

const keyOf = (byte: number): BackupKey => parseKeys(Buffer.alloc(32, byte).toString('base64'))[0];
const key = keyOf(1);
const owner = 'redis apps/RedisCluster/uid-1/id';
const salt = Buffer.alloc(32, 9);
/** Small frames, so that there are many of them. */
const size = 16;
const storedFrame = size + 16;

async function* pieces(content: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const at = [0, ...cuts.map((cut) => cut % (content.length + 1)).sort((a, b) => a - b), content.length];
  for (let i = 1; i < at.length; i++) yield content.subarray(at[i - 1], at[i]);
}

const seal = (plain: Uint8Array, cuts: readonly number[] = [], more: object = {}): Promise<Buffer> =>
  collectedBytes(encrypted(pieces(plain, cuts), { key, owner, salt, size, ...more }));
const open = (stored: Uint8Array, cuts: readonly number[] = [], more: object = {}): Promise<Buffer> =>
  collectedBytes(decrypted(pieces(stored, cuts), { key, owner, ...more }));

const content = fc.uint8Array({ maxLength: 100 });
const cutting = fc.array(fc.nat(200), { maxLength: 8 });

/** What came out before the refusal must be a beginning of what went in, in whole frames. */
async function refusal(stored: Uint8Array, plain: Uint8Array, more: object = {}): Promise<void> {
  const given: Uint8Array[] = [];
  const reading = async (): Promise<void> => {
    for await (const piece of decrypted(pieces(stored, []), { key, owner, ...more })) given.push(piece);
  };
  await expect(reading()).rejects.toBeInstanceOf(FrameRefused);
  const out = Buffer.concat(given);
  expect(out.equals(Buffer.from(plain).subarray(0, out.length))).toBe(true);
}

describe('frames', () => {
  it('give back what went in, wherever the streams were cut', async () => {
    await fc.assert(
      fc.asyncProperty(content, cutting, cutting, async (plain, first, second) => {
        const stored = await seal(plain, first);
        expect(stored.equals(await seal(plain))).toBe(true);
        expect((await open(stored, second)).equals(Buffer.from(plain))).toBe(true);
        const frames = Math.max(1, Math.ceil(plain.length / size));
        expect(stored.length).toBe(headerBytes + plain.length + 16 * frames);
      }),
    );
  });

  it('refuse every changed bit', async () => {
    await fc.assert(
      fc.asyncProperty(content, fc.nat(), fc.nat(7), async (plain, position, bit) => {
        const stored = await seal(plain);
        const at = position % stored.length;
        stored[at] = (stored[at] ?? 0) ^ (1 << bit);
        await refusal(stored, plain);
      }),
    );
  });

  it('refuse every end that comes early, and every one that comes late', async () => {
    await fc.assert(
      fc.asyncProperty(content, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 40 }), async (plain, cut, tail) => {
        const stored = await seal(plain);
        await refusal(stored.subarray(0, cut % stored.length), plain);
        await refusal(Buffer.concat([stored, tail]), plain);
      }),
    );
  });

  it('refuse an end between two frames, where nothing is cut', async () => {
    const plain = Buffer.alloc(4 * size, 3);
    const stored = await seal(plain);
    for (let at = headerBytes; at < stored.length; at += storedFrame) await refusal(stored.subarray(0, at), plain);
  });

  it('refuse a frame that is left out, repeated, or in another place', async () => {
    const long = fc.uint8Array({ minLength: 3 * size, maxLength: 8 * size });
    await fc.assert(
      fc.asyncProperty(long, fc.nat(), fc.nat(), async (plain, one, other) => {
        const stored = await seal(plain);
        const frames: Buffer[] = [];
        for (let at = headerBytes; at < stored.length; at += storedFrame)
          frames.push(stored.subarray(at, at + storedFrame));
        const whole = frames.length - 1;
        const [i, j] = [one % whole, other % whole];
        const rebuilt = (changed: readonly Buffer[]): Buffer =>
          Buffer.concat([stored.subarray(0, headerBytes), ...changed]);
        await refusal(rebuilt(frames.toSpliced(i, 1)), plain);
        await refusal(rebuilt(frames.toSpliced(i, 0, frames[i] ?? Buffer.alloc(0))), plain);
        const swapped = frames.with(i, frames[j] ?? Buffer.alloc(0)).with(j, frames[i] ?? Buffer.alloc(0));
        if (i !== j) await refusal(rebuilt(swapped), plain);
      }),
    );
  });

  it('refuse another key, another owner, and frames of another backup', async () => {
    const plain = Buffer.alloc(5 * size, 5);
    const stored = await seal(plain);
    await refusal(stored, plain, { key: keyOf(2) });
    await refusal(stored, plain, { owner: 'redis apps/RedisCluster/uid-2/id' });
    const other = await seal(plain, [], { salt: Buffer.alloc(32, 10) });
    const mixed = Buffer.concat([
      stored.subarray(0, headerBytes + storedFrame),
      other.subarray(headerBytes + storedFrame),
    ]);
    await refusal(mixed, plain);
  });

  it('refuse to hold a frame that somebody says is a gigabyte', async () => {
    const stored = await seal(Buffer.alloc(10));
    stored.writeUInt32BE(1 << 30, 12);
    await expect(open(stored)).rejects.toThrow(/does not begin with the header/);
  });
});
