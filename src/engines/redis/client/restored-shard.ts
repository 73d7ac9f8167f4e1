/**
 * What the agent tells the operator of the volume of a shard that it has filled: which slots are there, and that there are keys. It goes through the
 * termination message of a pod, which has room for 4 KiB: so slots are bits, since in the worst case ranges take fifty times as much.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { eachSlot, type SlotSet, slotCount, slotsOf } from '../kind/slots.ts';

export interface RestoredShard {
  readonly slots: SlotSet;
  /** Keys that do not expire. 0 where that is not known. */
  readonly lastingKeys: number;
}

const bytes = slotCount / 8;

/** Of the text. The rest of the message takes up to 2 KiB. */
const longest = 1900;

/** Whether the text is short enough: it is, unless somebody has scattered the slots of a shard over more than a thousand ranges. */
export function isTellable(slots: SlotSet): boolean {
  return restoredShardText({ slots, lastingKeys: Number.MAX_SAFE_INTEGER }).length <= longest;
}

export function restoredShardText({ slots, lastingKeys }: RestoredShard): string {
  const bits = Buffer.alloc(bytes);
  for (const slot of eachSlot(slots)) bits[slot >> 3] = (bits[slot >> 3] ?? 0) | (1 << (slot & 7));
  return `${lastingKeys} ${deflateRawSync(bits, { level: 9 }).toString('base64')}`;
}

/** Undefined of a text that is none. */
export function parseRestoredShard(text: string): RestoredShard | undefined {
  const [, keys = '', packed = ''] = /^(\d{1,16}) ([A-Za-z0-9+/]{2,1900}={0,2})$/.exec(text) ?? [];
  if (packed === '') return undefined;
  try {
    const bits = inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: bytes });
    if (bits.length !== bytes) return undefined;
    const all = Array.from({ length: slotCount }, (_, slot) => slot);
    return {
      slots: slotsOf(all.filter((slot) => ((bits[slot >> 3] ?? 0) >> (slot & 7)) & 1)),
      lastingKeys: Number(keys),
    };
  } catch {
    return undefined;
  }
}
