/** Keys of slots that a server does not have. */
import { allSlots, differenceOf, type SlotSet } from '../kind/slots.ts';
import type { Reply } from './resp.ts';
import type { Session } from './session.ts';

export interface StrayKeys {
  readonly slot: number;
  readonly keys: number;
}

/** Slots that one script looks at: about a millisecond. */
const together = 1024;

/** Of so many slots a server would have keys only where somebody else has moved slots. The rest shows when these have gone. */
const mostStrays = 500;

/**
 * Nothing but the keys tells: after a failover of both sides in the middle of a move no slot is open any more, and keys of one are on
 * a node that does not have it. A script asks for many slots at once, so that a look takes milliseconds; the server answers others
 * between two of them.
 */
export async function straysOf(session: Pick<Session, 'command'>, owned: SlotSet): Promise<readonly StrayKeys[]> {
  const parts = chunksOf(differenceOf(allSlots, owned));
  const replies = await Promise.all(
    parts.map(({ first, last }) => session.command('EVAL', countScript, '0', String(first), String(last))),
  );
  return replies.flatMap(straysIn);
}

const countScript = `local found = {}
for slot = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  local keys = redis.call('CLUSTER', 'COUNTKEYSINSLOT', slot)
  if keys > 0 and #found < ${mostStrays * 2} then
    found[#found + 1] = slot
    found[#found + 1] = keys
  end
end
return found`;

function chunksOf(set: SlotSet): SlotSet {
  return set.flatMap(({ first, last }) => {
    const count = Math.ceil((last - first + 1) / together);
    return Array.from({ length: count }, (_, i) => ({
      first: first + i * together,
      last: Math.min(last, first + (i + 1) * together - 1),
    }));
  });
}

function straysIn(reply: Reply): readonly StrayKeys[] {
  if (!Array.isArray(reply) || reply.length % 2 !== 0) throw new Error('the slots with keys are no list of pairs');
  const numbers = reply.map(countOf);
  return numbers.flatMap((slot, i) => (i % 2 === 0 ? [{ slot, keys: numbers[i + 1] ?? 0 }] : []));
}

export function countOf(reply: Reply): number {
  if (typeof reply !== 'number' || reply < 0) throw new Error('a count of keys is no number');
  return reply;
}
