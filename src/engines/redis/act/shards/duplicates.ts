/**
 * Keys of a slot that are on both sides. One may have moved in the very moment in which the target was lost, so that the source never heard of
 * it; or a replica of the source was elected, and clients made it anew. Where both have the same value, one of them goes. Otherwise each may hold
 * writes that the other does not, and somebody has to choose.
 *
 * Keys are not named: they may be secret, and may be any bytes.
 */
import type { Reply } from '../../client/resp.ts';
import type { Session } from '../../client/session.ts';
import type { Sides } from './shard-session.ts';

/** What the way between two servers takes of the time that a key has to live. */
const transitMs = 5_000;

/**
 * @param sides each as it is asked for a key
 * @param resolve of two that are the same: leaves one
 */
export async function resolveDuplicates(
  { source, target }: Pick<Sides, 'source' | 'target'>,
  slot: number,
  keys: readonly string[],
  resolve: (key: string) => Promise<unknown>,
): Promise<void> {
  let different = 0;
  for (const key of keys) {
    const theirs = await copyOf(target, key);
    if (theirs === undefined) continue;
    const ours = await copyOf(source, key);
    if (ours === undefined) continue;
    if (isSame(ours, theirs)) await resolve(key);
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

/** Undefined where there is none. */
async function copyOf({ command }: Session, key: string): Promise<Copy | undefined> {
  const exists = await command('EXISTS', key);
  if (exists !== 1) return undefined;
  const [value, expires] = await Promise.all([command('DUMP', key), command('PEXPIRETIME', key)]);
  return value === null ? undefined : { value, expires: Number(expires) };
}

function isSame(one: Copy, other: Copy): boolean {
  const isTimed = one.expires >= 0;
  if (isTimed !== other.expires >= 0) return false;
  return one.value === other.value && (!isTimed || Math.abs(one.expires - other.expires) <= transitMs);
}
