import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { Heartbeats } from '../../src/engine/engine.ts';
import { withoutHeartbeats } from '../../src/engines/postgres/observe/heartbeats.ts';
import { isHeartbeat } from '../../src/runtime/heartbeat.ts';
import type { Change } from '../../src/runtime/store.ts';

type Annotations = Readonly<Record<string, string>>;

function child(resourceVersion: string, annotations?: Annotations, data: Annotations = {}): KubeObject {
  const metadata = { name: 'db-leader', namespace: 'team', uid: 'u', resourceVersion };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: annotations === undefined ? metadata : { ...metadata, annotations },
    data,
  } as KubeObject;
}

function heard(
  previous: KubeObject,
  object: KubeObject,
  heartbeats: Heartbeats | undefined = withoutHeartbeats,
): boolean {
  return isHeartbeat({ type: 'updated', object, previous, origin: 'watch' }, heartbeats);
}

describe('a change of the lock', () => {
  const before = child('1', { leader: 'db-0-0', renewTime: '10:00', optime: '7', slots: '{"db_1_0":7}' });
  const renewed = child('2', { leader: 'db-0-0', renewTime: '10:05', optime: '9', slots: '{"db_1_0":9}' });

  it.each([
    ['that renews it', renewed, true],
    ['of nothing but the version', { ...before, metadata: { ...before.metadata, resourceVersion: '2' } }, true],
    ['that gives it to another member', child('2', { leader: 'db-1-0', renewTime: '10:05' }), false],
    ['that gives it up', child('2', { renewTime: '10:05' }), false],
    ['that removes all annotations', child('2'), false],
    ['outside of the annotations', child('2', renewed.metadata.annotations, { a: 'b' }), false],
  ])('%s', (_, object, expected) => {
    expect(heard(before, object as KubeObject)).toBe(expected);
  });

  it.each(['added', 'deleted'] as const)('that says that it was %s is none', (type) => {
    const change = type === 'added' ? { type, object: before } : { type, object: before, previous: before };
    expect(isHeartbeat({ ...change, origin: 'watch' } as Change, withoutHeartbeats)).toBe(false);
  });

  it('is none of an engine that has no heartbeats', () => {
    expect(isHeartbeat({ type: 'updated', object: renewed, previous: before, origin: 'watch' }, undefined)).toBe(false);
  });
});

describe('a change of what a member says of itself', () => {
  const streaming = {
    state: 'running',
    role: 'replica',
    replication_state: 'streaming',
    timeline: 2,
    xlog_location: 7,
  };
  const before = child('1', { status: JSON.stringify(streaming) });
  const { replication_state: _, ...alone } = streaming;

  it.each([
    ['in its position', { ...streaming, xlog_location: 9 }, true],
    ['in a position that it did not tell', { ...streaming, replay_lsn: 9 }, true],
    ['in its timeline', { ...streaming, timeline: 3 }, false],
    ['in its role', { ...streaming, role: 'primary' }, false],
    ['in its state', { ...streaming, state: 'starting' }, false],
    ['that does not stream any more', alone, false],
    ['that awaits a restart', { ...streaming, pending_restart: true }, false],
  ])('%s', (_, status, expected) => {
    expect(heard(before, child('2', { status: JSON.stringify(status) }))).toBe(expected);
  });

  it.each(['{', '7', 'null', ''])('is a change where it cannot be read: %s', (status) => {
    expect(heard(before, child('2', { status }))).toBe(false);
  });
});
