import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Crc64 } from '../../src/engines/redis/agent/crc64.ts';

/** Bit by bit, as the definition says: slow, and plain to see. */
function byDefinition(bytes: Uint8Array): bigint {
  let crc = 0n;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0x95ac9329ac4bc9b5n : crc >> 1n;
  }
  return crc;
}

describe('CRC-64', () => {
  it("gives the polynomial's known check value", () => {
    expect(new Crc64().update(Buffer.from('123456789')).digest().readBigUInt64LE()).toBe(0xe9c6d914c4b8d9can);
  });

  it('gives what the definition does, however the bytes come', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), (pieces) => {
        const crc = new Crc64();
        for (const piece of pieces) crc.update(piece);
        expect(crc.digest().readBigUInt64LE()).toBe(byDefinition(Buffer.concat(pieces)));
      }),
    );
  });
});
