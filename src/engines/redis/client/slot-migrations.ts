/**
 * Moves of slots that a server makes by itself: the answer to `CLUSTER GETSLOTMIGRATIONS` of Valkey from 9.0 on. Those that are over stay in the list for
 * a while, the latest first.
 */
import { shortened } from '../../../api/bounds.ts';
import { isSlot, type SlotSet, slotCount, slotSet } from '../kind/slots.ts';
import { isNodeId } from './cluster-nodes.ts';
import { infoFields, pairs } from './reply-fields.ts';
import { ProtocolError, type Reply } from './resp.ts';
import type { Session } from './session.ts';

export interface SlotMigration {
  /** Of one that runs: nobody asks which slots one that is over was of. */
  readonly slots: SlotSet;
  /** The id of a node. */
  readonly target: string;
  readonly state: 'running' | 'succeeded' | 'failed' | 'cancelled';
  /** The server's own words. */
  readonly message: string;
}

/** As many as a server keeps by default. */
const most = 1000;

/** Of one migration, in characters: each slot by itself takes less than 100,000. */
const longestRanges = 128 * 1024;

/** Of all that run, together: to read them takes less than a tenth of a second. */
const longestTogether = 256 * 1024;

/** Undefined of a server that does not move slots by itself. */
export async function migrationsOf(session: Pick<Session, 'command'>): Promise<readonly SlotMigration[] | undefined> {
  const version = infoFields(String(await session.command('INFO', 'server'))).valkey_version ?? '0';
  return Number.parseInt(version, 10) >= 9
    ? slotMigrations(await session.command('CLUSTER', 'GETSLOTMIGRATIONS'))
    : undefined;
}

/** Those of which this node is the source. */
export function slotMigrations(reply: Reply): readonly SlotMigration[] {
  if (!Array.isArray(reply)) throw new ProtocolError('the answer to CLUSTER GETSLOTMIGRATIONS is no list');
  let left = longestTogether;
  return reply
    .slice(0, most)
    .map(pairs)
    .filter(({ operation }) => operation === 'EXPORT')
    .map(({ slot_ranges: ranges = '', target_node: target = '', state: word = '', message = '' }) => {
      if (!isNodeId(target)) throw new ProtocolError('a slot migration has no target');
      const state = stateOf(word);
      if (state === 'running') left -= ranges.length;
      if (ranges.length > longestRanges || left < 0) throw new ProtocolError('a slot migration is of too many slots');
      const slots = state === 'running' ? rangesIn(ranges) : [];
      return { slots, target, state, message: shortened(shortened(message, 400).trim(), 200) };
    });
}

function rangesIn(text: string): SlotSet {
  const words = text.split(' ', slotCount + 1);
  if (words.length > slotCount) throw new ProtocolError('a slot migration is of too many slots');
  return slotSet(
    words.map((word) => {
      const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(word) ?? [];
      if (first === '' || !isSlot(Number(first)) || !isSlot(Number(last)) || Number(first) > Number(last)) {
        throw new ProtocolError(`a slot migration is of ${JSON.stringify(shortened(word, 40))}`);
      }
      return { first: Number(first), last: Number(last) };
    }),
  );
}

/** Of the many states in which one runs, each version has others. */
function stateOf(word: string): SlotMigration['state'] {
  switch (word) {
    case 'success':
      return 'succeeded';
    case 'failed':
    case 'cancelled':
      return word;
    default:
      return 'running';
  }
}
