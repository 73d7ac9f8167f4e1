/**
 * Runs one action. Every one may be repeated: the second time etcd says that it is done.
 *
 * "Not yet" is no failure either: etcd refuses a change of the membership until every member has been connected for
 * five seconds, and a promotion until the learner has caught up. The next look finds that nothing has changed, and asks
 * again.
 */
import type { Cluster } from '../../api/cluster.ts';
import type { EtcdSpec } from '../../api/etcd.ts';
import type { EngineIO } from '../engine.ts';
import type { EtcdAction } from './action.ts';
import { type Answer, changeTimeoutMs, EtcdRefusal } from './gateway.ts';
import { type EtcdSession, passwordOf, rootUser, sessionOf } from './session.ts';

const done = [
  /member not found/i,
  /peer ?urls already exists/i,
  /can only promote a learner member$/i,
  /compacted/i,
  /user name already exists/i,
  /authentication is not enabled/i,
];
const notYet = [/unhealthy cluster/i, /in sync with leader/i, /not enough started members/i, /too many learner/i];

/** Of all of the database: a large one takes a while. */
const defragmentTimeoutMs = 50_000;

export async function actEtcd(action: EtcdAction, cluster: Cluster<EtcdSpec>, io: EngineIO): Promise<void> {
  const session = sessionOf(cluster, io);
  switch (action.type) {
    case 'etcd.addLearners':
      return addLearners(action, session);
    case 'etcd.promote':
      await isAccepted(
        session.call(action.via.address, 'cluster/member/promote', { ID: action.memberId }, changeTimeoutMs),
      );
      return;
    case 'etcd.removeMember':
      await isAccepted(
        session.call(action.via.address, 'cluster/member/remove', { ID: action.memberId }, changeTimeoutMs),
      );
      return;
    case 'etcd.moveLeader':
      await session.call(
        action.via.address,
        'maintenance/transfer-leadership',
        { targetID: action.to },
        changeTimeoutMs,
      );
      return;
    case 'etcd.compact':
      await isAccepted(
        session.call(
          action.via.address,
          'kv/compaction',
          { revision: action.revision, physical: true },
          changeTimeoutMs,
        ),
      );
      return;
    case 'etcd.defragment':
      await session.call(action.member.address, 'maintenance/defragment', {}, defragmentTimeoutMs);
      return;
    case 'etcd.enableAuth':
      return enableAuth(action.via.address, await passwordOf(cluster, io), session);
    case 'etcd.changePassword': {
      const password = await passwordOf(cluster, io);
      await session.call(action.via.address, 'auth/user/changepw', { name: rootUser, password }, changeTimeoutMs);
      return;
    }
    case 'etcd.disableAuth':
      await isAccepted(session.call(action.via.address, 'auth/disable', {}, changeTimeoutMs));
      return;
    case 'etcd.disarm':
      await session.call(
        action.via.address,
        'maintenance/alarm',
        { action: 'DEACTIVATE', memberID: action.memberId, alarm: action.alarm },
        changeTimeoutMs,
      );
      return;
    default:
      return action satisfies never;
  }
}

async function addLearners({ via, peers }: Extract<EtcdAction, { type: 'etcd.addLearners' }>, session: EtcdSession) {
  for (const { peerUrl } of peers) {
    const request = { peerURLs: [peerUrl], isLearner: true };
    const isIn = await isAccepted(session.call(via.address, 'cluster/member/add', request, changeTimeoutMs));
    if (!isIn) return;
  }
}

/** A root user who is there already may have another password: nobody has been asked for it until now. */
async function enableAuth(address: string, password: string, session: EtcdSession): Promise<void> {
  const user = { name: rootUser, password };
  await isAccepted(session.call(address, 'auth/user/add', user, changeTimeoutMs));
  await session.call(address, 'auth/user/changepw', user, changeTimeoutMs);
  await isAccepted(session.call(address, 'auth/user/grant', { user: rootUser, role: rootUser }, changeTimeoutMs));
  await session.call(address, 'auth/enable', {}, changeTimeoutMs);
}

/** False where it is too early. */
async function isAccepted(call: Promise<Answer>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (!(error instanceof EtcdRefusal)) throw error;
    const { message } = error;
    if (done.some((pattern) => pattern.test(message))) return true;
    if (notYet.some((pattern) => pattern.test(message))) return false;
    throw error;
  }
}
