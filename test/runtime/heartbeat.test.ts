import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { isHeartbeat } from '../../src/runtime/heartbeat.ts';

const written = new Set(['renewTime', 'status']);

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

const before = lock('1', { leader: 'db-0-0', renewTime: '10:00' });

describe('a change of a child', () => {
  it.each([
    ['of a time that is written again and again', lock('2', { leader: 'db-0-0', renewTime: '10:05' }), true],
    ['of nothing but the version', lock('2', { leader: 'db-0-0', renewTime: '10:00' }), true],
    ['that removes such an annotation', lock('2', { leader: 'db-0-0' }), true],
    ['of another annotation', lock('2', { leader: 'db-1-0', renewTime: '10:05' }), false],
    ['that removes another annotation', lock('2', { renewTime: '10:05' }), false],
    ['that removes all annotations', lock('2'), false],
    ['outside of the annotations', lock('2', { leader: 'db-0-0', renewTime: '10:05' }, { a: 'b' }), false],
  ])('%s is a heartbeat: %o', (_, object, expected) => {
    expect(isHeartbeat({ type: 'updated', object, previous: before, origin: 'watch' }, written)).toBe(expected);
  });

  it.each(['added', 'deleted'] as const)('that says that it was %s is none', (type) => {
    const change = type === 'added' ? { type, object: before } : { type, object: before, previous: before };
    expect(isHeartbeat({ ...change, origin: 'watch' } as Parameters<typeof isHeartbeat>[0], written)).toBe(false);
  });

  it('is none where no engine names such annotations', () => {
    const object = lock('2', { leader: 'db-0-0', renewTime: '10:05' });
    expect(isHeartbeat({ type: 'updated', object, previous: before, origin: 'watch' }, new Set())).toBe(false);
  });
});
