/**
 * Everything the controller ever asks of etcd. Each action is safe to repeat, and none is possible without a majority:
 * etcd itself refuses what its members have not agreed on.
 */

/** Where the request is sent: a member that answers, the leader where there is one. */
export interface Target {
  readonly pod: string;
  readonly address: string;
}

/**
 * A change of who the members are. The one that is asked refuses it while it believes that it is not connected to the
 * others, and a member may believe so for ever after connections were made and lost in quick succession: then the others
 * are asked.
 */
interface Change {
  readonly via: Target;
  readonly others: readonly Target[];
}

export type EtcdAction =
  /** A member without a vote, which copies the data first (safety rule E2). */
  | (Change & { readonly type: 'etcd.addLearner'; readonly index: number; readonly peerUrl: string })
  /** Gives it its vote; etcd refuses while it has not caught up. */
  | { readonly type: 'etcd.promote'; readonly via: Target; readonly memberId: string }
  | (Change & { readonly type: 'etcd.removeMember'; readonly memberId: string })
  | { readonly type: 'etcd.moveLeader'; readonly via: Target; readonly to: string }
  /** Drops the history of keys up to a revision: on each of these members, which do that at a pace of their own. */
  | { readonly type: 'etcd.compact'; readonly members: readonly Target[]; readonly revision: string }
  /** Gives back unused space of one member, which answers nobody meanwhile. */
  | { readonly type: 'etcd.defragment'; readonly member: Target }
  /** Makes the root user with the password of the Secret, and has etcd ask who is asking. */
  | { readonly type: 'etcd.enableAuth'; readonly via: Target }
  | { readonly type: 'etcd.disableAuth'; readonly via: Target }
  /** Gives root the present password of the Secret in place of the one before. */
  | { readonly type: 'etcd.changePassword'; readonly via: Target }
  /** Lets the cluster be downgraded to the minor version of `target`: from then on it keeps to that one's format. */
  | { readonly type: 'etcd.enableDowngrade'; readonly via: Target; readonly target: string }
  | { readonly type: 'etcd.cancelDowngrade'; readonly via: Target }
  | { readonly type: 'etcd.disarm'; readonly via: Target; readonly memberId: string; readonly alarm: string };
