/** The plan of moves, from any start to any number of shards: played on a model that moves what is planned. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allSlots,
  countSlots,
  differenceOf,
  hasSlot,
  intersectionOf,
  type SlotSet,
  slotCount,
  slotSet,
  slotsOf,
  unionOf,
} from '../../../../src/engines/redis/kind/slots.ts';
import type { SlotHolder } from '../../../../src/engines/redis/observe/shards/slot-holder.ts';
import { type NextMove, nextMove, sharesOf, type Wanted } from '../../../../src/engines/redis/plan/shards/moves.ts';
import { planSlots } from '../../../../src/engines/redis/plan/shards/slot-steps.ts';

const idOf = (shard: string): string => Buffer.from(shard).toString('hex').padStart(40, '0');

function holder(shard: string, slots: SlotSet, more: Partial<SlotHolder> = {}): SlotHolder {
  return {
    shard,
    primary: { pod: `db-${shard}`, address: shard, id: idOf(shard) },
    slots,
    migrating: [],
    importing: [],
    strays: [],
    keys: 0,
    dataBytes: 0,
    isAtomic: false,
    running: [],
    ...more,
  };
}

const wanted = (shards: string, mostKeyBytes = 2 ** 26): Wanted => ({
  shards: new Set(shards),
  mostKeyBytes,
  isReplicated: true,
  nodeTimeoutMs: 5_000,
});

/** Moves what is planned until nothing is; gives each move. */
function played(start: readonly SlotHolder[], shards: string): { end: readonly SlotHolder[]; moves: NextMove[] } {
  let holders = start;
  const moves: NextMove[] = [];
  for (let i = 0; i < 500; i++) {
    const next = nextMove(holders, wanted(shards));
    if (next.does === 'nothing') return { end: holders, moves };
    moves.push(next);
    holders = after(holders, next);
  }
  throw new Error('it does not end');
}

function after(holders: readonly SlotHolder[], next: NextMove): readonly SlotHolder[] {
  if (next.does === 'close') {
    const isOther = (each: { slot: number }): boolean => each.slot !== next.slot;
    return holders.map((each) => ({
      ...each,
      migrating: each.migrating.filter(isOther),
      importing: each.importing.filter(isOther),
    }));
  }
  if (next.does === 'return') {
    const isOther = (each: { slot: number }): boolean => each.slot !== next.slot;
    return holders.map((each) =>
      each.shard === next.from.shard
        ? { ...each, strays: each.strays.filter(isOther), importing: each.importing.filter(isOther) }
        : each,
    );
  }
  if (next.does !== 'move') throw new Error(JSON.stringify(next));
  const isOther = ({ slot }: { slot: number }): boolean => !hasSlot(next.slots, slot);
  return holders.map((each) => {
    const left = differenceOf(each.slots, next.slots);
    return {
      ...each,
      slots: each.shard === next.target.shard ? unionOf(left, next.slots) : left,
      migrating: each.migrating.filter(isOther),
      importing: each.importing.filter(isOther),
      strays: each.strays.filter((stray) => isOther(stray) || each.shard !== next.target.shard),
    };
  });
}

const shardNames = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

/** All slots, cut at random places and dealt out at random. */
const ownership = fc
  .tuple(fc.array(fc.nat(slotCount - 1), { maxLength: 30 }), fc.array(fc.nat(6), { minLength: 31, maxLength: 31 }))
  .map(([cuts, dealt]) => {
    const ends = [...new Set([...cuts, slotCount - 1])].sort((a, b) => a - b);
    const ranges = ends.map((last, i) => ({ first: i === 0 ? 0 : (ends[i - 1] ?? 0) + 1, last }));
    return shardNames.map((_, shard) => slotSet(ranges.filter((_, i) => dealt[i] === shard)));
  });

const kept = fc.subarray(shardNames, { minLength: 1 }).map((names) => names.join(''));

function leastMoves(start: readonly SlotHolder[], shards: string): number {
  const shares = sharesOf(start, new Set(shards));
  return start.reduce((sum, each) => sum + Math.max(0, countSlots(each.slots) - (shares.get(each) ?? 0)), 0);
}

describe('from any start to any number of shards', () => {
  it('it ends with equal shares, moves as few as can be, none twice, and leaves none uncovered', () => {
    fc.assert(
      fc.property(ownership, kept, (owned, shards) => {
        const start = shardNames.map((name, i) => holder(name, owned[i] ?? []));
        const { end, moves } = played(start, shards);
        const counts = end.filter(({ shard }) => shards.includes(shard)).map(({ slots }) => countSlots(slots));
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        expect(counts.reduce((a, b) => a + b)).toBe(slotCount);
        expect(unionOf(...end.map(({ slots }) => slots))).toEqual(allSlots);
        let moved: SlotSet = [];
        for (const move of moves) {
          if (move.does !== 'move') throw new Error(JSON.stringify(move));
          expect(intersectionOf(moved, move.slots)).toEqual([]);
          expect(differenceOf(move.slots, move.source.slots)).toEqual([]);
          moved = unionOf(moved, move.slots);
        }
        expect(countSlots(moved)).toBe(leastMoves(start, shards));
      }),
      { numRuns: 60 },
    );
  });

  it('it ends where slots are half moved, and every key is with its slot then', () => {
    const half = fc.record({ slot: fc.nat(slotCount - 1), at: fc.nat(6), keys: fc.nat(2), open: fc.nat(3) });
    fc.assert(
      fc.property(ownership, kept, fc.array(half, { maxLength: 6 }), (owned, shards, halves) => {
        const start = shardNames.map((name, i) => {
          const slots = owned[i] ?? [];
          const here = halves.filter(({ at, slot }) => at === i && !hasSlot(slots, slot));
          const unique = here.filter(({ slot }, j) => here.findIndex((each) => each.slot === slot) === j);
          return holder(name, slots, {
            // Nobody wants a slot there.
            ...(name === 'g' && !shards.includes(name) ? { isSecond: true } : {}),
            strays: unique.filter(({ keys }) => keys > 0).map(({ slot, keys }) => ({ slot, keys })),
            importing: unique.filter(({ open }) => open % 2 === 1).map(({ slot }) => ({ slot, from: idOf('a') })),
            migrating: halves
              .filter(({ slot, open }) => open > 1 && hasSlot(slots, slot))
              .map(({ slot, at }) => ({ slot, to: idOf(shardNames[at] ?? 'z') })),
          });
        });
        const { end } = played(start, shards);
        expect(end.flatMap(({ strays, importing, migrating }) => [...strays, ...importing, ...migrating])).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('turning round in the middle takes back no more than has moved', () => {
    const start = ['a', 'b', 'c'].map((name, i) =>
      holder(name, slotSet([{ first: i * 5461, last: i * 5461 + (i === 2 ? 5461 : 5460) }])),
    );
    let holders: readonly SlotHolder[] = [...start, holder('d', [])];
    for (let i = 0; i < 4; i++) holders = after(holders, nextMove(holders, wanted('abcd')));
    const moved = countSlots(holders[3]?.slots ?? []);
    const { end, moves } = played(holders, 'abc');
    const back = moves.map((move) => (move.does === 'move' ? countSlots(move.slots) : 0)).reduce((a, b) => a + b);
    expect([back, countSlots(end[3]?.slots ?? [])]).toEqual([moved, 0]);
  });
});

const [low, high] = [slotSet([{ first: 0, last: 8191 }]), slotSet([{ first: 8192, last: slotCount - 1 }])];
const open5 = { migrating: [{ slot: 5, to: idOf('b') }] };
const running = (target: string): SlotHolder['running'] => [
  { slots: slotsOf([5]), target: idOf(target), state: 'running', message: '' },
];

describe('what comes next', () => {
  it.each<readonly [story: string, holders: readonly SlotHolder[], shards: string, told: Record<string, unknown>]>([
    ['nothing, where all is fair', [holder('a', low), holder('b', high)], 'ab', { does: 'nothing' }],
    ['nothing, where there is one shard', [holder('a', allSlots)], 'a', { does: 'nothing' }],
    ['a new shard gets some', [holder('a', allSlots), holder('b', [])], 'ab', { does: 'move', isFinishing: false }],
    [
      'the server does it by itself where it can',
      [holder('a', allSlots, { isAtomic: true }), holder('b', [], { isAtomic: true })],
      'ab',
      { does: 'move', isAtomic: true },
    ],
    [
      'not where only one side can',
      [holder('a', allSlots, { isAtomic: true }), holder('b', [])],
      'ab',
      { does: 'move', isAtomic: false },
    ],
    [
      'R1: a slot without owner stops it',
      [holder('a', low), holder('b', [])],
      'ab',
      { does: 'stop', reason: 'SlotsUncovered' },
    ],
    ['two owners are waited for', [holder('a', allSlots), holder('b', high)], 'ab', { does: 'await' }],
    [
      'a slot of which keys have moved is finished, also towards a shard that leaves',
      [holder('a', low, open5), holder('b', high, { strays: [{ slot: 5, keys: 1 }] })],
      'a',
      { does: 'move', isFinishing: true, slots: slotsOf([5]) },
    ],
    [
      'also where no slot is open any more',
      [holder('a', low), holder('b', high, { strays: [{ slot: 5, keys: 1 }] })],
      'ab',
      { does: 'move', isFinishing: true },
    ],
    [
      'a move that has not begun is closed',
      [holder('a', low, open5), holder('b', high)],
      'ab',
      { does: 'close', slot: 5 },
    ],
    [
      'one that is on its way is not',
      [holder('a', allSlots, open5), holder('b', [])],
      'ab',
      { does: 'move', isFinishing: true, slots: slotsOf([5]) },
    ],
    [
      'where the target was lost, keys are with who took over',
      [
        holder('a', allSlots, { migrating: [{ slot: 5, to: idOf('z') }] }),
        holder('b', []),
        holder('c', [], { strays: [{ slot: 5, keys: 2 }] }),
      ],
      'abc',
      { does: 'move', target: expect.objectContaining({ shard: 'c' }) },
    ],
    [
      'what a second primary has of a slot goes to the owner',
      [holder('a', low), holder('b', high), holder('b2', [], { isSecond: true, strays: [{ slot: 5, keys: 2 }] })],
      'ab',
      { does: 'return', slot: 5, owner: expect.objectContaining({ shard: 'a' }) },
    ],
    [
      'not before the owner has stopped sending clients to somebody else',
      [
        holder('a', low, open5),
        holder('b', high, { importing: [{ slot: 5, from: idOf('a') }] }),
        holder('c2', [], { isSecond: true, importing: [{ slot: 5, from: idOf('a') }], strays: [{ slot: 5, keys: 2 }] }),
      ],
      'ab',
      { does: 'close', others: [expect.objectContaining({ shard: 'b' })] },
    ],
    [
      'nor before the slot has moved to who took over',
      [
        holder('a', low),
        holder('b', high, { strays: [{ slot: 5, keys: 1 }] }),
        holder('c2', [], { isSecond: true, strays: [{ slot: 5, keys: 2 }] }),
      ],
      'ab',
      { does: 'move', target: expect.objectContaining({ shard: 'b' }) },
    ],
    [
      'where clients are sent to it, it gets the slot',
      [
        holder('a', low, { migrating: [{ slot: 5, to: idOf('c2') }] }),
        holder('b', high, { strays: [{ slot: 5, keys: 1 }] }),
        holder('c2', [], { isSecond: true, importing: [{ slot: 5, from: idOf('a') }], strays: [{ slot: 5, keys: 2 }] }),
      ],
      'ab',
      { does: 'move', target: expect.objectContaining({ shard: 'c2' }) },
    ],
    [
      'and gives it away then',
      [
        holder('a', slotSet([{ first: 0, last: 8190 }])),
        holder('b', high),
        holder('c2', slotsOf([8191]), { isSecond: true }),
      ],
      'ab',
      { does: 'move', source: expect.objectContaining({ shard: 'c2' }), isFinishing: false },
    ],
    [
      'what a server moves by itself is waited for',
      [holder('a', allSlots, { running: running('b') }), holder('b', [])],
      'ab',
      { does: 'await' },
    ],
    [
      'and ended where the slots would come back',
      [holder('a', allSlots, { running: running('b') }), holder('b', [])],
      'a',
      { does: 'cancel' },
    ],
    [
      'a key that is too large stops it',
      [
        holder('a', allSlots, { ...open5, largeKey: { slot: 5, bytes: 2 ** 30 } }),
        holder('b', [], { importing: [{ slot: 5, from: idOf('a') }] }),
      ],
      'ab',
      { does: 'stop', reason: 'KeyTooLarge' },
    ],
    [
      'a target without room for its share gets nothing',
      [holder('a', allSlots, { dataBytes: 2 ** 31 }), holder('b', [], { room: 2 ** 30 - 1 })],
      'ab',
      { does: 'stop', reason: 'NoRoom' },
    ],
    [
      'a target with room for its share gets it',
      [holder('a', allSlots, { dataBytes: 2 ** 31 }), holder('b', [], { room: 2 ** 30 })],
      'ab',
      { does: 'move' },
    ],
    [
      'a large one is planned by itself',
      [holder('a', allSlots, { ...open5, largeKey: { slot: 5, bytes: 2 ** 25 } }), holder('b', [])],
      'ab',
      { does: 'move', mostKeyBytes: 2 ** 25 },
    ],
  ])('%s', (_, holders, shards, told) => {
    expect(nextMove(holders, wanted(shards))).toMatchObject(told);
    expect(nextMove([...holders].reverse(), wanted(shards))).toMatchObject(told);
  });

  it('a slot of Valkey that is half moved waits for a node that may have it open', () => {
    const holders = [holder('a', low, open5), holder('b', high, { strays: [{ slot: 5, keys: 1 }] })];
    const next = (...shards: readonly string[]) => nextMove(holders, { ...wanted('ab'), incomplete: new Set(shards) });
    expect(next('b')).toMatchObject({ does: 'await', message: expect.stringContaining('a node of b') });
    expect(next('a')).toMatchObject({ does: 'move' });
    expect(next()).toMatchObject({ does: 'move' });
    const second = holder('b2', [], { isSecond: true, importing: [{ slot: 5, from: idOf('a') }] });
    expect(nextMove([...holders, second], { ...wanted('ab'), incomplete: new Set() })).toMatchObject({ does: 'await' });
    expect(nextMove([...holders, second], wanted('ab'))).toMatchObject({ does: 'move' });
  });

  it('is told in words', () => {
    const large = [holder('a', allSlots, { ...open5, largeKey: { slot: 5, bytes: 2 ** 25 } }), holder('b', [])];
    expect(planSlots(large, wanted('ab'))?.outcome).toMatchObject({
      reason: 'MovingSlots',
      message:
        'move what is left of slot 5 from db-a to db-b, with a key of about 32 MiB: while it moves, both answer nobody',
    });
    const again = [holder('a', allSlots, { isAtomic: true, failure: 'no' }), holder('b', [], { isAtomic: true })];
    expect(planSlots(again, wanted('ab'))?.steps[0]?.summary).toBe(
      'move 512 slots from db-a to db-b; the last attempt failed: no',
    );
    expect(planSlots([holder('a', allSlots)], wanted('a'))).toBeUndefined();
    const second = holder('b', [], { isSecond: true, strays: [{ slot: 5, keys: 1 }] });
    const returned = planSlots([holder('a', allSlots), second], wanted('a'))?.steps[0];
    expect(returned?.summary).toBe('send what db-b has of slot 5 to db-a, which serves it');
    expect(returned?.action).toMatchObject({ type: 'redis.returnKeys', slot: 5, owner: { pod: 'db-a' } });
    // It has no replica, and never will.
    const open = holder('a', allSlots, { migrating: [{ slot: 5, to: idOf('b') }] });
    expect(planSlots([open, second], wanted('a'))?.steps[0]?.action).toMatchObject({ isReplicated: false });
  });
});

it('a slot stays open to a node that is gone, until all others of its shard answer', () => {
  const gone = 'e'.repeat(40);
  const [low, high] = [slotsOf([5]), differenceOf(allSlots, slotsOf([5]))];
  const holders = [holder('a', low, { migrating: [{ slot: 5, to: gone }] }), holder('b', high), holder('c', [])];
  expect(nextMove(holders, { ...wanted('abc'), awaited: new Map([[gone, 'db-c-0']]) })).toMatchObject({
    does: 'await',
    message: expect.stringContaining('db-c-0'),
  });
  expect(nextMove(holders, wanted('abc'))).toMatchObject({ does: 'close', slot: 5 });
});
