/** Folders of backups in a target, copied as they are or with something changed on the way. */
import type { Target } from '../../src/agent/target/target.ts';

type Change = (content: Buffer) => Buffer;

/** Copies everything below `from` to `to`; `changes` by the name of the object. */
export async function copied(
  target: Target,
  from: string,
  to: string,
  changes: Readonly<Record<string, Change>> = {},
): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of target.list(from)) keys.push(key);
  if (keys.length === 0) throw new Error(`there is nothing in ${from}`);
  for (const key of keys) {
    const parts: Uint8Array[] = [];
    for await (const part of target.get(key)) parts.push(Uint8Array.from(part));
    const content = Buffer.concat(parts);
    const changed = changes[key.replace(/^.*\//, '')]?.(content) ?? content;
    await target.put(`${to}${key.slice(from.length)}`, once(changed));
  }
}

/** One bit, not far from the end. */
export function flipped(content: Buffer): Buffer {
  const place = content.length - 40;
  const changed = Buffer.from(content);
  changed.writeUInt8(changed.readUInt8(place) ^ 1, place);
  return changed;
}

async function* once(content: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  yield content;
}
