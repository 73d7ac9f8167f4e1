/** Alerts on the metrics of PostgreSQL's exporters. */
import { type Alert, conditions, perCluster, perMember, theCluster, theMember } from '../../../engine/monitoring.ts';

/** Exporters of other databases serve the same metrics. */
const ofPostgres = 'clusterwright_engine="postgres"';
const mebibyte = '1024 * 1024';
const status = '`clusterwright status PostgresCluster/NAME` and `kubectl describe postgrescluster NAME`';

/** A standby as its primary knows it: Patroni makes the name of the pod the `application_name`. */
const standbys = `label_replace(pg_replication_is_replica{${ofPostgres}} == 1, "application_name", "$1-0", "clusterwright_member", "(.+)")`;

/** Who copies a source outside has no primary of its own. */
const importing = conditions('customresource_kind="PostgresCluster", reason=~"Importing|Following"');

const availability: readonly Alert[] = [
  {
    name: 'PostgresDown',
    expr: `pg_up{${ofPostgres}} == 0`,
    for: '5m',
    severity: 'warning',
    summary: `PostgreSQL of ${theMember} does not answer.`,
    meaning:
      'The exporter of this member runs, and cannot log in to PostgreSQL. If the member was primary, another is promoted within a minute; then clients are served, and another loss may stop them. If none is, `PostgresNoPrimary` fires, too.',
    actions: [
      `Look at ${status}: the message of \`Ready\` says which member is not ready and why.`,
      'Look at the log of the member: `kubectl logs MEMBER-0`. If PostgreSQL runs, look at the log of the exporter: the role `clusterwright_monitor` may be missing, or the limit of connections reached.',
      'If the volume is full, raise `storage.size` or `walStorage.size`.',
    ],
  },
  {
    name: 'PostgresNoPrimary',
    expr: `count by (${perCluster}) (up{${ofPostgres}}) unless count by (${perCluster}) (pg_replication_is_replica{${ofPostgres}} == 0) unless on (${perCluster}) label_replace(${importing}, "clusterwright_cluster", "$1", "name", "(.*)")`,
    for: '2m',
    severity: 'critical',
    summary: `No primary of ${theCluster} is seen: clients may not be able to write.`,
    meaning:
      'No exporter of this cluster sees a member that accepts writes. This includes exporters that do not answer. A failover takes less than a minute, so it has not succeeded. Clusters that copy from a source outside (an import) are left out if kube-state-metrics exports the conditions.',
    actions: [
      `Look at ${status}: the reasons \`NoPrimary\`, \`QuorumLost\`, \`FailoverPaused\` and \`StateLost\` say why no member is promoted.`,
      'If `Ready` is `True`, clients are served, and the exporters fail: look at their logs.',
      'Bring back the members that the message names. Each may have commits that the others lack.',
      'If they are lost permanently, [continue with one member](../engines/postgres/guide.md#continue-with-one-member).',
    ],
  },
  {
    name: 'PostgresTwoPrimaries',
    expr: `count by (${perCluster}) (pg_replication_is_replica{${ofPostgres}} == 0) > 1`,
    for: '2m',
    severity: 'critical',
    summary: `{{ $value }} members of ${theCluster} are out of recovery at the same time.`,
    meaning:
      'More than one member accepts writes of superusers. The Service of the primary leads to the one that holds the lock of Patroni, so clients that use it are not split. Still, writes to the other are lost when it follows again.',
    actions: [
      'Find out which member holds the lock: the annotation `leader` of the ConfigMap or Endpoints `NAME-leader`.',
      'Stop clients that connect to a pod of the other member directly.',
      'Look at the log of the other member: Patroni demotes a primary without the lock. If its node does not answer, stop the node.',
    ],
  },
  {
    name: 'PostgresScrapeFails',
    expr: `up{${ofPostgres}} == 0 or (max by (${perMember}) (pg_exporter_last_scrape_error{${ofPostgres}} == 1) or max by (${perMember}) (pg_scrape_collector_success{${ofPostgres}} == 0)) unless on (${perMember}) pg_up{${ofPostgres}} == 0`,
    for: '15m',
    severity: 'warning',
    summary: `Metrics of ${theMember} are missing or incomplete.`,
    meaning:
      'The exporter does not answer, or one of its queries fails. PostgreSQL itself may be well, but other alerts of this member may not fire.',
    actions: [
      'Look at the pod of the exporter and its log: `kubectl logs NAME-exporter-NUMBER-0`.',
      'If a query of your own in `monitoring.queries` fails, correct it. It has 5 s.',
      'Check the NetworkPolicies: Prometheus must reach port 9187 of the exporter, and the exporter port 5432 of the member.',
    ],
  },
];

const replication: readonly Alert[] = [
  {
    name: 'PostgresStandbyDisconnected',
    expr: `(${standbys}) unless on (${perCluster}, application_name) pg_stat_replication_pg_wal_lsn_diff{${ofPostgres}, state="streaming"} and on (${perCluster}) pg_replication_is_replica{${ofPostgres}} == 0`,
    for: '10m',
    severity: 'warning',
    summary: `The standby ${theMember} does not stream from the primary.`,
    meaning:
      'The standby runs, and the primary does not know it. It gets no new data, and is not promoted without risk of loss. `pg_replication_lag_seconds` does not show this: a standby that receives nothing has replayed all that it has.',
    actions: [
      `Look at ${status}, and at the log of the standby: it says why the connection fails.`,
      'If the log that it needs is gone from the primary, the operator makes the standby anew. Check that it does: `status.plan`.',
      'If the standby copies or replays a large backlog, wait.',
    ],
  },
  {
    name: 'PostgresStandbyLate',
    expr: `pg_replication_lag_seconds{${ofPostgres}} > 60 and pg_replication_is_replica{${ofPostgres}} == 1`,
    for: '10m',
    severity: 'warning',
    summary: `The standby ${theMember} is {{ $value | humanizeDuration }} late.`,
    meaning:
      'The standby receives the log faster than it replays it. Reads from it are old, and a failover to it takes longer.',
    actions: [
      'Look for long queries on the standby: they hold up the replay until `max_standby_streaming_delay`.',
      'Compare CPU and disk of the standby with their limits.',
      'Look for bulk writes on the primary. The lag ends with them.',
    ],
  },
  {
    name: 'PostgresSlotAboutToBeLost',
    expr: `(pg_replication_slot_safe_wal_size_bytes{${ofPostgres}} < 64 * ${mebibyte} or pg_replication_slot_wal_status{${ofPostgres}, wal_status=~"unreserved|lost"} == 1) and on (${perMember}) pg_replication_is_replica{${ofPostgres}} == 0`,
    for: '5m',
    severity: 'warning',
    summary: `The slot {{ $labels.slot_name }} of ${theMember} is about to lose its log.`,
    meaning:
      'Someone who reads the log by this slot is so late that PostgreSQL will remove what it has not read (`max_slot_wal_keep_size`). After this, a standby is made anew, an archive has a gap, and a logical subscriber must start again.',
    actions: [
      'Find the reader: a standby (`NAME_NUMBER_0`), the archive, or a subscriber. Bring it back.',
      'If nobody uses the slot any more, drop it: `SELECT pg_drop_replication_slot(...)`.',
      'If the reader needs more time, raise `max_slot_wal_keep_size`. Check the free space first.',
    ],
  },
];

const use: readonly Alert[] = [
  {
    name: 'PostgresConnectionsRunOut',
    expr: `sum by (${perMember}) (pg_stat_activity_count{${ofPostgres}, backend_type="client backend"}) > 0.85 * max by (${perMember}) (pg_settings_max_connections{${ofPostgres}})`,
    for: '10m',
    severity: 'warning',
    summary: `${theMember} has {{ $value }} client connections, more than 85% of max_connections.`,
    meaning: 'When all connections are used, PostgreSQL refuses new clients.',
    actions: [
      'See who holds them: the panel "Connections by state", or `SELECT usename, application_name, state, count(*) FROM pg_stat_activity GROUP BY 1, 2, 3`.',
      'Many `idle` connections: use the [pooler](../engines/postgres/pooler.md), or lower the pools of the applications.',
      'Raise `max_connections` in `spec.parameters`. All members restart.',
    ],
  },
  {
    name: 'PostgresLongTransaction',
    expr: `max by (${perMember}, datname, usename, state) (pg_stat_activity_max_tx_duration{${ofPostgres}, backend_type="client backend", state!="idle"}) > 3600`,
    for: '5m',
    severity: 'warning',
    summary: `A transaction of {{ $labels.usename }} in {{ $labels.datname }} of ${theMember} is open for {{ $value | humanizeDuration }}.`,
    meaning:
      'A transaction that stays open prevents VACUUM from removing old rows, holds its locks, and holds up a planned switchover.',
    actions: [
      'Find it: `SELECT pid, usename, application_name, state, xact_start, query FROM pg_stat_activity ORDER BY xact_start`.',
      'A dump or a report may take so long. A session in `idle in transaction` is a fault of the application.',
      'End it with `SELECT pg_terminate_backend(PID)`. Set `idle_in_transaction_session_timeout` in `spec.parameters`.',
    ],
  },
  {
    name: 'PostgresDeadlocks',
    expr: `sum by (${perMember}, datname) (increase(pg_stat_database_deadlocks{${ofPostgres}}[15m])) > 5`,
    for: '5m',
    severity: 'warning',
    summary: `{{ $value | humanize }} deadlocks in 15 minutes in {{ $labels.datname }} of ${theMember}.`,
    meaning:
      'Transactions wait for locks of each other, and PostgreSQL aborts one of them. Clients see an error for each.',
    actions: [
      'The log of the primary has the statements of each deadlock.',
      'Let the application take locks in one order.',
    ],
  },
  {
    name: 'PostgresTransactionIdsRunOut',
    expr: `max by (${perMember}, datname) ({${ofPostgres}, __name__=~"pg_database_wraparound_age_(datfrozenxid|datminmxid)_seconds"}) > 1e9 and on (${perMember}) pg_replication_is_replica{${ofPostgres}} == 0`,
    for: '10m',
    severity: 'critical',
    summary: `The oldest transaction id in {{ $labels.datname }} of ${theMember} is {{ $value | humanize }} transactions old.`,
    meaning:
      'VACUUM does not freeze old rows. At about 2.1 billion, PostgreSQL accepts no more writes. Normally, autovacuum keeps the age below 200 million. The name of the metric says seconds; it counts transactions.',
    actions: [
      'Find what holds VACUUM up: long transactions (`pg_stat_activity.backend_xmin`), prepared transactions (`pg_prepared_xacts`), slots (`pg_replication_slots.xmin`, `catalog_xmin`). End them.',
      'Run `VACUUM (FREEZE, VERBOSE)` in this database, for the tables with the largest `age(relfrozenxid)` first.',
      'Give autovacuum more: `autovacuum_max_workers`, `autovacuum_vacuum_cost_limit`.',
    ],
  },
];

export const postgresAlerts: readonly Alert[] = [...availability, ...replication, ...use];
