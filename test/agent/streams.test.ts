/** Streams that are cut anywhere: what is read out of them does not depend on where. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstPartBytes, partBytes, partsOf } from '../../src/agent/target/parts.ts';
import { ByteReader } from '../../src/engine/driver/byte-reader.ts';
import { coalesced } from '../../src/engine/driver/coalesce.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { checkedSnapshot } from '../../src/engines/etcd/agent/snapshot.ts';
import { checkedRdb, type RdbFacts } from '../../src/engines/redis/agent/rdb.ts';
import { collected, collectedBytes } from '../support/collected.ts';
import { smallDump, smallSnapshot } from '../support/dumps.ts';

const fault = (why: string): Failure => new Failure('SourceBroken', why);

async function* pieces(content: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const at = [0, ...cuts.map((cut) => cut % (content.length + 1)).sort((a, b) => a - b), content.length];
  for (let i = 1; i < at.length; i++) yield content.subarray(at[i - 1], at[i]);
}

const cutting = fc.array(fc.nat(500), { maxLength: 12 });
const bytes = fc.uint8Array({ maxLength: 200 });

describe('a reader of bytes', () => {
  const mark = Buffer.from('0123456789abcdef0123456789abcdef01234567');

  it('reads lines, a dump with a mark behind it, and one of a known length', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, cutting, async (dump, cuts) => {
        const marked = new ByteReader(
          pieces(Buffer.concat([Buffer.from('+OK\r\n\n$EOF\r\n'), dump, mark]), cuts),
          fault,
        );
        expect([await marked.line(), await marked.line(), await marked.line()]).toEqual(['+OK', '', '$EOF']);
        expect((await collectedBytes(marked.upTo(mark))).equals(Buffer.from(dump))).toBe(true);
        const counted = new ByteReader(
          pieces(Buffer.concat([Buffer.from('$\n'), dump, Buffer.from('more\n')]), cuts),
          fault,
        );
        expect(await counted.line()).toBe('$');
        expect((await collectedBytes(counted.exactly(dump.length))).equals(Buffer.from(dump))).toBe(true);
        expect(await counted.line()).toBe('more');
      }),
    );
  });

  it('says when a stream ends too early', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, cutting, fc.nat(39), async (dump, cuts, kept) => {
        const cut = new ByteReader(pieces(Buffer.concat([dump, mark.subarray(0, kept)]), cuts), fault);
        await expect(collectedBytes(cut.upTo(mark))).rejects.toThrow(/before the mark of the end/);
        const short = new ByteReader(pieces(dump, cuts), fault);
        await expect(collectedBytes(short.exactly(dump.length + 7))).rejects.toThrow(/7 bytes before the end/);
      }),
    );
    await expect(new ByteReader(pieces(Buffer.from('no end'), []), fault).line()).rejects.toThrow(/connection ended/);
    await expect(new ByteReader(pieces(Buffer.alloc(70_000), []), fault).line()).rejects.toThrow(/does not end/);
  });
});

describe('pieces that are gathered', () => {
  it('hold the same bytes, and none is small but the last', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, cutting, fc.integer({ min: 1, max: 50 }), async (content, cuts, size) => {
        const found = await collected(coalesced(pieces(content, cuts), size));
        expect(Buffer.concat(found).equals(Buffer.from(content))).toBe(true);
        expect(found.slice(0, -1).every(({ length }) => length >= size)).toBe(true);
        expect(found.every(({ length }) => length > 0)).toBe(true);
      }),
    );
  });
});

describe.each([
  [
    'a dump of Redis',
    smallDump(Buffer.from('some keys')),
    (content: AsyncIterable<Uint8Array>) => checkedRdb(content, fault),
  ],
  ['a snapshot of etcd', smallSnapshot(), (content: AsyncIterable<Uint8Array>) => checkedSnapshot(content, fault)],
] as const)('%s', (_, good, checked) => {
  it('passes as it is', async () => {
    await fc.assert(
      fc.asyncProperty(cutting, async (cuts) => {
        expect((await collectedBytes(checked(pieces(good, cuts)))).equals(good)).toBe(true);
      }),
    );
  });

  it('fails with a bit changed, an end that comes early, and one that comes late', async () => {
    await fc.assert(
      fc.asyncProperty(cutting, fc.nat(good.length - 1), fc.nat(7), async (cuts, at, bit) => {
        const changed = Buffer.from(good);
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        await expect(collectedBytes(checked(pieces(changed, cuts)))).rejects.toBeInstanceOf(Failure);
        await expect(collectedBytes(checked(pieces(good.subarray(0, at), cuts)))).rejects.toBeInstanceOf(Failure);
        const longer = Buffer.concat([good, Buffer.alloc(at + 1)]);
        await expect(collectedBytes(checked(pieces(longer, cuts)))).rejects.toBeInstanceOf(Failure);
      }),
    );
  });
});

describe('what a dump says of itself', () => {
  async function factsOf(dump: Buffer): Promise<RdbFacts | undefined> {
    let facts: RdbFacts | undefined;
    await collectedBytes(
      checkedRdb(pieces(dump, []), fault, (found) => {
        facts = found;
      }),
    );
    return facts;
  }
  const text = (value: string): readonly number[] => [value.length, ...Buffer.from(value)];
  const auxiliary = (...fields: readonly (readonly number[])[]): readonly number[] => [0xfa, ...fields.flat()];

  it.each<[string, readonly number[], RdbFacts['firstDatabase']]>([
    ['nothing, when it is empty', [], undefined],
    ['its keys', [0xfe, 0, 0xfb, 3, 1], { number: 0, keys: 3, expiring: 1 }],
    [
      'its keys behind its fields',
      [
        ...auxiliary(text('redis-ver'), text('8.0.5')),
        ...auxiliary(text('redis-bits'), [0xc0, 64]),
        ...auxiliary(text('ctime'), [0xc2, 1, 2, 3, 4]),
        0xfe,
        5,
        0xfb,
        0x41,
        0x00,
        0,
      ],
      { number: 5, keys: 256, expiring: 0 },
    ],
    [
      'large numbers of keys',
      [0xfe, 0, 0xfb, 0x80, 0, 1, 0, 0, 0x81, 0, 0, 0, 0, 0, 0, 0, 9],
      { number: 0, keys: 65_536, expiring: 9 },
    ],
    ['nothing, when functions come first', [0xf5, 1, 2, 3], undefined],
    ['nothing, when it is cut there', [0xfe, 0, 0xfb, 0x80], undefined],
  ])('%s', async (_, header, firstDatabase) => {
    expect((await factsOf(smallDump(Buffer.from(header))))?.firstDatabase).toEqual(firstDatabase);
  });

  it('is its version, and whether it has a checksum', async () => {
    const dump = smallDump();
    expect(await factsOf(dump)).toEqual({ version: 11, isChecksummed: true });
    expect(await factsOf(dump.fill(0, dump.length - 8))).toEqual({ version: 11, isChecksummed: false });
    dump.write('VALKEY080');
    expect(await factsOf(dump)).toEqual({ version: 80, isChecksummed: false });
    dump.write('VALKYE080');
    await expect(factsOf(dump)).rejects.toThrow('does not begin as a dump of Redis does');
  });
});

describe('parts of an upload', () => {
  it('are cut where they should be, and hold everything', async () => {
    const content = Buffer.alloc(2 * firstPartBytes + 5, 1);
    const sizes = (length: number): Promise<readonly [number, boolean][]> =>
      collected(partsOf(pieces(content.subarray(0, length), [7, 100_000]))).then((parts) =>
        parts.map(({ content: part, isLast }) => [part.length, isLast]),
      );
    expect(await sizes(0)).toEqual([[0, true]]);
    expect(await sizes(firstPartBytes)).toEqual([[firstPartBytes, true]]);
    expect(await sizes(firstPartBytes + 1)).toEqual([
      [firstPartBytes, false],
      [1, true],
    ]);
    expect(await sizes(content.length)).toEqual([
      [firstPartBytes, false],
      [firstPartBytes, false],
      [5, true],
    ]);
    const whole = await collected(partsOf(pieces(content, [])));
    expect(whole.map(({ number }) => number)).toEqual([1, 2, 3]);
    const hash = createHash('sha256');
    for (const part of whole) hash.update(part.content);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
  });

  it('reach 125 gibibytes, and are small at first', () => {
    let total = 0;
    for (let index = 0; index < 10_000; index++) total += partBytes(index);
    expect(Math.floor(total / 2 ** 30)).toBe(125);
    expect(partBytes(7_999)).toBe(firstPartBytes);
  });

  it('use the memory again of those that were sent', async () => {
    const content = Buffer.alloc(6 * firstPartBytes, 1);
    const memory = new Set<ArrayBufferLike>();
    for await (const part of partsOf(pieces(content, []))) {
      memory.add(part.content.buffer);
      part.release();
    }
    // One is being filled while the one before is given away.
    expect(memory.size).toBeLessThanOrEqual(2);
  });
});
