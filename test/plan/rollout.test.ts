import { describe, expect, it } from 'vitest';
import { nextToRestart, outdatedPods } from '../../src/plan/rollout.ts';
import type { Pod, StatefulSet } from '../../src/resources/children.ts';

const pod = (name: string, revision: string, more: Partial<Pod['metadata']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { 'controller-revision-hash': revision }, ...more },
});
const set = (status?: StatefulSet['status']): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', generation: 4 },
  ...(status === undefined ? {} : { status }),
});
const settled = set({ observedGeneration: 4, updateRevision: 'new' });
const pods = [pod('db-0', 'old'), pod('db-1', 'new'), pod('db-2', 'old')];

describe('pods with an older template', () => {
  it.each<readonly [story: string, set: StatefulSet | undefined, names: readonly string[]]>([
    ['come with the highest ordinal first', settled, ['db-2', 'db-0']],
    ['are not known without a StatefulSet', undefined, []],
    ['are not known before it has a status', set(), []],
    ['are not known before it has a revision', set({ observedGeneration: 4 }), []],
    ['are not known before the newest template was seen', set({ observedGeneration: 3, updateRevision: 'new' }), []],
  ])('%s', (_, owner, names) => expect(outdatedPods(owner, pods).map(({ metadata }) => metadata.name)).toEqual(names));

  it('are not those that are going anyway', () => {
    expect(outdatedPods(settled, [pod('db-0', 'old', { deletionTimestamp: 'now' })])).toEqual([]);
  });
});

describe('the next to restart', () => {
  const next = (outdated: readonly Pod[], leader: string): string | undefined =>
    nextToRestart(outdated, ({ metadata }) => metadata.name === leader)?.metadata.name;

  it.each<readonly [story: string, outdated: readonly Pod[], leader: string, next: string | undefined]>([
    ['is the first that does not lead', pods, 'db-0', 'db-1'],
    ['is the leader when it is the last', pods.slice(0, 1), 'db-0', 'db-0'],
    ['is nobody when all are up to date', [], 'db-0', undefined],
  ])('%s', (_, outdated, leader, expected) => expect(next(outdated, leader)).toBe(expected));
});
