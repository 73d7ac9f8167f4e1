/** What the end-to-end tests would object to. */
import { expect, test } from 'vitest';
import type { KubeClient } from '../../src/runtime/client.ts';
import type { WatchEvent } from '../../src/runtime/watch.ts';
import { watchStatuses } from '../support/watched-statuses.ts';

const ready = { type: 'Ready', status: 'True', reason: 'AllMembersReady', message: 'all is well' };
const told = (status: object): WatchEvent => ({
  type: 'MODIFIED',
  object: { apiVersion: 'clusterwright.dev/v1alpha1', kind: 'RedisCluster', metadata: { name: 'db' }, status },
});

async function seen(watch: KubeClient['watch']): Promise<readonly string[]> {
  return watchStatuses({ watch }, 'apps').stop();
}

test('a status whose phase denies its conditions', async () => {
  const found = await seen(async function* () {
    yield told({ phase: 'Blocked', observedGeneration: 1, conditions: [ready] });
  } as unknown as KubeClient['watch']);
  expect(found).toContainEqual(expect.stringContaining('phase Blocked and Ready True'));
});

test('what the API server shows of a cluster that nobody has looked at is no status', async () => {
  const found = await seen(async function* () {
    yield told({ observedGeneration: -1 });
  } as unknown as KubeClient['watch']);
  expect(found.filter((words) => words.startsWith('RedisCluster'))).toEqual([]);
});

test('a watch that never began', async () => {
  const found = await seen(() => Promise.reject(new Error('forbidden')));
  expect(found).toContainEqual('redisclusters could not be watched: Error: forbidden');
});
