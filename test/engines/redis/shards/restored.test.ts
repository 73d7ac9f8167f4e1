/** A new Redis Cluster of volumes that a restore has filled: what is given to whom, and when nothing is. */
import { describe, expect, it } from 'vitest';
import { restoredAnnotation } from '../../../../src/engine/backup-support.ts';
import { assignSlots } from '../../../../src/engines/redis/act/shards/assign-slots.ts';
import type { RedisConnection } from '../../../../src/engines/redis/client/connection.ts';
import { type SlotSet, slotText } from '../../../../src/engines/redis/kind/slots.ts';
import { nodeAnnotation, restoredKeysAnnotation, slotsAnnotation } from '../../../../src/engines/redis/names.ts';
import { planShards } from '../../../../src/engines/redis/plan/shards/plan.ts';
import { words as planWords } from '../../../support/plan-words.ts';
import { idOf, type ShardChange, type ShardsStory, shardPods, shardsWorld } from '../../../support/shards-situation.ts';

/** As after some moves of slots. */
const map: readonly SlotSet[] = [
  [
    { first: 0, last: 99 },
    { first: 6000, last: 9999 },
  ],
  [{ first: 100, last: 5999 }],
  [{ first: 10_000, last: 16_383 }],
];
const folder = 'backups/apps/RedisCluster/uid/20261121T030000Z-0123abcd';
const first = (shard: number): string => `db-s${shard}-0`;

const blank: ShardChange = { role: 'primary', slots: [], empty: true, isAlone: true, isUnknown: true, epoch: 0 };
/** It has taken the slots of its keys. */
const started = (slots: SlotSet): ShardChange => ({ ...blank, slots, empty: false });
const someOf = ([range]: SlotSet): SlotSet =>
  range === undefined ? [] : [{ first: range.first, last: range.first + 1 }];

const claimsSaying = (more: (shard: number) => Readonly<Record<string, string>>): ShardsStory['claims'] =>
  Object.fromEntries(
    map.map((slots, shard) => [
      first(shard),
      {
        [restoredAnnotation]: folder,
        [slotsAnnotation]: slotText(slots),
        [restoredKeysAnnotation]: '7',
        ...more(shard),
      },
    ]),
  );
const recorded = claimsSaying((shard) => ({ [nodeAnnotation]: idOf(first(shard)) }));

function story(nodes: Readonly<Record<string, ShardChange>> = {}, claims = claimsSaying(() => ({}))): ShardsStory {
  const blanks = Object.fromEntries(shardPods().map((pod) => [pod, blank]));
  const full = Object.fromEntries(map.map((slots, shard) => [first(shard), started(someOf(slots))]));
  return { isNew: true, nodes: { ...blanks, ...full, ...nodes }, ...(claims === undefined ? {} : { claims }) };
}
const given = (...shards: readonly number[]): Record<string, ShardChange> =>
  Object.fromEntries(
    shards.map((shard) => [first(shard), { ...started(map[shard] ?? []), epoch: shard + 1 }] as const),
  );
const assign = (shard: number): string => `assign ${slotText(map[shard] ?? [])} to ${first(shard)} epoch ${shard + 1}`;

describe('volumes that a restore has filled', () => {
  it('are recorded with their nodes before anything else is done', () => {
    const { steps } = planShards(shardsWorld(story()));
    expect(new Set(steps.map(({ type }) => type))).toEqual(new Set(['patch']));
    expect(steps).toHaveLength(6);
    expect(JSON.stringify(steps)).not.toContain(slotsAnnotation);
  });

  it.each<readonly [what: string, story: ShardsStory, plan: readonly string[]]>([
    ['each gets the slots of its shard', story({}, recorded), [assign(0), assign(1), assign(2), 'wait Forming']],
    ['what was given is not given again', story(given(0, 2), recorded), [assign(1), 'wait Forming']],
    [
      'one that has its epoch and not yet its slots gets them',
      story({ [first(1)]: { ...started(someOf(map[1] ?? [])), epoch: 2 } }, recorded),
      [assign(0), assign(1), assign(2), 'wait Forming'],
    ],
    [
      'a shard without keys gets its slots',
      story(
        { [first(1)]: blank },
        claimsSaying((shard) => ({ [nodeAnnotation]: idOf(first(shard)), [restoredKeysAnnotation]: '0' })),
      ),
      [assign(0), assign(1), assign(2), 'wait Forming'],
    ],
    [
      'nobody meets while one is without its slots',
      story({ ...given(0, 1), 'db-s0-1': blank }, recorded),
      [assign(2), 'wait Forming'],
    ],
  ])('%s', (_, told, plan) => expect(planWords(planShards(shardsWorld(told)))).toEqual(plan));

  it('meet once all slots are given, and the replicas with them', () => {
    const found = planWords(planShards(shardsWorld(story(given(0, 1, 2), recorded))));
    expect(found).toEqual([
      'db-s0-0 meets db-s0-1',
      ...[1, 2].flatMap((s) => [0, 1].map((i) => `db-s0-0 meets db-s${s}-${i}`)),
      'wait Forming',
    ]);
  });

  it.each<readonly [what: string, story: ShardsStory, reason: string, message: RegExp]>([
    [
      'one is empty that had keys',
      story({ [first(1)]: blank }),
      'FormationInterrupted',
      /db-s1-0 is empty, and 7 keys were put there: no cluster is formed/,
    ],
    [
      'one has become another node since it was recorded',
      story({ [first(1)]: { ...blank, id: 'f'.repeat(40) } }, recorded),
      'FormationInterrupted',
      /db-s1-0 is another node than it was/,
    ],
    [
      'one has keys of another shard',
      story({ [first(1)]: started([{ first: 99, last: 100 }]) }),
      'FormationInterrupted',
      /db-s1-0 has keys of slots 99, which its shard did not have/,
    ],
    [
      'the volume of a shard is another one',
      story({}, { [first(0)]: recorded?.[first(0)] ?? {}, [first(2)]: recorded?.[first(2)] ?? {} }),
      'ForeignNode',
      /db-s1-0/,
    ],
    [
      'the volume of a shard is another one, and blank',
      story({ [first(1)]: blank }, { [first(0)]: recorded?.[first(0)] ?? {}, [first(2)]: recorded?.[first(2)] ?? {} }),
      'FormationInterrupted',
      /no volume of db-s1 was/,
    ],
    [
      'they are of several backups',
      story(
        {},
        claimsSaying((shard) => ({ [restoredAnnotation]: `${folder}${shard}` })),
      ),
      'FormationInterrupted',
      /they are of several backups/,
    ],
    [
      'a slot is in two of them',
      story(
        {},
        claimsSaying((shard) => (shard === 1 ? { [slotsAnnotation]: '99-5999' } : {})),
      ),
      'FormationInterrupted',
      /they do not have each slot once/,
    ],
    [
      'a slot is in two of them, and another in none',
      story(
        {},
        claimsSaying((shard) => (shard === 1 ? { [slotsAnnotation]: '99-5998' } : {})),
      ),
      'FormationInterrupted',
      /they do not have each slot once/,
    ],
    [
      'a slot is in none of them',
      story(
        {},
        claimsSaying((shard) => (shard === 1 ? { [slotsAnnotation]: '100-5998' } : {})),
      ),
      'FormationInterrupted',
      /they do not have each slot once/,
    ],
    ['a replica has data', story({ 'db-s2-1': { ...started([]), empty: false } }), 'ForeignNode', /db-s2-1/],
    [
      'the spec has more shards by now',
      { ...story({}, recorded), spec: { shards: 4 }, there: 3 },
      'Forming',
      /6 of 8 nodes answer/,
    ],
  ])('are left alone where %s', (_, told, reason, message) => {
    const { steps, outcome } = planShards(shardsWorld(told));
    expect(steps.filter(({ type }) => type === 'act')).toEqual([]);
    expect(outcome).toMatchObject({ reason, message: expect.stringMatching(message) });
  });
});

describe('slots on such a volume', () => {
  const id = 'a'.repeat(40);
  const node = { pod: 'db-s0-0', address: '10.0.0.1', id };
  const slots = [{ first: 0, last: 9 }];

  async function saidTo(
    own: string,
    { keys = 3, strays = [] as number[], others = '', restoredKeys = 2, isRestored = true, epoch = 0 } = {},
  ): Promise<string[]> {
    const said: string[] = [];
    const command: RedisConnection['command'] = (...args) => {
      if (args[0] === 'DBSIZE') return Promise.resolve(keys);
      if (args[0] === 'EVAL') return Promise.resolve(args[3] === '10' ? strays : []);
      if (args[1] === 'NODES') {
        return Promise.resolve(`${id} 10.0.0.1:6379@16379 myself,master - 0 0 ${epoch} connected ${own}\n${others}`);
      }
      said.push(args.slice(1).join(' '));
      return Promise.resolve('OK');
    };
    const action = { type: 'redis.assignSlots', node, slots, epoch: 4 } as const;
    const restored = isRestored ? { restoredKeys } : {};
    await assignSlots({ command } as RedisConnection, { ...action, ...restored });
    return said;
  }

  it.each<readonly [what: string, said: Promise<string[]>, expected: readonly string[]]>([
    ['those that are missing', saidTo('2-3 7'), ['SET-CONFIG-EPOCH 4', 'ADDSLOTSRANGE 0 1 4 6 8 9']],
    ['after the epoch', saidTo('2-3 7', { epoch: 4 }), ['ADDSLOTSRANGE 0 1 4 6 8 9']],
    [
      'all of them, where nothing is there',
      saidTo('', { keys: 0, restoredKeys: 0 }),
      ['SET-CONFIG-EPOCH 4', 'ADDSLOTSRANGE 0 9'],
    ],
    ['nothing, where they are there', saidTo('0-9'), []],
  ])('are given: %s', async (_, said, expected) => expect(await said).toEqual(expected));

  const other = `${'b'.repeat(40)} 10.0.0.2:6379@16379 master - 0 0 1 connected`;
  it.each<readonly [what: string, saying: () => Promise<string[]>, why: RegExp]>([
    ['it has one that it is not to have', () => saidTo('2-3 10'), /not blank any more/],
    ['it knows another node', () => saidTo('2-3', { others: other }), /not blank any more/],
    ['it has another epoch', () => saidTo('2-3', { epoch: 3 }), /not blank any more/],
    ['it is empty', () => saidTo('', { keys: 0 }), /none of the keys that were put there/],
    ['it has keys of others', () => saidTo('2-3', { strays: [12, 1] }), /keys of slot 12, which it is not to get/],
    ['no restore has filled it', () => saidTo('2-3', { isRestored: false }), /not blank any more/],
  ])('are not given where %s', async (_, saying, why) => {
    await expect(saying()).rejects.toThrow(why);
  });
});
