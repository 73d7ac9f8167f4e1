import { describe, expect, it } from 'vitest';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { fenceFiles, hasFence } from '../../../src/engines/redis/resources/fence.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import { planned } from '../../support/plan-words.ts';
import { redisCluster, type Story } from '../../support/redis-situation.ts';

describe('the fence', () => {
  it.each<readonly [story: string, spec: RedisSpecInput, file: string, has: boolean]>([
    ['is there by default', {}, 'Isolated 10000', true],
    ['with two data nodes as well', { replicas: 2 }, 'Isolated 10000', true],
    ['not where nobody else could be elected', { replicas: 1 }, 'Off 10000', false],
    ['as the spec has it', { sentinel: { fence: { mode: 'Strict', after: '4500ms' } } }, 'Strict 4500', true],
    ['or not at all', { sentinel: { fence: { mode: 'Off' } } }, 'Off 10000', false],
  ])('%s', (_, spec, file, has) => {
    const cluster = redisCluster(spec);
    expect([fenceFiles(cluster), hasFence(cluster)]).toEqual([{ fence: `${file}\n` }, has]);
  });

  it('has no file, and so no loop, in a node that stands alone', () => {
    const files = redisResources(redisCluster({ mode: 'Standalone', replicas: 1 })).find(
      ({ object }) => object.kind === 'ConfigMap',
    )?.object.data;
    expect(Object.keys(files ?? {})).not.toContain('fence');
  });
});

const closed = { settings: { 'min-replicas-to-write': '1000000' } };

describe('where no pod lifts a fence that stands', () => {
  it.each<readonly [string, Story]>([
    ['a node that stands alone', { spec: { mode: 'Standalone', replicas: 1 }, size: 1, nodes: { 0: closed } }],
    ['a single node with sentinels', { spec: { replicas: 1 }, size: 1, nodes: { 0: closed } }],
    ['mode Off', { spec: { sentinel: { fence: { mode: 'Off' } } }, nodes: { 0: closed } }],
  ])('%s: min-replicas-to-write is put back to what the spec says', (_, story) => {
    expect(planned(story).filter((line) => /^configure db-0 .*min-replicas-to-write=[01]/.test(line))).toHaveLength(1);
  });
});
