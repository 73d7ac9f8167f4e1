/**
 * How a sentinel learns: pings, INFO of the data nodes, and the greetings by which sentinels find each other and agree
 * on the newest configuration.
 */

import type { DataNode } from './data-node.ts';
import { downSecondsAt, replicaOffset } from './info.ts';
import { reportedAsPrimary, reportedAsReplica } from './reports.ts';
import type { Sentinel } from './sentinel.ts';
import {
  type AnyInstance,
  newPeer,
  newReplica,
  type PrimaryInstance,
  period,
  type ReplicaInstance,
  type Watch,
} from './watch.ts';

/** Pings, asks and greets one instance, as far as it is time to. */
export function contact(sentinel: Sentinel, watch: Watch, instance: AnyInstance): void {
  const now = sentinel.now;
  const peer = instance.kind === 'sentinel' ? sentinel.peerAt(instance.ip) : undefined;
  const node = instance.kind === 'sentinel' ? undefined : sentinel.nodeAt(instance.ip, instance.port);
  const server = peer ?? node;
  const isInReach = sentinel.reaches(instance.ip);
  // A peer without a port is one whose address somebody else has now.
  if (instance.port === 0 || (isInReach && server === undefined)) {
    instance.isDisconnected = true;
    // Each attempt to connect brings a ping along.
    if (instance.unansweredSince === 0) instance.unansweredSince = now;
    return;
  }
  if (isInReach && server?.isFrozen === false) instance.isDisconnected = false;
  const isDue = now - instance.pingedAt >= Math.min(period.ping, watch.settings.downAfter) - slack;
  if (isDue || instance.unansweredSince !== 0) {
    instance.pingedAt = now;
    if (instance.unansweredSince === 0) instance.unansweredSince = now;
    const answer =
      !isInReach || server === undefined || server.isFrozen || server.connections.slowMs > watch.settings.downAfter
        ? 'none'
        : sentinel.pingOf(watch, server);
    if (answer !== 'none') instance.answeredAt = now;
    if (answer === 'alive') {
      instance.availableAt = now;
      instance.unansweredSince = 0;
    }
  }
  if (!isInReach || server === undefined || server.isFrozen || instance.isDisconnected) return;
  if (instance.kind !== 'sentinel' && node !== undefined && sentinel.mayTalkTo(watch, node)) {
    const isUrgent =
      instance.kind === 'slave' &&
      (watch.objectivelyDownSince !== undefined || watch.failover !== 'none' || instance.linkDownMs !== 0);
    if (instance.infoAt === 0 || now - instance.infoAt >= (isUrgent ? period.infoUrgent : sentinel.infoPeriod)) {
      readInfo(sentinel, watch, instance, node);
    }
  }
  if (now - instance.helloAt >= period.hello - slack) {
    instance.helloAt = now;
    if (peer !== undefined) sentinel.greet(watch, peer);
    else if (node !== undefined && !node.isLoading && sentinel.mayTalkTo(watch, node)) {
      for (const listener of sentinel.host.processes.sentinels) {
        if (listener !== sentinel && listener.listensAt(node)) sentinel.greet(watch, listener);
      }
    }
  }
}

/** Rounds come about a second apart; what is due in a moment is done now. */
const slack = 60;

function readInfo(sentinel: Sentinel, watch: Watch, instance: PrimaryInstance | ReplicaInstance, node: DataNode): void {
  const now = sentinel.now;
  const { replication, settings } = node;
  instance.infoAt = now;
  if (instance.runId !== node.runId) {
    if (instance.runId !== '') sentinel.tell('+reboot', watch, instance);
    instance.runId = node.runId;
  }
  const role = replication.isPrimary ? 'master' : 'slave';
  // Another's word counts for nothing: an old primary still lists those that have left it.
  if (role === 'master' && instance.kind === 'master') {
    for (const { replica } of replication.replicas) learnReplica(sentinel, watch, replica.ip, 6379);
  }
  if (role !== instance.roleReported) {
    instance.roleReported = role;
    instance.roleReportedAt = now;
    if (instance.kind === 'slave') instance.reportedSourceAt = now;
  }
  if (instance.kind === 'master') return;
  if (replication.source !== undefined) {
    const source = `${replication.source.host}:${replication.source.port}`;
    if (source !== instance.reportedSource) {
      instance.reportedSource = source;
      instance.reportedSourceAt = now;
    }
    instance.linkStatus = replication.isUp ? 'up' : 'down';
    instance.linkDownMs = replication.isUp ? 0 : 1000 * downSecondsAt(replication.downSince, now);
    instance.priority = settings.number('replica-priority');
    instance.offset = replicaOffset(node);
    reportedAsReplica(sentinel, watch, instance);
  } else reportedAsPrimary(sentinel, watch, instance);
}

function learnReplica(sentinel: Sentinel, watch: Watch, ip: string, port: number): void {
  const address = `${ip}:${port}`;
  if (watch.replicas.has(address)) return;
  const replica = newReplica(ip, port, sentinel.now);
  watch.replicas.set(address, replica);
  sentinel.tell('+slave', watch, replica);
  sentinel.changed();
}

/** What a sentinel says to the others about itself and the cluster. */
export interface Hello {
  readonly ip: string;
  readonly id: string;
  readonly currentEpoch: number;
  readonly name: string;
  readonly primary: { readonly ip: string; readonly port: number };
  readonly configEpoch: number;
}

export function hear(sentinel: Sentinel, hello: Hello): void {
  const watch = sentinel.watches.get(hello.name);
  if (watch === undefined || hello.id === sentinel.id) return;
  const known = watch.peers.get(hello.id);
  if (known === undefined || known.ip !== hello.ip) {
    // Whoever else was at that address is not there any more, but may come back elsewhere.
    for (const other of watch.peers.values()) if (other.ip === hello.ip && other !== known) other.port = 0;
    const peer = newPeer(hello.ip, 26_379, hello.id, sentinel.now);
    watch.peers.set(hello.id, peer);
    sentinel.tell(known === undefined ? '+sentinel' : '+sentinel-address-switch', watch, peer);
    sentinel.changed();
    sentinel.wake();
  }
  sentinel.heardEpoch(hello.currentEpoch);
  if (hello.configEpoch <= watch.configEpoch) return;
  watch.configEpoch = hello.configEpoch;
  const { primary } = watch;
  if (primary.ip !== hello.primary.ip || primary.port !== hello.primary.port) {
    sentinel.tell('+config-update-from', watch, watch.peers.get(hello.id) ?? primary);
    sentinel.switchTo(watch, hello.primary.ip, hello.primary.port);
  }
  sentinel.changed();
}
