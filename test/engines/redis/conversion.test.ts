/** A single node that gets sentinels and replicas. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisCluster, type Story } from '../../support/redis-situation.ts';

const template = (spec: RedisSpecInput): unknown => {
  const set = redisResources(redisCluster(spec)).find(({ object }) => object.kind === 'StatefulSet')?.object;
  return (set as KubeObject & { readonly spec: { readonly template: unknown } }).spec.template;
};

const fresh: Story = { sentinels: { all: 'forgot' }, terms: { 0: 1 } };
const isNews = (line: string): boolean => /^(monitor|follow|promote|wait|blocked)/.test(line);

describe('from Standalone to Sentinel', () => {
  it('restarts no pod: the template is the same', () => {
    expect(template({ mode: 'Sentinel', replicas: 3 })).toEqual(template({ mode: 'Standalone', replicas: 1 }));
  });

  it.each<PlanRow>([
    [
      'nobody watches or follows a node whose pod does not see the sentinels yet',
      { ...fresh, nodes: { 0: { asksSentinels: false }, 1: 'blank', 2: 'blank' } },
      ['wait AddingSentinels'],
    ],
    [
      'once it sees them, sentinels watch it and new nodes follow it',
      { ...fresh, nodes: { 1: 'blank', 2: 'blank' } },
      [
        ...[0, 1, 2].map((i) => `monitor db-sentinel-${i} -> db-0`),
        ...[1, 2].map((i) => `follow db-${i} -> db-0`),
        'wait Repairing',
      ],
    ],
    [
      'the operator ended when it had told one sentinel: it tells the others',
      { ...fresh, sentinels: { 1: 'forgot', 2: 'forgot' }, nodes: { 0: { asksSentinels: false } } },
      ['monitor db-sentinel-1 -> db-0', 'monitor db-sentinel-2 -> db-0', 'wait Repairing'],
    ],
    [
      'the node has restarted meanwhile: it is primary again, and no blank one is',
      { ...fresh, primary: 'nobody', nodes: { 0: 'unassigned', 1: 'blank', 2: 'blank' } },
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'the node does not answer: nobody is elected',
      { ...fresh, primary: 'nobody', nodes: { 0: 'silent', 1: 'blank', 2: 'blank' } },
      ['wait MembersStarting'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story).filter(isNews)).toEqual(plan));
});
