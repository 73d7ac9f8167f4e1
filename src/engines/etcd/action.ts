/**
 * Everything the controller ever asks of etcd. Each action is safe to repeat, and none is possible without a majority:
 * etcd itself refuses what its members have not agreed on.
 */

/** Where the request is sent: a member that answers, the leader where there is one. */
export interface Target {
  readonly pod: string;
  readonly address: string;
}

/** A member to be, by the number that it is given. */
export interface Peer {
  readonly index: number;
  readonly peerUrl: string;
}

export type EtcdAction =
  /** Members without a vote, which copy the data first (safety rule E2); in this order, and none after one that etcd refuses. */
  | { readonly type: 'etcd.addLearners'; readonly via: Target; readonly peers: readonly Peer[] }
  /** Gives it its vote; etcd refuses while it has not caught up. */
  | { readonly type: 'etcd.promote'; readonly via: Target; readonly memberId: string }
  | { readonly type: 'etcd.removeMember'; readonly via: Target; readonly memberId: string }
  | { readonly type: 'etcd.moveLeader'; readonly via: Target; readonly to: string }
  /** Drops the history of keys up to a revision. */
  | { readonly type: 'etcd.compact'; readonly via: Target; readonly revision: string }
  /** Gives back unused space of one member, which answers nobody meanwhile. */
  | { readonly type: 'etcd.defragment'; readonly member: Target }
  /** Makes the root user with the password of the Secret, and has etcd ask who is asking. */
  | { readonly type: 'etcd.enableAuth'; readonly via: Target }
  | { readonly type: 'etcd.disableAuth'; readonly via: Target }
  /** Gives root the present password of the Secret in place of the one before. */
  | { readonly type: 'etcd.changePassword'; readonly via: Target }
  | { readonly type: 'etcd.disarm'; readonly via: Target; readonly memberId: string; readonly alarm: string };
