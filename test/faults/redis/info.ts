/** INFO of a data node: the fields that the engine, the scripts and Sentinel read, as the server writes them. */
import type { DataNode } from './data-node.ts';

/** All sections, or the one of that name. Sections that nobody reads are empty. */
export function infoText(node: DataNode, section?: string): string {
  const wanted = section?.toLowerCase();
  const isWanted = (name: string): boolean =>
    wanted === undefined || ['all', 'default', 'everything', name].includes(wanted);
  const lines: string[] = [];
  if (isWanted('server')) lines.push('# Server', ...serverLines(node), '');
  if (isWanted('persistence')) lines.push('# Persistence', ...persistenceLines(node), '');
  if (isWanted('stats')) {
    const { full, partial } = node.replication.syncs;
    lines.push('# Stats', `sync_full:${full}`, `sync_partial_ok:${partial}`, '');
  }
  if (isWanted('replication')) lines.push('# Replication', ...replicationLines(node), '');
  if (isWanted('keyspace')) {
    const { size } = node.dataset.keys;
    lines.push('# Keyspace', ...(size === 0 ? [] : [`db0:keys=${size},expires=0,avg_ttl=0`]), '');
  }
  return lines.join('\r\n');
}

const released: Readonly<Record<string, string>> = { '7.0': '7.0.15' };

function serverLines({ version, runId, startedAt, host }: DataNode): string[] {
  return [
    `redis_version:${released[version] ?? `${version}.0`}`,
    'redis_mode:standalone',
    `run_id:${runId}`,
    'tcp_port:6379',
    `uptime_in_seconds:${Math.floor((host.time.monotonic() - startedAt) / 1000)}`,
  ];
}

function persistenceLines({ isLoading, isDiskFailing, isRewriting, isAppending }: DataNode): string[] {
  return [
    `loading:${isLoading ? 1 : 0}`,
    `aof_enabled:${isAppending ? 1 : 0}`,
    `aof_rewrite_in_progress:${isRewriting ? 1 : 0}`,
    'aof_rewrite_scheduled:0',
    `aof_last_write_status:${isDiskFailing ? 'err' : 'ok'}`,
  ];
}

function replicationLines(node: DataNode): string[] {
  const { replication, dataset, settings, host } = node;
  const now = host.time.monotonic();
  const lines = [`role:${replication.isPrimary ? 'master' : 'slave'}`];
  if (replication.source !== undefined) lines.push(...sourceLines(node, replication.source, now));
  lines.push(`connected_slaves:${replication.replicas.size}`);
  if (settings.number('min-replicas-to-write') > 0) lines.push(`min_slaves_good_slaves:${replication.goodReplicas}`);
  let i = 0;
  for (const { replica, state, ackOffset, ackAt } of replication.replicas) {
    const lag = state === 'online' ? Math.floor((now - ackAt) / 1000) : 0;
    lines.push(`slave${i++}:ip=${replica.ip},port=6379,state=${state},offset=${ackOffset},lag=${lag}`);
  }
  lines.push(
    'master_failover_state:no-failover',
    `master_replid:${dataset.replid}`,
    `master_replid2:${dataset.replid2}`,
    `master_repl_offset:${dataset.offset}`,
    `second_repl_offset:${dataset.secondOffset}`,
    `repl_backlog_active:${dataset.hasBacklog ? 1 : 0}`,
  );
  return lines;
}

/** What a replica reports before it ever stood in a stream. */
const noPosition = 1;

export function replicaOffset({ replication, dataset }: DataNode): number {
  return replication.hasPosition ? dataset.offset : noPosition;
}

function sourceLines(node: DataNode, source: { host: string; port: number }, now: number): string[] {
  const { replication, settings } = node;
  const { link, isUp, downSince } = replication;
  const isCopying = link !== undefined && !isUp;
  const lines = [
    `master_host:${source.host}`,
    `master_port:${source.port}`,
    `master_link_status:${isUp ? 'up' : 'down'}`,
    `master_last_io_seconds_ago:${isUp ? Math.floor((now - (link?.heardAt ?? now)) / 1000) : -1}`,
    `master_sync_in_progress:${isCopying ? 1 : 0}`,
    `slave_read_repl_offset:${replicaOffset(node)}`,
    `slave_repl_offset:${replicaOffset(node)}`,
  ];
  if (!isUp) lines.push(`master_link_down_since_seconds:${downSecondsAt(downSince, now)}`);
  lines.push(`slave_priority:${settings.number('replica-priority')}`, 'slave_read_only:1', 'replica_announced:1');
  return lines;
}

/** -1 before the first link was lost. */
export function downSecondsAt(downSince: number | undefined, now: number): number {
  return downSince === undefined ? -1 : Math.floor((now - downSince) / 1000);
}
