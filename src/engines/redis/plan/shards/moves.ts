/**
 * The next thing to do so that every shard has as many slots as it should: one pair of shards at a time, recalculated from what there is.
 * What is half done comes first: a slot of which some keys are here and some there is finished, never turned back, since the keys that
 * have moved take writes where they are. Pure.
 */
import type { Member } from '../../action.ts';
import { atLeast } from '../../kind/server.ts';
import {
  allSlots,
  countSlots,
  differenceOf,
  firstSlots,
  hasSlot,
  intersectionOf,
  type SlotSet,
  slotCount,
  slotsOf,
  slotText,
  unionOf,
} from '../../kind/slots.ts';
import { ordinaryKeyBytes, type SlotHolder } from '../../observe/shards/slot-holder.ts';

export type NextMove =
  | {
      readonly does: 'move';
      readonly source: SlotHolder;
      readonly target: SlotHolder;
      readonly slots: SlotSet;
      /** The server moves them by itself. */
      readonly isAtomic: boolean;
      readonly mostKeyBytes: number;
      readonly isFinishing: boolean;
    }
  | {
      readonly does: 'close';
      readonly slot: number;
      readonly owner: SlotHolder;
      readonly others: readonly SlotHolder[];
    }
  /** The keys of a second primary of a shard go to the owner of the slot. */
  | { readonly does: 'return'; readonly slot: number; readonly from: SlotHolder; readonly owner: SlotHolder }
  | { readonly does: 'cancel'; readonly source: SlotHolder }
  /** Its server is older than the one that its keys would come from: that one's shard restarts with the new template first. */
  | { readonly does: 'renew'; readonly target: SlotHolder; readonly message: string }
  /** The servers are at it, or have yet to tell each other. */
  | { readonly does: 'await'; readonly message: string }
  | { readonly does: 'stop'; readonly reason: 'SlotsUncovered' | 'KeyTooLarge' | 'NoRoom'; readonly message: string }
  | { readonly does: 'nothing' };

/** What one action takes on. It stops after some seconds, whatever is left. */
export const slotsTogether = 512;

export interface Wanted {
  /** The shards that shall have slots. Every other one shall have none. */
  readonly shards: ReadonlySet<string>;
  /** The largest key that is moved: while one moves, its source and its target answer nobody. */
  readonly mostKeyBytes: number;
  /** Each shard should have a replica. */
  readonly isReplicated: boolean;
  /** Shards whose StatefulSet has no replica: one that is to go gets none, whatever the spec says meanwhile. */
  readonly unreplicated?: ReadonlySet<string>;
  /** `cluster-node-timeout`. */
  readonly nodeTimeoutMs: number;
  /** Replicas that answer, by the ID of their primary. */
  readonly followers?: ReadonlyMap<string, readonly Member[]>;
  /** Of Valkey: shards of which a node does not answer. Absent of Redis. See `takerOf`. */
  readonly incomplete?: ReadonlySet<string>;
  /** IDs of nodes that do not answer, in shards of which another node does not either: it may have the keys of that one. With their pods. */
  readonly awaited?: ReadonlyMap<string, string>;
}

/** @param holders one for each shard, leaving ones too: where a shard has no primary that answers, nothing is moved */
export function nextMove(holders: readonly SlotHolder[], wanted: Wanted): NextMove {
  const sorted = [...holders].sort((a, b) => (a.shard < b.shard ? -1 : 1));
  const shares = sharesOf(sorted, wanted.shards);
  return readable(
    disputed(sorted) ?? runningMove(sorted, shares) ?? halfMove(sorted, shares, wanted) ?? fairMove(sorted, shares),
  );
}

/** A server refuses what a newer one has written (`DUMP payload version or checksum are wrong`), however often it is tried. */
function readable(next: NextMove): NextMove {
  if (next.does !== 'move' && next.does !== 'return') return next;
  const [source, target] = next.does === 'move' ? [next.source, next.target] : [next.from, next.owner];
  if (canRead(target, source)) return next;
  const message = `${target.primary.pod} runs ${target.version} and cannot read keys of ${source.primary.pod}, which runs ${source.version}: its shard restarts with the new template first`;
  return { does: 'renew', target, message };
}

function canRead({ version: reader }: SlotHolder, { version: writer }: SlotHolder): boolean {
  return reader === undefined || writer === undefined || atLeast(reader, writer);
}

/** How many slots each shall have. Whoever has most keeps one more, so that as few as possible move. */
export function sharesOf(holders: readonly SlotHolder[], wanted: ReadonlySet<string>): ReadonlyMap<SlotHolder, number> {
  const staying = holders
    .filter(({ shard }) => wanted.has(shard))
    .sort((a, b) => countSlots(b.slots) - countSlots(a.slots) || (a.shard < b.shard ? -1 : 1));
  const least = Math.floor(slotCount / Math.max(staying.length, 1));
  const more = slotCount - least * staying.length;
  return new Map(
    holders.map((holder) => {
      const rank = staying.indexOf(holder);
      return [holder, rank < 0 ? 0 : rank < more ? least + 1 : least];
    }),
  );
}

/** Each slot belongs to exactly one shard by the word of those who have them: otherwise nobody knows where its keys go. */
function disputed(holders: readonly SlotHolder[]): NextMove | undefined {
  const covered = unionOf(...holders.map(({ slots }) => slots));
  const uncovered = differenceOf(allSlots, covered);
  if (uncovered.length > 0) {
    const message = `nobody has the slots ${cut(slotText(uncovered))}`;
    return { does: 'stop', reason: 'SlotsUncovered', message };
  }
  if (holders.reduce((sum, { slots }) => sum + countSlots(slots), 0) === slotCount) return undefined;
  const twice = holders.flatMap((one, i) =>
    holders.slice(i + 1).map((other) => intersectionOf(one.slots, other.slots)),
  );
  return { does: 'await', message: `two shards take the slots ${cut(slotText(unionOf(...twice)))} for theirs` };
}

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** What a server moves by itself goes on where it still has to, and ends where the slots would come back. */
function runningMove(holders: readonly SlotHolder[], shares: Shares): NextMove | undefined {
  for (const source of holders) {
    const [running] = source.running;
    if (running === undefined) continue;
    const target = holders.find(({ primary }) => primary.id === running.target);
    if (target === undefined || surplus(source, shares) <= 0 || surplus(target, shares) >= 0)
      return { does: 'cancel', source };
    return {
      does: 'await',
      message: `${countSlots(running.slots)} slots move from ${source.primary.pod} to ${target.primary.pod}`,
    };
  }
  return undefined;
}

type Shares = ReadonlyMap<SlotHolder, number>;

const surplus = (holder: SlotHolder, shares: Shares): number => countSlots(holder.slots) - (shares.get(holder) ?? 0);

/** The lowest slot that is half moved, and with it all others that go the same way. */
function halfMove(holders: readonly SlotHolder[], shares: Shares, wanted: Wanted): NextMove | undefined {
  const open = holders.flatMap(({ migrating, importing, strays }) => [...migrating, ...importing, ...strays]);
  const slots = [...new Set(open.map(({ slot }) => slot))].sort((a, b) => a - b);
  const [first, ...rest] = slots.slice(0, slotsTogether).map((slot) => halfMoveOf(slot, holders, shares, wanted));
  if (first?.does !== 'move') return first;
  const alike = rest.flatMap((next) => {
    const isAlike = next?.does === 'move' && next.source === first.source && next.target === first.target;
    return isAlike && next.mostKeyBytes === first.mostKeyBytes ? [next.slots] : [];
  });
  const move = { ...first, slots: unionOf(first.slots, ...alike) };
  const taker = takerOf(move, holders, wanted);
  if (taker === undefined) return move;
  const message = `slot ${slotText(first.slots)} stays open: ${taker} may have it open, too, and would take it back with all that it had before`;
  return { does: 'await', message };
}

/**
 * A primary of Valkey that has a slot open takes it as soon as it hears that the source has it no more, with the newest epoch of all. One that comes back after
 * its replica was elected may hear of that first: then it is primary again of all that it had, and what its replica was told since is lost. So the
 * source keeps the slot until every node of the target's shard is there, and follows.
 */
function takerOf(
  { target, slots }: Extract<NextMove, { does: 'move' }>,
  holders: readonly SlotHolder[],
  { incomplete }: Wanted,
): string | undefined {
  if (incomplete === undefined) return undefined;
  if (incomplete.has(target.shard)) return `a node of ${target.shard} that does not answer`;
  const other = holders.find(
    (one) => one !== target && one.isSecond === true && one.importing.some(({ slot }) => hasSlot(slots, slot)),
  );
  return other?.primary.pod;
}

/**
 * Open somewhere, or a shard has keys of it without having it. Open slots are not kept by every server when a replica takes over; keys
 * are.
 */
function halfMoveOf(
  slot: number,
  holders: readonly SlotHolder[],
  shares: Shares,
  wanted: Wanted,
): NextMove | undefined {
  const owner = holders.find(({ slots }) => hasSlot(slots, slot));
  if (owner === undefined) return undefined;
  const to = owner.migrating.find((each) => each.slot === slot)?.to;
  const others = holders.filter((holder) => holder !== owner);
  const keysOf = (holder: SlotHolder): number => holder.strays.find((stray) => stray.slot === slot)?.keys ?? 0;
  const rankOf = (holder: SlotHolder): number => (holder.primary.id === to ? 2 : isImporting(holder, slot) ? 1 : 0);
  // Who follows another primary soon gets a slot only where clients are sent there: what they write is there.
  const isAside = (holder: SlotHolder): boolean => holder.isSecond === true && rankOf(holder) < 2;
  const [partner] = others
    .filter((holder) => !isAside(holder) && (keysOf(holder) > 0 || rankOf(holder) > 0))
    .sort((a, b) => Math.sign(keysOf(b)) - Math.sign(keysOf(a)) || rankOf(b) - rankOf(a));
  const isOnItsWay = partner !== undefined && surplus(owner, shares) > 0 && surplus(partner, shares) < 0;
  if (partner === undefined || (keysOf(partner) === 0 && !isOnItsWay)) {
    const pod = to === undefined ? undefined : wanted.awaited?.get(to);
    if (pod !== undefined) {
      const message = `slot ${slot} stays open: keys of it may have moved to ${pod}, which does not answer, and not every other node of its shard does`;
      return { does: 'await', message };
    }
    const from = others.find((holder) => isAside(holder) && keysOf(holder) > 0);
    if (from !== undefined && !isOpen(owner, slot)) return { does: 'return', slot, from, owner };
    return {
      does: 'close',
      slot,
      owner,
      others: others.filter((holder) => isOpen(holder, slot) && keysOf(holder) === 0),
    };
  }
  const bytes = owner.largeKey?.slot === slot ? owner.largeKey.bytes : 0;
  if (bytes > wanted.mostKeyBytes) return tooLarge(owner, slot, bytes);
  return {
    does: 'move',
    source: owner,
    target: partner,
    slots: slotsOf([slot]),
    isAtomic: false,
    mostKeyBytes: Math.max(ordinaryKeyBytes, bytes),
    isFinishing: true,
  };
}

function tooLarge({ primary }: SlotHolder, slot: number, bytes: number): NextMove {
  const message =
    `slot ${slot} of ${primary.pod} has a key of about ${Math.ceil(bytes / 2 ** 20)} MiB: while it moves, two shards answer nobody, ` +
    'for longer than the cluster waits for them; make it smaller or delete it, and the slot moves on';
  return { does: 'stop', reason: 'KeyTooLarge', message };
}

const isImporting = ({ importing }: SlotHolder, slot: number): boolean => importing.some((each) => each.slot === slot);

const isOpen = (holder: SlotHolder, slot: number): boolean =>
  isImporting(holder, slot) || holder.migrating.some((each) => each.slot === slot);

function fairMove(holders: readonly SlotHolder[], shares: Shares): NextMove {
  const sources = holders.filter((holder) => surplus(holder, shares) > 0);
  const targets = holders.filter((holder) => surplus(holder, shares) < 0);
  const pairs = sources.flatMap((source) => targets.map((target) => ({ source, target })));
  const pair = pairs.find(({ source, target }) => canRead(target, source)) ?? pairs[0];
  if (pair === undefined) return { does: 'nothing' };
  const { source, target } = pair;
  const due = Math.min(surplus(source, shares), -surplus(target, shares));
  const full = withoutRoom(source, target, due);
  if (full !== undefined) return full;
  const isAtomic = source.isAtomic && target.isAtomic;
  // Nobody is elected in the place of a primary without slots: what has moved to it is on it, and its replica, alone. So it gets the first slot by itself.
  const count = !isAtomic && target.slots.length === 0 ? 1 : Math.min(due, slotsTogether);
  return {
    does: 'move',
    source,
    target,
    slots: firstSlots(source.slots, count),
    isAtomic,
    mostKeyBytes: ordinaryKeyBytes,
    isFinishing: false,
  };
}

/** A target that takes no more keys in the middle of a slot would leave it open: it could neither be finished nor turned back. */
function withoutRoom(source: SlotHolder, target: SlotHolder, count: number): NextMove | undefined {
  const { room } = target;
  const bytes = (source.dataBytes / countSlots(source.slots)) * count;
  if (room === undefined || bytes <= room) return undefined;
  const mebibytes = (size: number): number => Math.ceil(Math.max(size, 0) / 2 ** 20);
  const message =
    `about ${mebibytes(bytes)} MiB of keys would move from ${source.primary.pod} to ${target.primary.pod}, which has room for ${mebibytes(room)} MiB: ` +
    'raise resources.limits.memory or config.maxmemory, or have more shards';
  return { does: 'stop', reason: 'NoRoom', message };
}

/** The others, who are told by name. */
export function bystanders(holders: readonly SlotHolder[], ...busy: readonly SlotHolder[]): Member[] {
  return holders.filter((holder) => !busy.includes(holder)).map(({ primary }) => primary);
}
