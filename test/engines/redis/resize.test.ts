import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { done, due, refused, resizing, underway } from '../../support/resizing.ts';

const everybody = { 'db-0': 'outdated', 'db-1': 'outdated', 'db-2': 'outdated' } as const;
const all = (resize: typeof underway) => ({ 'db-0': resize, 'db-1': resize, 'db-2': resize });
const begun = (pod: string): string => `${pod}: metadata.annotations[clusterwright.dev/resize] undefined > new now`;
const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

describe('pods that differ in resources alone', () => {
  table([
    [
      'are resized in place, sentinels first',
      {
        pods: { ...everybody, 'db-sentinel-1': 'outdated' },
        children: resizing({ ...all(due('redis')), 'db-sentinel-1': due('sentinel') }),
      },
      [begun('db-sentinel-1'), 'resize db-sentinel-1: limits.memory 2Gi', 'wait Resizing'],
    ],
    [
      'then replicas, the highest ordinal first',
      { pods: everybody, children: resizing(all(due('redis'))) },
      [begun('db-2'), 'resize db-2: limits.memory 2Gi', 'wait Resizing'],
    ],
    [
      'the primary last, which does not hand over',
      { pods: { 'db-0': 'outdated' }, children: resizing({ 'db-0': due('redis') }) },
      [begun('db-0'), 'resize db-0: limits.memory 2Gi', 'wait Resizing'],
    ],
    [
      'G5: one at a time, also where the one that is resized has become primary',
      { pods: everybody, children: resizing({ ...all(due('redis')), 'db-0': underway }) },
      ['wait Resizing'],
    ],
    [
      'get the label of the template when that is done',
      { pods: { 'db-2': 'outdated' }, children: resizing({ 'db-2': done }) },
      [
        'db-2: metadata.labels[controller-revision-hash] old > new, metadata.annotations[clusterwright.dev/resize] new 2026-11-28T12:00:00Z > undefined',
        'wait Resizing',
      ],
    ],
    [
      'wait for one that is not well, as for a restart',
      { pods: { 'db-1': 'outdated', 'db-2': 'unready' }, children: resizing({ 'db-1': due('redis') }) },
      ['wait MembersNotReady'],
    ],
    [
      'restart where that is refused',
      { pods: { 'db-2': 'outdated' }, children: resizing({ 'db-2': refused }) },
      ['delete Pod db-2', 'wait Restarting'],
    ],
    [
      'the primary hands over where that is refused',
      { pods: { 'db-0': 'outdated' }, children: resizing({ 'db-0': refused }) },
      ['hand over db-0 -> db-1|db-2 by db-sentinel-0', 'wait HandingOver'],
    ],
  ]);
});

const limit = (memory: string) => ({ resources: { limits: { memory } } });
const toldOf =
  (memory: string) =>
  (objects: readonly KubeObject[]): readonly KubeObject[] =>
    objects.map((object) => {
      if (object.metadata.name !== 'db-2' || object.kind !== 'Pod') return object;
      const { status, ...pod } = object as Pod;
      return {
        ...pod,
        status: { ...status, containerStatuses: [{ name: 'redis', resources: { limits: { memory } } }] },
      };
    });

describe('R10: maxmemory of a pod that is resized', () => {
  const larger = { before: limit('512Mi'), spec: limit('1Gi'), size: 3 };
  const applied = (story: object) =>
    planned(story).filter((line) => !line.startsWith('apply') && !line.startsWith('db-'));

  it('is lowered before its limit', () => {
    const shrinking = {
      before: limit('1Gi'),
      spec: limit('512Mi'),
      pods: { 'db-2': 'outdated' as const },
      children: resizing({ 'db-2': due('redis') }),
    };
    expect(applied(shrinking)).toEqual([
      ...[0, 1, 2].map((i) => expect.stringContaining(`configure db-${i} maxmemory=322122547`)),
      'wait Resizing',
    ]);
  });

  it('is raised when each kubelet has raised the limit, and not when the API server has', () => {
    const memory = { 'db-0': '1Gi', 'db-1': '1Gi', 'db-2': '1Gi' };
    const raised = (told: string) => applied({ ...larger, memory, children: toldOf(told) });
    expect(raised('512Mi')).toEqual(['settled']);
    expect(raised('1Gi')).toEqual([
      ...[0, 1, 2].map((i) => expect.stringContaining(`configure db-${i} maxmemory=644245094`)),
      'settled',
    ]);
  });
});
