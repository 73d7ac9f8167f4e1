/** Which of what Patroni writes to its pods and to its lock brings a reconcile. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { heartbeats } from '../../../src/engines/postgres/observe/heartbeats.ts';
import { isHeartbeat } from '../../../src/runtime/heartbeat.ts';

const status = (more: object): string =>
  JSON.stringify({
    state: 'running',
    role: 'replica',
    xlog_location: 1,
    replication_state: 'streaming',
    timeline: 1,
    ...more,
  });

const annotated = (annotations: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'db-1-0', annotations },
});

it.each<[what: string, before: Record<string, string>, after: Record<string, string>, isNews: boolean]>([
  ['it has received more', { status: status({}) }, { status: status({ xlog_location: 2, receive_lsn: 2 }) }, false],
  ['it does not stream any more', { status: status({}) }, { status: status({ replication_state: undefined }) }, true],
  ['it waits for a restart', { status: status({}) }, { status: status({ pending_restart: true }) }, true],
  ['it is on another timeline', { status: status({}) }, { status: status({ timeline: 2 }) }, true],
  ['its status is the first', {}, { status: status({}) }, true],
  ['its status is no JSON', { status: '{' }, { status: '{{' }, true],
  ['its status is no object', { status: '1' }, { status: '2' }, true],
  [
    'the lock is renewed',
    { leader: 'a', renewTime: '1', optime: '1', slots: '{}' },
    { leader: 'a', renewTime: '2' },
    false,
  ],
  ['the lock has another holder', { leader: 'a', renewTime: '1' }, { leader: 'b', renewTime: '2' }, true],
])('%s', (_, before, after, isNews) => {
  const change = { type: 'updated', origin: 'watch', previous: annotated(before), object: annotated(after) } as const;
  expect(isHeartbeat(change, heartbeats)).toBe(!isNews);
});
