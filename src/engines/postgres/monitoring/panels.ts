/** Panels on the metrics of PostgreSQL's exporters. */
import { ofCluster, type Panel, perMember } from '../../../engine/monitoring.ts';

const legend = '{{clusterwright_member}}';
const perDatabase = `${perMember}, datname`;
const ofDatabase = '{{clusterwright_member}} {{datname}}';
/** Not the templates, which nobody uses. */
const databases = `${ofCluster}, datname!~"template.*"`;
const rate = (metric: string): string => `rate(${metric}{${databases}}[$__rate_interval])`;

const members: readonly Panel[] = [
  {
    title: 'Role of each member',
    unit: 'short',
    description: '1: primary. 0: standby. No line: the member does not answer.',
    queries: [{ expr: `1 - max by (${perMember}) (pg_replication_is_replica{${ofCluster}})`, legend }],
  },
  {
    title: 'Connections by state',
    unit: 'short',
    description: 'Connections of clients, and how many the member accepts.',
    queries: [
      {
        expr: `sum by (${perMember}, state) (pg_stat_activity_count{${ofCluster}, backend_type="client backend"})`,
        legend: '{{clusterwright_member}} {{state}}',
      },
      {
        expr: `max by (${perMember}) (pg_settings_max_connections{${ofCluster}})`,
        legend: '{{clusterwright_member}} max_connections',
      },
    ],
  },
  {
    title: 'Longest transaction',
    unit: 's',
    description: 'Age of the oldest open transaction of a client.',
    queries: [
      {
        expr: `max by (${perMember}) (pg_stat_activity_max_tx_duration{${ofCluster}, backend_type="client backend", state!="idle"})`,
        legend,
      },
    ],
  },
];

const replication: readonly Panel[] = [
  {
    title: 'Replication lag, time',
    unit: 's',
    description: 'How old the last replayed commit of a standby is while it has log to replay.',
    queries: [
      {
        expr: `max by (${perMember}) (pg_replication_lag_seconds{${ofCluster}} and pg_replication_is_replica == 1)`,
        legend,
      },
    ],
  },
  {
    title: 'Replication lag, log',
    unit: 'bytes',
    description: 'Log that the primary has written, and a standby or the archive has not replayed or stored.',
    queries: [
      {
        expr: `max by (namespace, clusterwright_cluster, application_name) (pg_stat_replication_pg_wal_lsn_diff{${ofCluster}})`,
        legend: '{{application_name}}',
      },
    ],
  },
  {
    title: 'Log until a slot is lost',
    unit: 'bytes',
    description: 'How much log the primary can still write before it removes what the reader of a slot needs.',
    queries: [
      {
        expr: `min by (${perMember}, slot_name) (pg_replication_slot_safe_wal_size_bytes{${ofCluster}} and on (${perMember}) pg_replication_is_replica == 0)`,
        legend: '{{clusterwright_member}} {{slot_name}}',
      },
    ],
  },
  {
    title: 'Log kept for slots',
    unit: 'bytes',
    description: 'Log on the volume that the reader of a slot has not read.',
    queries: [
      {
        expr: `max by (${perMember}, slot_name) (pg_replication_slots_pg_wal_lsn_diff{${ofCluster}})`,
        legend: '{{clusterwright_member}} {{slot_name}}',
      },
    ],
  },
  {
    title: 'Size of the log',
    unit: 'bytes',
    description: 'Files in `pg_wal`.',
    queries: [{ expr: `max by (${perMember}) (pg_wal_size_bytes{${ofCluster}})`, legend }],
  },
];

const work: readonly Panel[] = [
  {
    title: 'Transactions per second',
    unit: 'ops',
    description: 'Commits and rollbacks.',
    queries: [
      {
        expr: `sum by (${perDatabase}) (${rate('pg_stat_database_xact_commit')})`,
        legend: '{{clusterwright_member}} {{datname}} commits',
      },
      {
        expr: `sum by (${perDatabase}) (${rate('pg_stat_database_xact_rollback')})`,
        legend: '{{clusterwright_member}} {{datname}} rollbacks',
      },
    ],
  },
  {
    title: 'Cache hit ratio',
    unit: 'percentunit',
    description: 'Blocks found in shared_buffers. The cache of the operating system does not count.',
    queries: [
      {
        expr: `sum by (${perMember}) (${rate('pg_stat_database_blks_hit')}) / (sum by (${perMember}) (${rate('pg_stat_database_blks_hit')}) + sum by (${perMember}) (${rate('pg_stat_database_blks_read')}))`,
        legend,
      },
    ],
  },
  {
    title: 'Deadlocks',
    unit: 'short',
    description: 'In 15 minutes.',
    queries: [
      {
        expr: `sum by (${perDatabase}) (increase(pg_stat_database_deadlocks{${databases}}[15m]))`,
        legend: ofDatabase,
      },
    ],
  },
  {
    title: 'Temporary files',
    unit: 'Bps',
    description: 'Written by queries that need more than work_mem.',
    queries: [{ expr: `sum by (${perDatabase}) (${rate('pg_stat_database_temp_bytes')})`, legend: ofDatabase }],
  },
  {
    title: 'Database size',
    unit: 'bytes',
    description: 'Without the log.',
    queries: [{ expr: `max by (${perDatabase}) (pg_database_size_bytes{${databases}})`, legend: ofDatabase }],
  },
  {
    title: 'Age of transaction ids',
    unit: 'short',
    description:
      'Transactions since the oldest row that is not frozen. PostgreSQL accepts no writes at about 2.1 billion.',
    queries: [
      {
        expr: `max by (${perDatabase}) (pg_database_wraparound_age_datfrozenxid_seconds{${databases}})`,
        legend: ofDatabase,
      },
    ],
  },
];

export const postgresPanels: readonly Panel[] = [...members, ...replication, ...work];
