import { type AlertCase, always, rising, type Series } from '../case.ts';

const member = (index: number): string =>
  `namespace="shop",clusterwright_cluster="orders",clusterwright_member="orders-${index}",clusterwright_engine="postgres",pod="orders-exporter-${index}-0"`;
const all = (index: number, more: Readonly<Record<string, string>> = {}) => ({
  namespace: 'shop',
  clusterwright_cluster: 'orders',
  clusterwright_member: `orders-${index}`,
  ...more,
});
const pod = (index: number) => ({ clusterwright_engine: 'postgres', pod: `orders-exporter-${index}-0` });
const cluster = { namespace: 'shop', clusterwright_cluster: 'orders' };
const series = (name: string, index: number, value: number | string, more = ''): Series => ({
  [`${name}{${member(index)}${more}}`]: typeof value === 'number' ? always(value) : value,
});
const primary = series('pg_replication_is_replica', 0, 0);
const standby = series('pg_replication_is_replica', 1, 1);
const up = { ...series('pg_up', 0, 1), ...series('pg_up', 1, 1), ...series('up', 0, 1), ...series('up', 1, 1) };
const streaming = (to: string): Series =>
  series('pg_stat_replication_pg_wal_lsn_diff', 0, 0, `,application_name="${to}",state="streaming"`);

const client = ',backend_type="client backend"';
const connections = (count: number, kind = client): Series => ({
  ...series('pg_stat_activity_count', 0, count, `${kind},state="idle"`),
  ...series('pg_settings_max_connections', 0, 100),
});
const transaction = (seconds: number, state: string): Series =>
  series('pg_stat_activity_max_tx_duration', 0, seconds, `${client},datname="app",usename="app",state="${state}"`);
const slot = (bytes: number): Series =>
  series('pg_replication_slot_safe_wal_size_bytes', 0, bytes, ',slot_name="orders_1_0"');
const age = (transactions: number): Series =>
  series('pg_database_wraparound_age_datfrozenxid_seconds', 0, transactions, ',datname="app"');

export const postgresCases: readonly AlertCase[] = [
  { alert: 'PostgresDown', fires: series('pg_up', 1, 0), labels: all(1, pod(1)), quiet: up },
  {
    alert: 'PostgresNoPrimary',
    story: 'standbys alone',
    fires: { ...up, ...standby },
    labels: cluster,
    quiet: { ...up, ...standby, ...primary },
  },
  {
    alert: 'PostgresNoPrimary',
    story: 'nobody answers; an import has no primary of its own',
    fires: series('up', 0, 0),
    labels: cluster,
    quiet: {
      ...up,
      ...standby,
      'clusterwright_postgrescluster_condition{customresource_kind="PostgresCluster",namespace="shop",name="orders",type="Ready",reason="Following"}':
        always(0),
    },
  },
  {
    alert: 'PostgresTwoPrimaries',
    fires: { ...primary, ...series('pg_replication_is_replica', 1, 0) },
    labels: cluster,
    quiet: { ...primary, ...standby },
  },
  {
    alert: 'PostgresScrapeFails',
    story: 'the exporter',
    fires: series('up', 0, 0, ',job="x"'),
    labels: all(0, { ...pod(0), job: 'x' }),
    quiet: series('up', 0, 1, ',job="x"'),
  },
  {
    alert: 'PostgresScrapeFails',
    story: 'a query, while the database is up',
    fires: { ...up, ...series('pg_scrape_collector_success', 0, 0, ',collector="locks"') },
    labels: all(0),
    quiet: { ...series('pg_up', 0, 0), ...series('pg_scrape_collector_success', 0, 0, ',collector="locks"') },
  },
  {
    alert: 'PostgresStandbyDisconnected',
    fires: { ...primary, ...standby, ...streaming('another-0') },
    labels: all(1, { ...pod(1), application_name: 'orders-1-0' }),
    quiet: { ...primary, ...standby, ...streaming('orders-1-0') },
  },
  {
    alert: 'PostgresStandbyLate',
    fires: { ...standby, ...series('pg_replication_lag_seconds', 1, 90) },
    labels: all(1, pod(1)),
    quiet: { ...standby, ...series('pg_replication_lag_seconds', 1, 30) },
  },
  {
    alert: 'PostgresSlotAboutToBeLost',
    fires: { ...primary, ...slot(1e6) },
    labels: all(0, { ...pod(0), slot_name: 'orders_1_0' }),
    quiet: { ...primary, ...slot(1e9) },
  },
  {
    alert: 'PostgresSlotAboutToBeLost',
    story: 'lost; those of standbys follow nobody',
    fires: { ...primary, ...series('pg_replication_slot_wal_status', 0, 1, ',slot_name="s",wal_status="lost"') },
    labels: all(0, { ...pod(0), slot_name: 's', wal_status: 'lost' }),
    quiet: { ...standby, ...series('pg_replication_slot_safe_wal_size_bytes', 1, 5, ',slot_name="s"') },
  },
  { alert: 'PostgresConnectionsRunOut', fires: connections(86), labels: all(0), quiet: connections(84) },
  {
    alert: 'PostgresConnectionsRunOut',
    story: 'of clients',
    fires: connections(100),
    labels: all(0),
    quiet: connections(100, ',backend_type="parallel worker"'),
  },
  {
    alert: 'PostgresLongTransaction',
    fires: transaction(4000, 'idle in transaction'),
    labels: all(0, { datname: 'app', usename: 'app', state: 'idle in transaction' }),
    quiet: { ...transaction(4000, 'idle'), ...transaction(3000, 'active') },
  },
  {
    alert: 'PostgresDeadlocks',
    fires: series('pg_stat_database_deadlocks', 0, rising(1), ',datname="app"'),
    labels: all(0, { datname: 'app' }),
    quiet: series('pg_stat_database_deadlocks', 0, '0x30 1x30', ',datname="app"'),
  },
  {
    alert: 'PostgresTransactionIdsRunOut',
    fires: { ...primary, ...age(1.1e9) },
    labels: all(0, { datname: 'app' }),
    quiet: { ...primary, ...age(2.1e8) },
  },
];
