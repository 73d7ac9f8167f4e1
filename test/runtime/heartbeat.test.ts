import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { Heartbeats } from '../../src/engine/engine.ts';
import { isHeartbeat } from '../../src/runtime/heartbeat.ts';

const written: Heartbeats = {
  renewTime: () => undefined,
  status: (value) => value.replace(/ at \d+$/, ''),
};

function lock(
  resourceVersion: string,
  annotations?: Record<string, string>,
  data: Record<string, string> = {},
): KubeObject {
  const metadata = { name: 'db-leader', namespace: 'team', uid: 'u', resourceVersion };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: annotations === undefined ? metadata : { ...metadata, annotations },
    data,
  } as KubeObject;
}

const status = 'running at 1';
const before = lock('1', { leader: 'db-0-0', renewTime: '10:00', status });

describe('a change of a child', () => {
  it.each([
    ['of a time that is written again and again', lock('2', { leader: 'db-0-0', renewTime: '10:05', status }), true],
    ['of nothing but the version', lock('2', { leader: 'db-0-0', renewTime: '10:00', status }), true],
    ['that removes such an annotation', lock('2', { leader: 'db-0-0', status }), true],
    [
      'of one that has a heartbeat in it, and nothing else',
      lock('2', { leader: 'db-0-0', status: 'running at 2' }),
      true,
    ],
    ['of the rest of such a one', lock('2', { leader: 'db-0-0', status: 'stopped at 2' }), false],
    ['of another annotation', lock('2', { leader: 'db-1-0', renewTime: '10:05', status }), false],
    ['that removes another annotation', lock('2', { renewTime: '10:05', status }), false],
    ['that removes all annotations', lock('2'), false],
    ['outside of the annotations', lock('2', { leader: 'db-0-0', renewTime: '10:05', status }, { a: 'b' }), false],
  ])('%s is a heartbeat: %o', (_, object, expected) => {
    expect(isHeartbeat({ type: 'updated', object, previous: before, origin: 'watch' }, written)).toBe(expected);
  });

  it.each(['added', 'deleted'] as const)('that says that it was %s is none', (type) => {
    const change = type === 'added' ? { type, object: before } : { type, object: before, previous: before };
    expect(isHeartbeat({ ...change, origin: 'watch' } as Parameters<typeof isHeartbeat>[0], written)).toBe(false);
  });

  it('is none where no engine names such annotations', () => {
    const object = lock('2', { leader: 'db-0-0', renewTime: '10:05', status });
    expect(isHeartbeat({ type: 'updated', object, previous: before, origin: 'watch' }, {})).toBe(false);
  });
});
