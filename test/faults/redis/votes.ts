/** Whether a primary is down, first in one sentinel's eyes, then in those of a quorum; and who leads its failover. */
import type { Sentinel } from './sentinel.ts';
import { type AnyInstance, instancesOf, period, type Watch } from './watch.ts';

/** One sentinel's own view of one instance. */
export function judge(sentinel: Sentinel, watch: Watch, instance: AnyInstance): void {
  const now = sentinel.now;
  const { downAfter } = watch.settings;
  const silentFor =
    instance.unansweredSince !== 0
      ? now - instance.unansweredSince
      : instance.isDisconnected
        ? now - instance.availableAt
        : 0;
  const isImpostor =
    instance.kind === 'master' &&
    instance.roleReported === 'slave' &&
    now - instance.roleReportedAt > downAfter + 2 * sentinel.infoPeriod;
  const isDown = silentFor > downAfter || isImpostor;
  if (isDown === (instance.downSince !== undefined)) return;
  instance.downSince = isDown ? now : undefined;
  if (isDown) instance.lastDownAt = now;
  sentinel.tell(isDown ? '+sdown' : '-sdown', watch, instance);
}

/** What this sentinel answers when another asks about a primary, and for a vote where `candidate` is named. */
export function answerAboutPrimary(
  sentinel: Sentinel,
  question: { readonly ip: string; readonly port: number; readonly epoch: number; readonly candidate?: string },
): { readonly isDown: boolean; readonly leader: string; readonly epoch: number } {
  for (const watch of sentinel.watches.values()) {
    const { primary } = watch;
    if (primary.ip !== question.ip || primary.port !== question.port) continue;
    const isDown = primary.downSince !== undefined;
    if (question.candidate === undefined) return { isDown, leader: '', epoch: 0 };
    vote(sentinel, watch, question.epoch, question.candidate);
    return { isDown, leader: watch.leader, epoch: watch.leaderEpoch };
  }
  return { isDown: false, leader: '', epoch: 0 };
}

/** The first who asks in an epoch gets the vote. */
function vote(sentinel: Sentinel, watch: Watch, epoch: number, candidate: string): void {
  sentinel.heardEpoch(epoch);
  if (watch.leaderEpoch >= epoch || sentinel.currentEpoch > epoch) return;
  watch.leader = candidate;
  watch.leaderEpoch = sentinel.currentEpoch;
  sentinel.publish('+vote-for-leader', `${candidate} ${watch.leaderEpoch}`);
  sentinel.changed();
  // Whoever voted for another does not compete with it.
  if (candidate !== sentinel.id) watch.failoverStartedAt = sentinel.now + period.desync * sentinel.host.random();
}

/** Asks every other sentinel, at most once a second unless `isUrgent`. */
export function askPeers(sentinel: Sentinel, watch: Watch, isUrgent: boolean): void {
  const now = sentinel.now;
  for (const peer of watch.peers.values()) {
    if (now - peer.saidAt > 5 * period.ask) {
      peer.saysDown = false;
      peer.votedFor = '';
    }
    if (watch.primary.downSince === undefined || peer.isDisconnected) continue;
    if (!isUrgent && now - peer.askedAt < period.ask) continue;
    peer.askedAt = now;
    const other = sentinel.reaches(peer.ip) ? sentinel.peerAt(peer.ip) : undefined;
    if (other === undefined || other.isFrozen || !sentinel.mayTalkToPeer(other)) continue;
    const { ip, port } = watch.primary;
    const question = { ip, port, epoch: sentinel.currentEpoch };
    const isCandidate = watch.failover !== 'none';
    const answer = answerAboutPrimary(other, isCandidate ? { ...question, candidate: sentinel.id } : question);
    peer.saidAt = now;
    peer.saysDown = answer.isDown;
    if (!isCandidate) continue;
    peer.votedFor = answer.leader;
    peer.votedEpoch = answer.epoch;
  }
}

/** Whether enough sentinels say that the primary is down. */
export function judgeTogether(sentinel: Sentinel, watch: Watch): void {
  let count = 0;
  if (watch.primary.downSince !== undefined) {
    count = 1;
    for (const peer of watch.peers.values()) if (peer.saysDown) count++;
  }
  const isDown = watch.primary.downSince !== undefined && count >= watch.settings.quorum;
  if (isDown === (watch.objectivelyDownSince !== undefined)) return;
  watch.objectivelyDownSince = isDown ? sentinel.now : undefined;
  if (isDown) watch.primary.lastDownAt = sentinel.now;
  const quorum = isDown ? ` #quorum ${count}/${watch.settings.quorum}` : '';
  sentinel.tell(isDown ? '+odown' : '-odown', watch, watch.primary, quorum);
}

/** Who leads the failover of this epoch: whoever has the votes of a majority, and of a quorum. */
export function leaderOf(sentinel: Sentinel, watch: Watch): string | undefined {
  const epoch = watch.failoverEpoch;
  const votes = new Map<string, number>();
  const count = (id: string): void => {
    votes.set(id, (votes.get(id) ?? 0) + 1);
  };
  for (const peer of watch.peers.values()) {
    if (peer.votedFor !== '' && peer.votedEpoch === sentinel.currentEpoch) count(peer.votedFor);
  }
  const first = [...votes].sort((a, b) => b[1] - a[1])[0];
  vote(sentinel, watch, epoch, first?.[0] ?? sentinel.id);
  if (watch.leaderEpoch === epoch && watch.leader !== '') count(watch.leader);
  const [winner, most] = [...votes].sort((a, b) => b[1] - a[1])[0] ?? ['', 0];
  const needed = Math.max(Math.floor((watch.peers.size + 1) / 2) + 1, watch.settings.quorum);
  return most >= needed ? winner : undefined;
}

/** Somebody is silent and not yet found down, or has not said who it is. */
export function isUnsettled(watch: Watch): boolean {
  if (watch.failover !== 'none' || watch.primary.downSince !== undefined) return true;
  for (const instance of instancesOf(watch)) {
    const isSilent = instance.unansweredSince !== 0 || instance.isDisconnected;
    if (isSilent && instance.downSince === undefined) return true;
    if (instance.kind !== 'sentinel' && instance.infoAt === 0 && instance.downSince === undefined) return true;
  }
  return false;
}
