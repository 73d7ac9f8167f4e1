/** Slot migrations as Valkey lists them, and as a member lists them that wants to stop the operator. */
import { describe, expect, it } from 'vitest';
import { ProtocolError, type Reply } from '../../../../src/engines/redis/client/resp.ts';
import { slotMigrations } from '../../../../src/engines/redis/client/slot-migrations.ts';

const target = 'a'.repeat(40);

function listed(...changes: readonly Readonly<Record<string, string>>[]): Reply {
  return changes.map((change) =>
    Object.entries({
      ...{ name: 'b'.repeat(40), operation: 'EXPORT', slot_ranges: '0-5 7', target_node: target },
      ...{ state: 'snapshotting', message: '', ...change },
    }).flat(),
  );
}

describe('the answer to CLUSTER GETSLOTMIGRATIONS', () => {
  it('has those of which the node is the source, and the slots of those that run', () => {
    const reply = listed(
      {},
      { operation: 'IMPORT' },
      { state: 'failed', message: ' no memory ' },
      { state: 'success' },
    );
    expect(slotMigrations(reply)).toEqual([
      {
        slots: [
          { first: 0, last: 5 },
          { first: 7, last: 7 },
        ],
        ...{ target, state: 'running', message: '' },
      },
      { slots: [], target, state: 'failed', message: 'no memory' },
      { slots: [], target, state: 'succeeded', message: '' },
    ]);
  });

  it('may name each slot by itself', () => {
    const each = Array.from({ length: 16_384 }, (_, slot) => slot).join(' ');
    expect(slotMigrations(listed({ slot_ranges: each }))[0]?.slots).toEqual([{ first: 0, last: 16_383 }]);
  });

  it.each<readonly [how: string, reply: Reply]>([
    ['is no list', 'x'],
    ['has no target', listed({ target_node: 'x' })],
    ['is of slots that are none', listed({ slot_ranges: '5-16384' })],
    ['is of more slots than there are', listed({ slot_ranges: '0 '.repeat(16 * 2 ** 20).trimEnd() })],
    ['names slots twice', listed({ slot_ranges: '0 '.repeat(20_000).trimEnd() })],
    ['is of as many, and over', listed({ state: 'failed', slot_ranges: '0 '.repeat(16 * 2 ** 20).trimEnd() })],
    [
      'has many that are long',
      listed(...Array.from({ length: 250 }, () => ({ slot_ranges: '0 '.repeat(60_000).trimEnd() }))),
    ],
  ])('is refused at once where it %s', (_, reply) => {
    const begun = performance.now();
    expect(() => slotMigrations(reply)).toThrow(ProtocolError);
    expect(performance.now() - begun).toBeLessThan(1_000);
  });
});
