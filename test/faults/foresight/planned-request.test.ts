import { expect, it } from 'vitest';
import { pods } from '../../../src/api/resource.ts';
import type { Step } from '../../../src/plan/plan.ts';
import { isShownBy } from './planned-request.ts';

const ref = { resource: pods, namespace: 'apps', name: 'db-0', uid: 'uid-1' };
const marked = (mark: string): Step => ({
  type: 'patch',
  ref,
  patch: { metadata: { annotations: { mark } } },
  changes: [],
});

const request = (mark: string) => ({
  method: 'PATCH' as const,
  path: '/api/v1/namespaces/apps/pods/db-0',
  headers: { 'content-type': 'application/merge-patch+json' },
  body: JSON.stringify({ metadata: { annotations: { mark }, uid: 'uid-1' } }),
});

it.each([
  ['of the same time', 'db-7 2026-11-28T10:00:00.000Z', true],
  ['of another time, since a plan has its own', 'db-7 2026-11-28T10:00:00.040Z', true],
  ['of another revision', 'db-8 2026-11-28T10:00:00.000Z', false],
  ['without a time', 'db-7', false],
])('a mark %s', (_, mark, isShown) => {
  expect(isShownBy(marked('db-7 2026-11-28T10:00:00.000Z'), request(mark))).toBe(isShown);
});
