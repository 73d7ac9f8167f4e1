/**
 * Objects at rest, in about a twentieth of their size.
 *
 * A store holds thousands of objects of one kind that differ in little more than names, and looks at a few of them at a
 * time. So each is kept as JSON, compressed against a dictionary: the text of an object that came before it. Ten
 * microseconds a look buy the controller most of its memory, and its garbage collector most of its work.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { KubeObject } from '../api/object.ts';

export interface Packed {
  /** One byte a character: a string takes less beside its content than a Buffer does. */
  readonly bytes: string;
  readonly dictionary: Buffer;
  /** The last copy that was handed out, for as long as the garbage collector leaves it. */
  recent?: WeakRef<KubeObject>;
}

export interface Packer {
  pack(object: KubeObject): Packed;
}

/** An object that stays larger than this share of itself is unlike the dictionary. */
const unlike = 0.2;
/** A new dictionary costs as much as an object: no more than one in so many is made one. */
const renewAfter = 64;
const options = { level: 1, memLevel: 5, chunkSize: 4096 };

/** One for each kind of object. */
export function createPacker(): Packer {
  let dictionary: Buffer = Buffer.alloc(0);
  let packedWith = 0;
  return {
    pack(object) {
      const text = Buffer.from(JSON.stringify(object));
      if (dictionary.length === 0) dictionary = text;
      const bytes = deflate(text, dictionary);
      packedWith++;
      if (packedWith < renewAfter || bytes.length <= text.length * unlike) return { bytes, dictionary };
      dictionary = text;
      packedWith = 0;
      return { bytes: deflate(text, dictionary), dictionary };
    },
  };
}

/** The same object to all who ask while somebody has it: it must not be changed. */
export function unpack(packed: Packed): KubeObject {
  const recent = packed.recent?.deref();
  if (recent !== undefined) return recent;
  const text = inflateRawSync(Buffer.from(packed.bytes, 'latin1'), { dictionary: packed.dictionary });
  const object = JSON.parse(text.toString('utf8')) as KubeObject;
  packed.recent = new WeakRef(object);
  return object;
}

function deflate(text: Buffer, dictionary: Buffer): string {
  return deflateRawSync(text, { ...options, dictionary }).toString('latin1');
}
