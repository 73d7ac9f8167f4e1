/**
 * Objects at rest, in about a twentieth of their size.
 *
 * A store holds thousands of objects of one kind that differ in little more than names, and looks at a few of them at a
 * time. So each is kept as JSON, compressed against a dictionary: the text of an object that came before it. Ten
 * microseconds a look buy the controller most of its memory, and its garbage collector most of its work.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { KubeObject } from '../api/object.ts';
import { longest, outline } from './outline.ts';

export interface Compressed {
  /** One byte a character: a string takes less beside its content than a Buffer does. */
  readonly bytes: string;
  readonly dictionary: Buffer;
}

export interface Compressor {
  /** The object belongs to the compressor from then on. */
  compress(object: KubeObject): Compressed;
  /** Of what this compressor compressed. Who asks again soon gets the same object: it must not be changed. */
  decompress(compressed: Compressed): KubeObject;
}

/** As far back as deflate looks. */
const longestDictionary = 32 * 1024;

/** An object that stays larger than this share of itself is unlike the dictionary. */
const unlike = 0.2;
/** A new dictionary costs as much as an object: no more than one in so many is made one. */
const renewAfter = 64;
const options = { level: 1, memLevel: 5, chunkSize: 4096 };

/**
 * Objects that are looked at are looked at again. They are few and counted: weak references would be cheaper to write,
 * and would fill the old generation with every object that was ever looked at.
 */
const mostRecent = 32;

/** One for each kind of object. */
export function createCompressor(): Compressor {
  const recent = new Map<Compressed, KubeObject>();
  let dictionary: Buffer = Buffer.alloc(0);
  let compressedWith = 0;

  const remember = (compressed: Compressed, object: KubeObject): void => {
    recent.set(compressed, object);
    if (recent.size <= mostRecent) return;
    const [oldest] = recent.keys();
    if (oldest !== undefined) recent.delete(oldest);
  };

  // A copy: a part of a large one would keep all of it.
  const dictionaryOf = (text: Buffer): Buffer => Buffer.from(text.subarray(-longestDictionary));

  const deflated = (text: Buffer): Compressed => {
    if (dictionary.length === 0) dictionary = dictionaryOf(text);
    const bytes = deflate(text, dictionary);
    compressedWith++;
    if (compressedWith < renewAfter || bytes.length <= text.length * unlike) return { bytes, dictionary };
    dictionary = dictionaryOf(text);
    compressedWith = 0;
    return { bytes: deflate(text, dictionary), dictionary };
  };

  return {
    compress(object) {
      const text = JSON.stringify(object);
      const kept = text.length > longest ? outline(object) : object;
      const compressed = deflated(Buffer.from(kept === object ? text : JSON.stringify(kept)));
      remember(compressed, kept);
      return compressed;
    },
    decompress(compressed) {
      const known = recent.get(compressed);
      if (known !== undefined) return known;
      const text = inflateRawSync(Buffer.from(compressed.bytes, 'latin1'), { dictionary: compressed.dictionary });
      const object = JSON.parse(text.toString('utf8')) as KubeObject;
      remember(compressed, object);
      return object;
    },
  };
}

function deflate(text: Buffer, dictionary: Buffer): string {
  return deflateRawSync(text, { ...options, dictionary }).toString('latin1');
}
