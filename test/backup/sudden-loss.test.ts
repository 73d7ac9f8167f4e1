/** Which backups hold suddenly little. */
import { describe, expect, it } from 'vitest';
import type { EngineState } from '../../src/backup/engine-data.ts';
import { type Held, type LossSince, suddenLosses } from '../../src/backup/sudden-loss.ts';
import { driverOf } from '../../src/engine/driver/driver.ts';
import { drivers } from '../../src/engines/drivers.ts';
import { redisHolding } from '../support/given-dump.ts';

const etcd = (revision: number, keys?: number, clusterId = '7'): EngineState => ({
  engine: 'etcd',
  clusterId,
  memberId: '1',
  revision: String(revision),
  ...(keys === undefined ? {} : { keys }),
});
const lossSince: LossSince = (before, after) => driverOf(drivers, before.state.engine).lossSince(before, after);
const bytes = (plainBytes: number) => ({ data: { plainBytes } });
const small = bytes(100);
const since = (before: EngineState, after: EngineState): string | undefined =>
  lossSince({ id: 'A', state: before, ...small }, { id: 'B', state: after, ...small });

describe('a backup', () => {
  it.each<[string, EngineState, EngineState, string | undefined]>([
    ['of no keys after some', redisHolding(1), redisHolding(0), 'it holds no keys, and A held 1 key'],
    ['of no keys after none', redisHolding(0), redisHolding(0), undefined],
    ['of fewer of a few', redisHolding(99), redisHolding(1), undefined],
    ['of less than a tenth of many', redisHolding(100), redisHolding(9), 'it holds 9 keys, and A held 100 keys'],
    ['of a tenth of many', redisHolding(100), redisHolding(10), undefined],
    [
      'whose dump says more than was counted before',
      redisHolding(5),
      { ...redisHolding(0), firstDatabase: { number: 0, keys: 4, expiring: 0 } } as EngineState,
      undefined,
    ],
    [
      'whose dump says less than was counted before',
      redisHolding(5),
      { ...redisHolding(5), firstDatabase: { number: 0, keys: 0, expiring: 0 } } as EngineState,
      'it holds no keys, and A held 5 keys',
    ],
    ['of an etcd that went on', etcd(5, 3), etcd(6, 2), undefined],
    ['of an etcd where nobody wrote', etcd(5, 3), etcd(5, 3), undefined],
    ['of an etcd whose revision went back', etcd(5, 3), etcd(4, 3), 'its revision is 4, and that of A was 5'],
    ['of a revision with more digits', etcd(9, 3), etcd(10, 3), undefined],
    ['of another etcd cluster', etcd(5, 3, '7'), etcd(9, 9, '8'), 'it is of the etcd cluster 8, and A was of 7'],
    ['of an etcd without keys', etcd(5, 3), etcd(9, 0), 'it holds no keys, and A held 3 keys'],
    ['of an etcd without keys, after one that counts none', etcd(5), etcd(9, 0), 'it holds no keys, and A held data'],
    ['of an etcd without keys, after one without any', etcd(1), etcd(1, 0), undefined],
    ['that counts no keys', etcd(5, 3), etcd(9), undefined],
  ])('%s', (_, before, after, why) => {
    expect(since(before, after)).toBe(why);
  });

  const mebibyte = 1024 * 1024;
  it.each<[string, EngineState, number, number, string | undefined]>([
    ['whose one key has lost nearly all', redisHolding(1), mebibyte, 104_857, 'it has 104857 bytes, and A had 1048576'],
    ['that has a tenth left', redisHolding(1), mebibyte, 104_858, undefined],
    ['that was small before', redisHolding(1), mebibyte - 1, 100, undefined],
    ['that has grown', redisHolding(1), mebibyte, 5 * mebibyte, undefined],
    ['of an etcd that was defragmented', etcd(5, 3), 100 * mebibyte, 30_000, undefined],
  ])('of fewer bytes %s', (_, state, had, has, why) => {
    expect(lossSince({ id: 'A', state, ...bytes(had) }, { id: 'B', state, ...bytes(has) })).toBe(why);
  });

  const history = (...keys: readonly number[]): Held[] =>
    keys.map((each, index) => ({ id: String(index), state: redisHolding(each), ...small }));
  const doubtful = (held: readonly Held[], confirmed?: string): string[] => [
    ...suddenLosses(held, confirmed, lossSince).keys(),
  ];

  it('is compared with the newest before it that nothing is wrong with', () => {
    expect(doubtful(history(5, 0, 0, 5, 0))).toEqual(['1', '2', '4']);
    expect(doubtful(history(1000, 50, 60, 99, 100))).toEqual(['1', '2', '3']);
    expect(doubtful(history(0, 0, 5))).toEqual([]);
  });

  it('that is confirmed is what later ones are compared with', () => {
    expect(doubtful(history(5, 0, 0, 0), '2')).toEqual(['1']);
    expect(doubtful(history(5, 0, 0, 0), '9')).toEqual(['1', '2', '3']);
    expect(doubtful(history(1000, 50, 4), '1')).toEqual([]);
    expect(doubtful(history(5, 0, 5, 0), '1')).toEqual(['3']);
  });
});
