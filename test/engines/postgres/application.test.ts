/** The first database and its owner. */
import { describe, expect, it } from 'vitest';
import type { Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

describe('the application', () => {
  const unasked = { state: 'unknown', why: 'no answer within 1000 ms' } as const;
  const lastTransitionTime = '2030-06-01T11:00:00Z';
  const wasReady = {
    type: 'Ready',
    status: 'True',
    reason: 'AllMembersReady',
    message: '',
    observedGeneration: 1,
    lastTransitionTime,
  } as const;
  const init = { sql: 'CREATE EXTENSION citext' };
  const seen = (facts: object, isPasswordWrong = false, lacks = {}): Story => ({
    observed: { application: { state: 'seen', facts, isPasswordWrong, ...lacks } } as never,
  });
  table([
    [
      'gets its role and its database',
      seen({ hasOwner: false, owner: undefined }),
      ['make application', 'wait Updating'],
    ],
    [
      'gets its database',
      seen({ hasOwner: true, owner: undefined }),
      ['make application, owner is there', 'wait Updating'],
    ],
    [
      'gets its role',
      seen({ hasOwner: false, owner: 'other' }),
      ['make application, database is there', 'wait Updating'],
    ],
    [
      'gets its password',
      seen({ hasOwner: true, owner: 'app' }, true),
      ['make application, owner is there, database is there', 'wait Updating'],
    ],
    [
      'gets its Secret again, which somebody has deleted',
      seen({ hasOwner: true, owner: 'app' }, false, { lacks: 'secret' }),
      ['create Secret db-app', 'wait Updating'],
    ],
    [
      'keeps a Secret that somebody has emptied, and the status says so',
      seen({ hasOwner: true, owner: 'app' }, false, { lacks: 'key' }),
      ['blocked SecretMissing'],
    ],
    ['keeps a database that belongs to another role', seen({ hasOwner: true, owner: 'other' }), ['settled']],
    [
      'is waited for where it cannot be asked, whatever the status says',
      { filled: false, observed: { application: unasked }, status: { initialized: true, phase: 'Blocked' } },
      ['wait MembersNotReady'],
    ],
    [
      'is written down once it was seen',
      { filled: false },
      ['apply ConfigMap db-members: data.first-database', 'settled'],
    ],
    [
      'is left alone where it cannot be asked, and an earlier operator has called the cluster Ready',
      { filled: false, observed: { application: unasked }, status: { initialized: true, conditions: [wasReady] } },
      ['settled'],
    ],
    [
      'is left alone where it cannot be asked, and the cluster was ready before',
      { observed: { application: unasked }, status: { initialized: true, phase: 'Degraded' } },
      ['settled'],
    ],
    [
      'is left alone where clients have taken all connections: they are in',
      { filled: false, observed: { application: unasked }, members: { 0: { server: { state: 'full' } } } },
      ['settled'],
    ],
    [
      'is waited for where clients have taken all connections before `init.sql` has run',
      {
        filled: false,
        spec: { init },
        observed: { application: unasked },
        members: { 0: { server: { state: 'full' } } },
      },
      ['wait MembersNotReady'],
    ],
  ]);
});
