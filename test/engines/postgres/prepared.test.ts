/** Transactions that are prepared, and a setting that leaves no room for them. */
import { describe, expect, it } from 'vitest';
import type { LiveMember } from '../../../src/engines/postgres/observe/observed.ts';
import { postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

type Spec = NonNullable<Story['spec']>;
const room = (count: number): Spec => ({ parameters: { max_prepared_transactions: String(count) } });

/** What PostgreSQL of the primary says. */
function holding(prepared: number, before: Spec): Partial<LiveMember> {
  const [primary] = postgresWorld({ spec: before }).observed.members;
  if (primary?.state !== 'answering' || primary.server?.state !== 'seen') throw new Error('there is no primary');
  return { server: { ...primary.server, facts: { ...primary.server.facts, prepared } } };
}

const lowered = (prepared: number, spec: Spec, more: Partial<LiveMember> = {}): Story => ({
  before: room(10),
  spec,
  members: { 0: { ...holding(prepared, room(10)), ...more } },
});

describe('a lower max_prepared_transactions', () => {
  const rows: readonly PlanRow[] = [
    [
      'is not written where there are more of them: PostgreSQL would not start',
      lowered(2, room(1)),
      ['blocked TransactionsPrepared'],
    ],
    ['nor where the parameter goes', lowered(1, {}), ['blocked TransactionsPrepared']],
    [
      'is written where there is room for all of them',
      lowered(1, room(1)),
      ['configure postgresql.parameters.max_prepared_transactions=1', 'wait Updating'],
    ],
    [
      'restarts nobody where they were prepared after it was written',
      { ...lowered(2, room(1), { restartPending: true, awaitsPrimary: true }), before: room(1) },
      ['blocked TransactionsPrepared'],
    ],
  ];
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});
