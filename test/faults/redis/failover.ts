/** A failover, step by step, as the sentinel that leads it goes through it. Each round takes at most one step. */
import type { Sentinel } from './sentinel.ts';
import { leaderOf } from './votes.ts';
import { endFailover, period, type ReplicaInstance, type Watch } from './watch.ts';

/** Begins one where a quorum sees the primary down and none was begun lately. True where it did. */
export function startIfNeeded(sentinel: Sentinel, watch: Watch): boolean {
  if (watch.objectivelyDownSince === undefined || watch.failover !== 'none') return false;
  if (sentinel.now - watch.failoverStartedAt < 2 * watch.settings.failoverTimeout && watch.failoverStartedAt !== 0) {
    return false;
  }
  startFailover(sentinel, watch);
  return true;
}

export function startFailover(sentinel: Sentinel, watch: Watch): void {
  watch.failover = 'wait_start';
  watch.failoverEpoch = sentinel.nextEpoch();
  watch.failoverStartedAt = sentinel.now + period.desync * sentinel.host.random();
  watch.failoverChangedAt = sentinel.now;
  sentinel.tell('+try-failover', watch, watch.primary);
}

/** The replica to promote: by priority, then by what it has, then by its run id. Undefined where none is fit. */
export function selectReplica(sentinel: Sentinel, watch: Watch): ReplicaInstance | undefined {
  const now = sentinel.now;
  const { downSince } = watch.primary;
  const infoValidMs = downSince === undefined ? 3 * sentinel.infoPeriod : 5 * period.ping;
  const longestLinkDown = (downSince === undefined ? 0 : now - downSince) + 10 * watch.settings.downAfter;
  const fit = [...watch.replicas.values()].filter(
    (replica) =>
      replica.downSince === undefined &&
      !replica.isDisconnected &&
      now - replica.availableAt <= 5 * period.ping &&
      replica.priority > 0 &&
      replica.infoAt !== 0 &&
      now - replica.infoAt <= infoValidMs &&
      replica.linkDownMs <= longestLinkDown,
  );
  return fit.sort((a, b) => a.priority - b.priority || b.offset - a.offset || (a.runId < b.runId ? -1 : 1))[0];
}

function enter(sentinel: Sentinel, watch: Watch, state: Watch['failover']): void {
  watch.failover = state;
  watch.failoverChangedAt = sentinel.now;
}

function abort(sentinel: Sentinel, watch: Watch, why: string): void {
  sentinel.tell(why, watch, watch.primary);
  endFailover(watch);
}

export function stepFailover(sentinel: Sentinel, watch: Watch): void {
  switch (watch.failover) {
    case 'none':
    case 'update_config':
      return;
    case 'wait_start':
      waitForLead(sentinel, watch);
      return;
    case 'select_slave':
      choose(sentinel, watch);
      return;
    case 'send_slaveof_noone':
      promote(sentinel, watch);
      return;
    case 'wait_promotion':
      if (hasTimedOut(sentinel, watch)) abort(sentinel, watch, '-failover-abort-slave-timeout');
      return;
    case 'reconf_slaves':
      reconfigureNext(sentinel, watch);
      detectEnd(sentinel, watch);
      return;
    default:
      watch.failover satisfies never;
  }
}

function hasTimedOut(sentinel: Sentinel, watch: Watch): boolean {
  return sentinel.now - watch.failoverChangedAt > watch.settings.failoverTimeout;
}

function waitForLead(sentinel: Sentinel, watch: Watch): void {
  const isLeader = leaderOf(sentinel, watch) === sentinel.id;
  if (!isLeader && !watch.isForced) {
    const patience = Math.min(period.election, watch.settings.failoverTimeout);
    if (sentinel.now - watch.failoverStartedAt > patience) abort(sentinel, watch, '-failover-abort-not-elected');
    return;
  }
  sentinel.tell('+elected-leader', watch, watch.primary);
  enter(sentinel, watch, 'select_slave');
  sentinel.tell('+failover-state-select-slave', watch, watch.primary);
}

function choose(sentinel: Sentinel, watch: Watch): void {
  const chosen = selectReplica(sentinel, watch);
  if (chosen === undefined) {
    abort(sentinel, watch, '-failover-abort-no-good-slave');
    return;
  }
  watch.promoted = chosen;
  sentinel.tell('+selected-slave', watch, chosen);
  enter(sentinel, watch, 'send_slaveof_noone');
  sentinel.tell('+failover-state-send-slaveof-noone', watch, chosen);
}

function promote(sentinel: Sentinel, watch: Watch): void {
  const { promoted } = watch;
  if (promoted === undefined || !sentinel.sendReplicaOf(watch, promoted, undefined)) {
    if (hasTimedOut(sentinel, watch)) abort(sentinel, watch, '-failover-abort-slave-timeout');
    return;
  }
  enter(sentinel, watch, 'wait_promotion');
  sentinel.tell('+failover-state-wait-promotion', watch, promoted);
}

/** Tells the other replicas, a few at a time: those that copy are of no use meanwhile. */
function reconfigureNext(sentinel: Sentinel, watch: Watch): void {
  const { promoted, settings } = watch;
  if (promoted === undefined) return;
  const others = [...watch.replicas.values()].filter((replica) => replica !== promoted);
  let underWay = others.filter(({ reconfiguration: r }) => r === 'sent' || r === 'inprog').length;
  for (const replica of others) {
    if (replica.reconfiguration === 'sent' && sentinel.now - replica.reconfiguredAt > period.election) {
      replica.reconfiguration = 'done';
    }
    if (underWay >= settings.parallelSyncs) return;
    if (replica.reconfiguration !== 'none' || replica.isDisconnected) continue;
    if (!sentinel.sendReplicaOf(watch, replica, promoted)) continue;
    replica.reconfiguration = 'sent';
    replica.reconfiguredAt = sentinel.now;
    sentinel.tell('+slave-reconf-sent', watch, replica);
    underWay++;
  }
}

function detectEnd(sentinel: Sentinel, watch: Watch): void {
  const { promoted } = watch;
  if (promoted === undefined || promoted.downSince !== undefined) return;
  const left = [...watch.replicas.values()].filter(
    (r) => r !== promoted && r.reconfiguration !== 'done' && r.downSince === undefined,
  );
  const isOver = hasTimedOut(sentinel, watch);
  if (left.length > 0 && !isOver) return;
  if (isOver) {
    sentinel.tell('+failover-end-for-timeout', watch, watch.primary);
    for (const replica of left) sentinel.sendReplicaOf(watch, replica, promoted);
  }
  sentinel.tell('+failover-end', watch, watch.primary);
  enter(sentinel, watch, 'update_config');
}
