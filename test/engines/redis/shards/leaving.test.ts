import { describe, expect, it } from 'vitest';
import { clusterNodes } from '../../../../src/engines/redis/client/cluster-nodes.ts';
import { slotsOf } from '../../../../src/engines/redis/kind/slots.ts';
import type { SlotHolder } from '../../../../src/engines/redis/observe/shards/slot-holder.ts';
import { type Leaving, nextLeavingStep, type Witness } from '../../../../src/engines/redis/plan/shards/leaving.ts';

const [a, b] = ['a'.repeat(40), 'b'.repeat(40)] as const;
const own = `${a} 10.0.0.1:6379@16379 myself,master - 0 0 1 connected 0-16383\n`;
const gone = `${b} 10.0.0.2:6379@16379 master - 0 0 1 connected\n`;
const witness = (pod: string, view: string): Witness => ({
  node: { pod, address: pod, id: a },
  nodes: clusterNodes(view),
});

const empty: SlotHolder = {
  shard: 'b',
  primary: { pod: 'db-1', address: 'b', id: b },
  slots: [],
  migrating: [],
  importing: [],
  strays: [],
  keys: 0,
  dataBytes: 0,
  isAtomic: false,
  running: [],
};
const leaving = (more: Partial<Leaving>): Leaving => ({
  holders: [empty],
  members: [{ id: b, pod: 'db-1' }],
  witnesses: [witness('db-0', own + gone)],
  silent: [],
  ...more,
});

describe('a shard that leaves', () => {
  it.each<readonly [story: string, more: Partial<Leaving>, told: Record<string, unknown>]>([
    ['is forgotten when it has nothing', {}, { does: 'forget', actions: [{ id: b, pod: 'db-1' }] }],
    ['not while it has slots', { holders: [{ ...empty, slots: slotsOf([1]) }] }, { does: 'await' }],
    ['not while it has keys', { holders: [{ ...empty, keys: 1 }] }, { does: 'await' }],
    [
      'not while a slot is open there',
      { holders: [{ ...empty, importing: [{ slot: 1, from: a }] }] },
      { does: 'await' },
    ],
    [
      'not while somebody takes a slot for its',
      { witnesses: [witness('db-0', own + gone.replace('connected', 'connected 5'))] },
      { does: 'await', message: 'db-0 has yet to hear who has the slots' },
    ],
    ['not while somebody cannot be told', { silent: ['db-2'] }, { does: 'await' }],
    ['its pods go when nobody knows it', { witnesses: [witness('db-0', own)] }, { does: 'remove' }],
    [
      'not while one that does not answer may know it',
      { witnesses: [witness('db-0', own)], silent: ['db-2'] },
      { does: 'await' },
    ],
    [
      'everybody is told together',
      { witnesses: [witness('db-0', own), witness('db-2', own + gone)] },
      { does: 'forget', actions: [{ nodes: [{ pod: 'db-0' }, { pod: 'db-2' }] }] },
    ],
  ])('%s', (_, more, told) => {
    expect(nextLeavingStep(leaving(more))).toMatchObject(told);
  });
});
