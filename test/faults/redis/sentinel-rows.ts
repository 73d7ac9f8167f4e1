/** What a sentinel says of one instance: names and values in a flat list. */
import type { Reply } from '../../../src/engines/redis/client/resp.ts';
import type { AnyInstance, PeerInstance, ReplicaInstance, Watch } from './watch.ts';

function flagsOf(watch: Watch, instance: AnyInstance): string {
  const isPrimary = instance.kind === 'master';
  return [
    ...(instance.downSince === undefined ? [] : ['s_down']),
    ...(isPrimary && watch.objectivelyDownSince !== undefined ? ['o_down'] : []),
    instance.kind,
    ...(instance.isDisconnected ? ['disconnected'] : []),
    ...(instance.kind === 'sentinel' && instance.saysDown ? ['master_down'] : []),
    ...(isPrimary && watch.failover !== 'none' ? ['failover_in_progress'] : []),
    ...(instance.kind === 'slave' && watch.promoted === instance ? ['promoted'] : []),
    ...(instance.kind === 'slave' && instance.reconfiguration !== 'none' ? [`reconf_${instance.reconfiguration}`] : []),
    ...(isPrimary && watch.isForced ? ['force_failover'] : []),
  ].join(',');
}

function common(watch: Watch, instance: AnyInstance, now: number): string[] {
  const name =
    instance.kind === 'master'
      ? watch.name
      : instance.kind === 'sentinel'
        ? instance.runId
        : `${instance.ip}:${instance.port}`;
  const row = ['name', name, 'ip', instance.ip, 'port', String(instance.port), 'runid', instance.runId];
  row.push('flags', flagsOf(watch, instance), 'link-pending-commands', '0', 'link-refcount', '1');
  if (instance.kind === 'master' && watch.failover !== 'none') row.push('failover-state', watch.failover);
  const since = (at: number): string => String(Math.max(0, Math.round(now - at)));
  row.push('last-ping-sent', instance.unansweredSince === 0 ? '0' : since(instance.unansweredSince));
  row.push('last-ok-ping-reply', since(instance.availableAt), 'last-ping-reply', since(instance.answeredAt));
  if (instance.downSince !== undefined) row.push('s-down-time', since(instance.downSince));
  if (instance.kind === 'master' && watch.objectivelyDownSince !== undefined) {
    row.push('o-down-time', since(watch.objectivelyDownSince));
  }
  row.push('down-after-milliseconds', String(watch.settings.downAfter));
  if (instance.kind === 'sentinel') return row;
  row.push('info-refresh', instance.infoAt === 0 ? '0' : since(instance.infoAt));
  row.push('role-reported', instance.roleReported, 'role-reported-time', since(instance.roleReportedAt));
  return row;
}

export function primaryRow(watch: Watch, now: number): Reply {
  const { settings } = watch;
  return [
    ...common(watch, watch.primary, now),
    'config-epoch',
    String(watch.configEpoch),
    'num-slaves',
    String(watch.replicas.size),
    'num-other-sentinels',
    String(watch.peers.size),
    'quorum',
    String(settings.quorum),
    'failover-timeout',
    String(settings.failoverTimeout),
    'parallel-syncs',
    String(settings.parallelSyncs),
  ];
}

export function replicaRow(watch: Watch, replica: ReplicaInstance, now: number): Reply {
  const [host = '?', port = '0'] = replica.reportedSource === '' ? [] : replica.reportedSource.split(':');
  return [
    ...common(watch, replica, now),
    'master-link-down-time',
    String(replica.linkDownMs),
    'master-link-status',
    replica.linkStatus === 'up' ? 'ok' : 'err',
    'master-host',
    host,
    'master-port',
    port,
    'slave-priority',
    String(replica.priority),
    'slave-repl-offset',
    String(replica.offset),
    'replica-announced',
    '1',
  ];
}

export function peerRow(watch: Watch, peer: PeerInstance, now: number): Reply {
  return [
    ...common(watch, peer, now),
    'last-hello-message',
    String(Math.max(0, Math.round(now - peer.helloAt))),
    'voted-leader',
    peer.votedFor === '' ? '?' : peer.votedFor,
    'voted-leader-epoch',
    String(peer.votedEpoch),
  ];
}
