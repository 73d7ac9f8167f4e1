/** What the primary says of the slot that keeps the log for the archive. */
import type { Cluster } from '../../../api/cluster.ts';
import type { ArchiveSupport, KeptLog } from '../../../engine/backup-support.ts';
import { operatorSession } from '../client/credentials.ts';
import { askOne, lsn, optional, question, word } from '../client/question.ts';
import { readOnly, withSession } from '../client/session.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { archiveSlot, postgresNames } from '../names.ts';

interface SlotSeen {
  readonly end: bigint;
  readonly status: 'reserved' | 'extended' | 'unreserved' | 'lost' | undefined;
  readonly restart: bigint | undefined;
}

const slotQuestion = question<SlotSeen>(
  `SELECT pg_current_wal_flush_lsn() AS end, wal_status AS status, restart_lsn AS restart
FROM (SELECT 1) AS one LEFT JOIN pg_replication_slots ON slot_name = '${archiveSlot}'`,
  {
    end: lsn,
    status: optional(word('reserved', 'extended', 'unreserved', 'lost')),
    restart: optional(lsn),
  },
);

export const postgresArchiveSupport: ArchiveSupport<PostgresSpec> = {
  isParked: ({ spec }) => spec.instances === 0,

  async kept(cluster: Cluster<PostgresSpec>, children, io): Promise<KeptLog> {
    const leader = children.get('ConfigMap', postgresNames(cluster.metadata.name).state.leader);
    const primary = leader?.metadata.annotations?.leader;
    const address = children.pods.find(({ metadata }) => metadata.name === primary)?.status?.podIP;
    if (address === undefined) return { state: 'unknown', message: 'there is no primary' };
    try {
      const target = await operatorSession(cluster, address, io);
      const login = { ...target.login, settings: readOnly };
      return keptBy(await withSession(io, { ...target, login }, (connection) => askOne(connection, slotQuestion)));
    } catch (error) {
      io.signal.throwIfAborted();
      return { state: 'unknown', message: (error as Error).message };
    }
  },
};

/** A slot that is not there yet is made by the archive. */
export function keptBy({ end, status, restart }: SlotSeen): KeptLog {
  if (status === 'lost') return { state: 'lost', message: `the replication slot ${archiveSlot} has wal_status lost` };
  if (restart === undefined) return { state: 'kept' };
  return { state: 'kept', bytes: Math.max(0, Number(end - restart)) };
}
