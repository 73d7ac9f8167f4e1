/**
 * Runs one action. Every one may be repeated: the second time etcd says that it is done.
 *
 * "Not yet" is no failure either: etcd refuses a change of the membership until every member has been connected for
 * five seconds, and a promotion until the learner has caught up. The next look finds that nothing has changed, and asks
 * again.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { Unanswered } from '../../../engine/within.ts';
import type { EtcdAction, Target } from '../action.ts';
import { type Answer, changeTimeoutMs, EtcdRefusal } from '../client/gateway.ts';
import { type EtcdSession, passwordOf, rootUser, sessionOf } from '../client/session.ts';
import type { EtcdSpec } from '../kind/schema.ts';

const done = [
  /member not found/i,
  // Its number follows from its address and the second in which it was added.
  /member ID already exist/i,
  /peer ?urls already exists/i,
  /can only promote a learner member$/i,
  /compacted/i,
  /authentication is not enabled/i,
  /downgrade job in progress/i,
  /no inflight downgrade job/i,
];
const unconnected = /unhealthy cluster/i;
const notYet = [unconnected, /in sync with leader/i, /not enough started members/i, /too many learner/i];

/** A large database takes a while. */
const wholeDatabaseTimeoutMs = 50_000;

export async function actEtcd(action: EtcdAction, cluster: Cluster<EtcdSpec>, io: EngineContext): Promise<void> {
  const session = sessionOf(cluster, io);
  switch (action.type) {
    case 'etcd.addLearner':
      return unlessRefused(
        askInTurn(action, ({ address }) =>
          session.call(address, 'cluster/member/add', { peerURLs: [action.peerUrl], isLearner: true }, changeTimeoutMs),
        ),
      );
    case 'etcd.promote':
      return unlessRefused(
        session.call(action.via.address, 'cluster/member/promote', { ID: action.memberId }, changeTimeoutMs),
      );
    case 'etcd.removeMember':
      return unlessRefused(
        askInTurn(action, ({ address }) =>
          session.call(address, 'cluster/member/remove', { ID: action.memberId }, changeTimeoutMs),
        ),
      );
    case 'etcd.moveLeader':
      await session.call(
        action.via.address,
        'maintenance/transfer-leadership',
        { targetID: action.to },
        changeTimeoutMs,
      );
      return;
    case 'etcd.compact':
      return compact(action, session);
    case 'etcd.defragment':
      return defragment(action.member, session);
    case 'etcd.enableAuth':
      return enableAuth(action.via.address, await passwordOf(cluster, io), session);
    case 'etcd.changePassword': {
      const password = await passwordOf(cluster, io);
      await session.call(action.via.address, 'auth/user/changepw', { name: rootUser, password }, changeTimeoutMs);
      return;
    }
    case 'etcd.disableAuth':
      return unlessRefused(session.call(action.via.address, 'auth/disable', {}, changeTimeoutMs));
    case 'etcd.enableDowngrade': {
      const request = { action: 'ENABLE', version: action.target };
      return unlessRefused(session.call(action.via.address, 'maintenance/downgrade', request, changeTimeoutMs));
    }
    case 'etcd.cancelDowngrade':
      return unlessRefused(
        session.call(action.via.address, 'maintenance/downgrade', { action: 'CANCEL' }, changeTimeoutMs),
      );
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

/**
 * The first one tells all members to compact. `physical` has a member answer only when it has dropped the history itself,
 * even where it refuses since that revision is compacted already: one that is defragmented before that gives back little.
 */
async function compact(
  { members, revision }: Extract<EtcdAction, { readonly type: 'etcd.compact' }>,
  session: EtcdSession,
): Promise<void> {
  for (const { address } of members) {
    await unlessRefused(session.call(address, 'kv/compaction', { revision, physical: true }, wholeDatabaseTimeoutMs));
  }
}

/** It goes on without the one who has asked for it. Its member is silent until then, so nobody asks for another. */
async function defragment({ address }: Target, session: EtcdSession): Promise<void> {
  try {
    await session.call(address, 'maintenance/defragment', {}, wholeDatabaseTimeoutMs);
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
  }
}

/**
 * A root user who is there already may have another password, or be one who never has any and would not be let in: nobody
 * has been asked for it until now. So one of ours takes the place. Where somebody else has enabled it meanwhile, etcd keeps its own.
 */
async function enableAuth(address: string, password: string, session: EtcdSession): Promise<void> {
  const user = { name: rootUser, password };
  try {
    await session.call(address, 'auth/user/add', user, changeTimeoutMs);
  } catch (error) {
    if (!(error instanceof EtcdRefusal) || !/user name already exists/i.test(error.message)) throw error;
    await session.call(address, 'auth/user/delete', { name: rootUser }, changeTimeoutMs);
    await session.call(address, 'auth/user/add', user, changeTimeoutMs);
  }
  await unlessRefused(session.call(address, 'auth/user/grant', { user: rootUser, role: rootUser }, changeTimeoutMs));
  await session.call(address, 'auth/enable', {}, changeTimeoutMs);
}

/** The next one is asked only where the one before has refused for what it believes of its own connections. */
async function askInTurn(
  { via, others }: { readonly via: Target; readonly others: readonly Target[] },
  ask: (target: Target) => Promise<Answer>,
): Promise<Answer> {
  const [next, ...rest] = others;
  try {
    return await ask(via);
  } catch (error) {
    if (next === undefined || !(error instanceof EtcdRefusal) || !unconnected.test(error.message)) throw error;
    return askInTurn({ via: next, others: rest }, ask);
  }
}

async function unlessRefused(call: Promise<Answer>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof EtcdRefusal)) throw error;
    if (![...done, ...notYet].some((pattern) => pattern.test(error.message))) throw error;
  }
}
