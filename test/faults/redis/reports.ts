/** What a sentinel does about a replica that reports another role or another primary than it should have. */
import type { Sentinel } from './sentinel.ts';
import { period, type ReplicaInstance, type Watch } from './watch.ts';

/** Greetings go round several times before a sentinel insists on its own view. */
const insistAfter = 4 * period.hello;

export function reportedAsPrimary(sentinel: Sentinel, watch: Watch, replica: ReplicaInstance): void {
  const now = sentinel.now;
  if (watch.failover === 'wait_promotion' && watch.promoted === replica) {
    watch.configEpoch = watch.failoverEpoch;
    watch.failover = 'reconf_slaves';
    watch.failoverChangedAt = now;
    sentinel.tell('+promoted-slave', watch, replica);
    sentinel.tell('+failover-state-reconf-slaves', watch, watch.primary);
    sentinel.greetSoon(watch);
    sentinel.changed();
    return;
  }
  if (watch.promoted === replica || !looksSane(sentinel, watch) || !upFor(replica, insistAfter, now)) return;
  if (now - replica.roleReportedAt <= insistAfter) return;
  sentinel.sendReplicaOf(watch, replica, watch.primary);
  sentinel.tell('+convert-to-slave', watch, replica);
}

export function reportedAsReplica(sentinel: Sentinel, watch: Watch, replica: ReplicaInstance): void {
  const now = sentinel.now;
  const { primary, promoted } = watch;
  const isRight = replica.reportedSource === `${primary.ip}:${primary.port}`;
  const patience = watch.settings.failoverTimeout;
  if (
    !isRight &&
    looksSane(sentinel, watch) &&
    upFor(replica, patience, now) &&
    now - replica.reportedSourceAt > patience
  ) {
    sentinel.sendReplicaOf(watch, replica, primary);
    sentinel.tell('+fix-slave-config', watch, replica);
  }
  if (promoted === undefined) return;
  if (replica.reconfiguration === 'sent' && replica.reportedSource === `${promoted.ip}:${promoted.port}`) {
    replica.reconfiguration = 'inprog';
    sentinel.tell('+slave-reconf-inprog', watch, replica);
  }
  if (replica.reconfiguration === 'inprog' && replica.linkStatus === 'up') {
    replica.reconfiguration = 'done';
    sentinel.tell('+slave-reconf-done', watch, replica);
  }
}

function looksSane({ now, infoPeriod }: Sentinel, { primary, objectivelyDownSince }: Watch): boolean {
  return (
    primary.roleReported === 'master' &&
    primary.downSince === undefined &&
    objectivelyDownSince === undefined &&
    now - primary.infoAt < 2 * infoPeriod
  );
}

/** It was not found down within the last `ms`. */
function upFor(replica: ReplicaInstance, ms: number, now: number): boolean {
  return replica.lastDownAt === 0 || now - replica.lastDownAt > ms;
}
