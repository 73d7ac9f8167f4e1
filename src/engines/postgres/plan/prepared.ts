/**
 * Transactions that are prepared need room at each start: a server with a lower `max_prepared_transactions` than there are of them does not
 * start. Patroni then elects another member, which still has the old value, and would be the next to restart: each of these restarts would
 * be a failover, without an end.
 */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import type { Situation } from '../observe/situation.ts';
import { startValues } from '../resources/start-values.ts';
import { recheckMs } from './restart.ts';

export const transactionsPrepared = 'TransactionsPrepared';

/** Undefined where there is room for all of them. Nothing tells when they have ended. */
export function withoutRoom({ cluster, primary }: Situation): Outcome | undefined {
  if (primary?.server?.state !== 'seen') return undefined;
  const { prepared } = primary.server.facts;
  // In place of what is no number, Patroni takes its own.
  const room = startValues(cluster).get('max_prepared_transactions') ?? 0;
  if (prepared <= room) return undefined;
  const count = prepared === 1 ? '1 transaction is' : `${prepared} transactions are`;
  const message = `${count} prepared (pg_prepared_xacts), and max_prepared_transactions is to be ${room}: PostgreSQL would not start; end them by COMMIT PREPARED or ROLLBACK PREPARED, or raise the parameter`;
  return blocked(transactionsPrepared, message, recheckMs);
}
