/** Where no loop runs, nobody lifts a fence: the operator leaves it for ever. Red until it is mended. */
import { expect, it } from 'vitest';
import { planned } from '../../support/plan-words.ts';
import type { Story } from '../../support/redis-situation.ts';

const closed = { settings: { 'min-replicas-to-write': '1000000' } };

it.each<readonly [string, Story]>([
  ['a node that stands alone', { spec: { mode: 'Standalone', replicas: 1 }, size: 1, nodes: { 0: closed } }],
  ['a single node with sentinels', { spec: { replicas: 1 }, size: 1, nodes: { 0: closed } }],
  ['mode Off', { spec: { sentinel: { fence: { mode: 'Off' } } }, nodes: { 0: closed } }],
])('%s: min-replicas-to-write is put back to what the spec says', (_, story) => {
  expect(planned(story).filter((line) => /^configure db-0 .*min-replicas-to-write=[01]/.test(line))).toHaveLength(1);
});
