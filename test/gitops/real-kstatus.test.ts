/** The kstatus library itself: on all that it reads of a resource, and on what engines say of their clusters. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeConditions } from '../../src/api/condition.ts';
import { apiVersionOf, type KubeObject } from '../../src/api/object.ts';
import { unobservedStatus } from '../../src/api/observed-generation.ts';
import type { StatusReport } from '../../src/engine/engine.ts';
import { etcdClaims, postgresClaims, redisClaims } from '../support/generated-situations.ts';
import { handlers } from '../support/handlers.ts';
import { type Kstatus, kstatusContradictions, kstatusOf } from '../support/kstatus.ts';
import { answersOf, isCompiled, kstatusProgram } from './programs.ts';

interface Judged {
  readonly status?: Kstatus;
  readonly message?: string;
  readonly error?: string;
}

const judged = (objects: readonly KubeObject[]): readonly Judged[] => answersOf<Judged>(kstatusProgram, objects);

const [redis] = handlers;
const resources = handlers.map(({ kind }) => kind.resource);

function objectOf(status: unknown, metadata: Partial<KubeObject['metadata']> = {}, resource = redis?.kind.resource) {
  if (resource === undefined) throw new Error('there is no engine');
  const { kind } = resource;
  return { apiVersion: apiVersionOf(resource), kind, metadata: { name: 'db', namespace: 'apps', ...metadata }, status };
}

/** Every combination of one of each list. */
function combined<Item>(lists: readonly (readonly Item[])[]): readonly (readonly Item[])[] {
  return lists.reduce<readonly (readonly Item[])[]>(
    (before, list) => before.flatMap((items) => list.map((item) => [...items, item])),
    [[]],
  );
}

const types = ['Degraded', 'Progressing', 'Ready', 'Reconciling', 'Stalled'] as const;
const states = [undefined, 'True', 'False', 'Unknown'] as const;
const conditionSets = combined(types.map((type) => states.map((status) => ({ type, status })))).map((set) =>
  set.flatMap(({ type, status }) => (status === undefined ? [] : [{ type, status, reason: 'Said', message: 'so' }])),
);
const generations = [undefined, -1, 1, 2];
const ends = [undefined, '2030-06-01T12:00:00Z'];

const all = conditionSets.flatMap((conditions) =>
  generations.flatMap((observedGeneration) =>
    ends.map((deletionTimestamp) =>
      objectOf(
        { ...(observedGeneration === undefined ? {} : { observedGeneration }), conditions },
        { generation: 2, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
      ),
    ),
  ),
);

describe.skipIf(!isCompiled(kstatusProgram))('kstatus', () => {
  test('judges as the tests take it to, whatever the conditions and generations are', () => {
    const reversed = conditionSets.map((conditions) =>
      objectOf({ conditions: conditions.toReversed() }, { generation: 2 }),
    );
    const objects = [...all, ...reversed, objectOf(undefined, { generation: 1 })];
    expect(judged(objects).map(({ status, error }) => error ?? status)).toEqual(objects.map(kstatusOf));
  });

  test.each(resources)('$kind: one that nobody has looked at is in progress', (resource) => {
    const [unobserved, statusless] = judged([
      objectOf(unobservedStatus, { generation: 1 }, resource),
      objectOf(undefined, { generation: 1 }, resource),
    ]);
    expect(unobserved).toMatchObject({
      status: 'InProgress',
      message: expect.stringContaining('observed generation is -1'),
    });
    // Why the CRDs have that default.
    expect(statusless?.status).toBe('Current');
  });

  test.each<[string, fc.Arbitrary<StatusReport>]>([
    ['Redis', redisClaims],
    ['etcd', etcdClaims],
    ['PostgreSQL', postgresClaims],
  ])('says of a status of %s what its phase says', (_, claims) => {
    const said = fc.sample(claims, { numRuns: 150, seed: 13 });
    const objects = said.map(({ phase, conditions }) =>
      objectOf(
        { observedGeneration: 2, phase, conditions: mergeConditions([], conditions, 2, '2030-06-01T12:00:00Z') },
        { generation: 2 },
      ),
    );
    expect(judged(objects).map(({ status }) => status)).toEqual(objects.map(kstatusOf));
    expect(said.flatMap(kstatusContradictions)).toEqual([]);
    expect(new Set(said.map(({ phase }) => phase)).size).toBeGreaterThan(2);
  });
});
