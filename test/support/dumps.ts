/** The smallest dump that Redis would read, and the smallest snapshot that etcd's tool would not refuse for its form. */
import { createHash } from 'node:crypto';
import { Crc64 } from '../../src/engines/redis/agent/crc64.ts';

/** @param filler lies where keys would: nobody but Redis looks there */
export function smallDump(filler: Uint8Array = new Uint8Array(0)): Buffer {
  const body = Buffer.concat([Buffer.from('REDIS0011'), filler, Buffer.from([0xff])]);
  return Buffer.concat([body, new Crc64().update(body).digest()]);
}

export function smallSnapshot(pages = 2): Buffer {
  const body = Buffer.alloc(512 * pages, 6);
  return Buffer.concat([body, createHash('sha256').update(body).digest()]);
}
