/**
 * Keys of a slot that are on both sides. One may have moved in the very moment in which the target was lost, so that the source never heard of
 * it; or a replica of the source was elected, and clients made it anew. Where both have the same value, the source's takes the place of the
 * target's. Otherwise each may hold writes that the other does not, and somebody has to choose.
 *
 * Keys are not named: they may be secret, and may be any bytes.
 */
import type { Reply } from '../../client/resp.ts';
import type { Session } from '../../client/session.ts';
import type { Sides } from './shard-session.ts';

/** What the way between two servers takes of the time that a key has to live. */
const transitMs = 5_000;

/** @param replace moves one key in the place of the target's */
export async function resolveDuplicates(
  { source, target }: Sides,
  slot: number,
  keys: readonly string[],
  replace: (key: string) => Promise<void>,
): Promise<void> {
  let different = 0;
  for (const key of keys) {
    const theirs = await copyOf(target, key, true);
    if (theirs === undefined) continue;
    const ours = await copyOf(source, key, false);
    if (ours === undefined) continue;
    if (isSame(ours, theirs)) await replace(key);
    else different++;
  }
  if (different === 0) return;
  throw new Error(
    `BUSYKEY: ${different} keys of slot ${slot} are both on ${source.primary.pod} and on ${target.primary.pod}, with different values: ` +
      'delete one of the two of each, and the slot moves on',
  );
}

interface Copy {
  readonly value: Reply;
  /** Milliseconds since the epoch; negative where it has no end. */
  readonly expires: number;
}

/** Undefined where there is none. `asking`: the server does not have the slot, and is asked all the same. */
async function copyOf({ command }: Session, key: string, asking: boolean): Promise<Copy | undefined> {
  const ask = async (...question: readonly string[]): Promise<Reply> => {
    const replies = await Promise.all([asking ? command('ASKING') : undefined, command(...question, key)]);
    return replies[1];
  };
  const exists = await ask('EXISTS');
  if (exists !== 1) return undefined;
  const [value, expires] = await Promise.all([ask('DUMP'), ask('PEXPIRETIME')]);
  return value === null ? undefined : { value, expires: Number(expires) };
}

function isSame(one: Copy, other: Copy): boolean {
  const isTimed = one.expires >= 0;
  if (isTimed !== other.expires >= 0) return false;
  return one.value === other.value && (!isTimed || Math.abs(one.expires - other.expires) <= transitMs);
}
