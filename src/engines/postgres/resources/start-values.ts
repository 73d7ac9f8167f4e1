/** Settings of which a standby needs no less than its primary, and with which values a server starts. */
import type { Cluster } from '../../../api/cluster.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { parametersOf } from './parameters.ts';

/**
 * A standby with less of these than its primary does not start (PostgreSQL's documentation, "Hot Standby"). By name.
 *
 * `own`: the value of a server for which nobody sets another, the same of PostgreSQL (`boot_val`) and of Patroni 4. `least`: in place of a lower
 * value Patroni takes its own (`CMDLINE_OPTIONS` in its postgresql/config.py). Patroni sets them on the command line.
 */
export const noLessThanPrimary = {
  max_connections: { own: 100, least: 25 },
  max_worker_processes: { own: 8, least: 2 },
  max_wal_senders: { own: 10, least: 3 },
  max_prepared_transactions: { own: 0, least: 0 },
  max_locks_per_transaction: { own: 64, least: 32 },
} as const;

/** By name: what a server starts with that has no primary with more. */
export function startValues(cluster: Cluster<PostgresSpec>): ReadonlyMap<string, number> {
  const parameters = parametersOf(cluster);
  return new Map(
    Object.entries(noLessThanPrimary).map(([name, { own, least }]) => {
      const wanted = Number(parameters[name] ?? own);
      return [name, Number.isInteger(wanted) && wanted >= least ? wanted : own];
    }),
  );
}
