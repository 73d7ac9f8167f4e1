/**
 * CRC-64 as Redis ends its dumps with: the polynomial of Jones, reflected, beginning with zero.
 *
 * In two halves of 32 bits, eight bytes at a step: a big integer for each byte would take twenty times as long.
 */

/** 0xad93d23594c935a9 with its bits in reverse. */
const polynomial = { low: 0xac4bc9b5, high: 0x95ac9329 };

/** At `256 * k + byte`: what the byte comes to when `k` more bytes follow it. */
const low = new Int32Array(8 * 256);
const high = new Int32Array(8 * 256);

for (let byte = 0; byte < 256; byte++) {
  let l = byte;
  let h = 0;
  for (let bit = 0; bit < 8; bit++) {
    const isOdd = (l & 1) === 1;
    l = (l >>> 1) | (h << 31);
    h >>>= 1;
    if (isOdd) {
      l ^= polynomial.low;
      h ^= polynomial.high;
    }
  }
  low[byte] = l;
  high[byte] = h;
}
for (let at = 256; at < low.length; at++) {
  const l = low[at - 256] as number;
  const h = high[at - 256] as number;
  low[at] = (l >>> 8) ^ (h << 24) ^ (low[l & 0xff] as number);
  high[at] = (h >>> 8) ^ (high[l & 0xff] as number);
}

export class Crc64 {
  #low = 0;
  #high = 0;

  update(bytes: Uint8Array): this {
    let l = this.#low;
    let h = this.#high;
    let at = 0;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (const whole = bytes.length - 7; at < whole; at += 8) {
      l ^= view.getInt32(at, true);
      h ^= view.getInt32(at + 4, true);
      const a = 1792 + (l & 0xff);
      const b = 1536 + ((l >>> 8) & 0xff);
      const c = 1280 + ((l >>> 16) & 0xff);
      const d = 1024 + (l >>> 24);
      const e = 768 + (h & 0xff);
      const f = 512 + ((h >>> 8) & 0xff);
      const g = 256 + ((h >>> 16) & 0xff);
      const i = h >>> 24;
      l =
        entry(low, a) ^
        entry(low, b) ^
        entry(low, c) ^
        entry(low, d) ^
        entry(low, e) ^
        entry(low, f) ^
        entry(low, g) ^
        entry(low, i);
      h =
        entry(high, a) ^
        entry(high, b) ^
        entry(high, c) ^
        entry(high, d) ^
        entry(high, e) ^
        entry(high, f) ^
        entry(high, g) ^
        entry(high, i);
    }
    for (; at < bytes.length; at++) {
      const index = (l ^ view.getUint8(at)) & 0xff;
      l = (l >>> 8) ^ (h << 24) ^ entry(low, index);
      h = (h >>> 8) ^ entry(high, index);
    }
    this.#low = l;
    this.#high = h;
    return this;
  }

  /** Eight bytes, the lowest first, as at the end of a dump. */
  digest(): Buffer {
    const bytes = Buffer.alloc(8);
    bytes.writeInt32LE(this.#low | 0, 0);
    bytes.writeInt32LE(this.#high | 0, 4);
    return bytes;
  }
}

/** No index that is used here is out of bounds. */
function entry(table: Int32Array, index: number): number {
  return table[index] as number;
}
