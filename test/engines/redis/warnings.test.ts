import { describe, expect, it } from 'vitest';
import { warningClaims } from '../../../src/engine/spec-warnings.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { specWarnings } from '../../../src/engines/redis/plan/warnings.ts';
import { redisCluster } from '../../support/redis-situation.ts';

const unfenced: RedisSpecInput['sentinel'] = { fence: { mode: 'Off' } };

describe('a spec', () => {
  it.each<readonly [story: string, spec: RedisSpecInput, warnings: readonly string[]]>([
    ['with the defaults is fine', {}, []],
    ['alone needs no fence', { mode: 'Standalone', replicas: 1 }, []],
    ['with one data node neither', { replicas: 1 }, []],
    ['with two data nodes has one', { replicas: 2 }, []],
    ['with two data nodes can do without', { replicas: 2, sentinel: unfenced }, ['PrimaryNotFenced']],
    [
      'with two that must both be there needs none',
      { replicas: 2, sentinel: unfenced, config: { 'min-replicas-to-write': 1 } },
      [],
    ],
    ['with three needs none', { sentinel: unfenced }, []],
    ['with three can do without', { sentinel: unfenced, config: { 'min-replicas-to-write': 0 } }, ['PrimaryNotFenced']],
    ['with the default of before has too small a volume', { storage: { size: '1Gi' } }, ['StorageTooSmall']],
    ['with four times its data has enough', { storage: { size: '1Gi' }, config: { maxmemory: '256mb' } }, []],
    [
      'with more data than that has not',
      { storage: { size: '1Gi' }, config: { maxmemory: '257mb' } },
      ['StorageTooSmall'],
    ],
    ['that calls nodes dead too soon', { sentinel: { downAfter: '2s' } }, ['DownAfterTooShort']],
    ['without sentinels calls nobody dead', { mode: 'Standalone', replicas: 1, sentinel: { downAfter: '1s' } }, []],
    [
      'can have both',
      { replicas: 2, sentinel: unfenced, storage: { size: '1Gi' } },
      ['PrimaryNotFenced', 'StorageTooSmall'],
    ],
  ])('%s', (_, spec, warnings) => {
    const found = specWarnings(redisCluster(spec));
    expect(found.map(({ reason }) => reason)).toEqual(warnings);
    expect(warningClaims(found).map(({ type, reason }) => [type, reason])).toEqual(
      warnings.slice(0, 1).map((reason) => ['SpecWarning', reason]),
    );
  });

  it('is told what would be enough', () => {
    expect(specWarnings(redisCluster({ storage: { size: '1Gi' } }))[0]?.message).toBe(
      'storage.size 1Gi is less than 4 times maxmemory (1229Mi): a rewrite of the append-only file may fill the volume',
    );
  });
});
