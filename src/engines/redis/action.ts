/**
 * Everything the controller ever asks of a Redis process. Each action is safe to repeat, and none of them chooses a
 * primary against the sentinels: `redis.promote` is planned only where none of them can know one.
 */
import type { SlotSet } from './kind/slots.ts';

export interface Target {
  readonly pod: string;
  readonly address: string;
}

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A data node or a sentinel. */
export interface Process extends Target {
  readonly part: 'data' | 'sentinel';
}

/** A node of a Redis Cluster: not whoever has its address by now. */
export interface Member extends Target {
  readonly id: string;
}

/**
 * Passwords that a process accepts from clients and that the Secret does not name. Each number stands for one password: it is the same for every
 * process, and at every look. Sorted. Absent where there are none.
 */
export type Formers = readonly number[];

/** In mode Cluster. Each asks first whether the nodes are still the ones that were seen. */
export type ShardAction =
  /**
   * Gives slots to a node that knows nobody, has no key and no slot. `epoch`: another one for each shard. `restoredKeys`: a restore has put so many keys
   * of these slots there that do not expire, and the node may have taken some of the slots itself.
   */
  | {
      readonly type: 'redis.assignSlots';
      readonly node: Member;
      readonly slots: SlotSet;
      readonly epoch: number;
      readonly restoredKeys?: number;
    }
  /** Makes two nodes of this cluster known to each other. */
  | { readonly type: 'redis.meet'; readonly node: Member; readonly other: Member }
  /** Makes a node without slots copy from a primary of its shard. */
  | { readonly type: 'redis.replicate'; readonly node: Member; readonly primary: Member }
  /** Has all nodes forget one that is gone, or about to go. */
  | { readonly type: 'redis.forgetNode'; readonly id: string; readonly pod: string; readonly nodes: readonly Member[] }
  /** A planned failover: the primary pauses writes until the replica has everything. */
  | { readonly type: 'redis.takeOver'; readonly node: Member; readonly primary: Member };

/** What moves slots from one shard to another. It is refused where another node has become primary of one since. */
export type SlotAction =
  /**
   * Opens each slot, moves its keys, and gives it to the target, one after the other, for some seconds at most: those that are left are
   * planned anew. A slot that is half moved is finished. `others` are told who has the slots. `mostKeyBytes`: the size of a key that
   * is moved; larger ones stay until they are planned. A target without a slot gets the functions of the source first. `isReplicated`: a replica of the
   * target has keys before more of them move. `nodeTimeoutMs`: after so long the others take a server for failed. `followers`: the replicas of the
   * target, which have heard of its epoch before it takes a slot. `otherReplicas`: some of other shards, which take an epoch if that is needed for it.
   */
  | {
      readonly type: 'redis.moveSlots';
      readonly source: Member;
      readonly target: Member;
      readonly others: readonly Member[];
      readonly followers: readonly Member[];
      readonly otherReplicas: readonly Member[];
      readonly slots: SlotSet;
      readonly mostKeyBytes: number;
      readonly isReplicated: boolean;
      readonly nodeTimeoutMs: number;
    }
  /** Has the source move them by itself, as Valkey does from 9.0 on: all of them at once, or none. It only begins. */
  | {
      readonly type: 'redis.migrateSlots';
      readonly source: Member;
      readonly target: Member;
      readonly others: readonly Member[];
      readonly followers: readonly Member[];
      readonly otherReplicas: readonly Member[];
      readonly slots: SlotSet;
      readonly nodeTimeoutMs: number;
    }
  /** Ends what the source moves by itself. Slots and keys stay where they are. */
  | { readonly type: 'redis.cancelMigrations'; readonly source: Member }
  /**
   * Sends what a second primary of a shard has of a slot to the owner of the slot. The owner keeps what it has: of two equal keys the one that is not
   * served is deleted, and with different values both stay. `mostKeyBytes`: larger keys stay, too.
   */
  | {
      readonly type: 'redis.returnKeys';
      readonly slot: number;
      readonly from: Member;
      readonly owner: Member;
      readonly mostKeyBytes: number;
      readonly nodeTimeoutMs: number;
    }
  /** Ends the move of a slot of which no key has moved, or which is over: not where a node without the slot has keys of it. */
  | {
      readonly type: 'redis.closeSlot';
      readonly slot: number;
      readonly owner: Member;
      /** Where the slot is open, besides its owner. */
      readonly others: readonly Member[];
      /** The other primaries. */
      readonly voters: readonly Member[];
      /** Replicas of the owner. */
      readonly followers: readonly Member[];
      readonly otherReplicas: readonly Member[];
      readonly nodeTimeoutMs: number;
    };

export type RedisAction =
  | ShardAction
  | SlotAction
  /**
   * Makes a node primary: at first bootstrap, or after every process of the cluster has lost its address. `others` were seen as
   * replicas: not where one of them has become primary since, or does not say. `term`: of a node that is preferred to the last
   * primary by the terms. It is told first, or that one would be preferred to the node again.
   */
  | {
      readonly type: 'redis.promote';
      readonly node: Target;
      readonly others: readonly Target[];
      readonly term?: number;
    }
  /** `from`: the role in which the node was seen. Who has become primary since is left alone. */
  | {
      readonly type: 'redis.follow';
      readonly node: Target;
      readonly from: 'primary' | 'replica';
      readonly primary: string;
    }
  /**
   * `instead` names what the sentinel was seen to watch, and will not give up by itself: that is dropped. `identity`: it logs in to the nodes as
   * the cluster, which all of them know; otherwise with the password of the clients.
   */
  | {
      readonly type: 'redis.monitor';
      readonly sentinel: Target;
      readonly primary: string;
      readonly instead?: string;
      readonly identity: boolean;
    }
  /** The password is always set along: a sentinel that was told of the primary and not of it can see nobody. */
  | {
      readonly type: 'redis.tuneSentinel';
      readonly sentinel: Target;
      readonly identity: boolean;
      readonly settings: Readonly<Record<string, string>>;
    }
  /**
   * Has a node copy from a server elsewhere, hidden from sentinels and never to be elected. `anew`: it is at another server of that name, and
   * leaves that first.
   */
  | { readonly type: 'redis.import'; readonly node: Target; readonly from: Endpoint; readonly anew: boolean }
  /**
   * Makes it a primary of its own, where nobody has written to the source for a while and the copy has all. `givenUpAt`: the source is gone
   * for good, and the copy ends at this offset.
   */
  | {
      readonly type: 'redis.cutOver';
      readonly node: Target;
      readonly from: Endpoint;
      readonly term: number;
      readonly givenUpAt?: number;
    }
  /** Tells a data node who the cluster is: see `identity.ts`. */
  | { readonly type: 'redis.identify'; readonly node: Target }
  /** Has a data node log in to its primary as the cluster, from the next time on. */
  | { readonly type: 'redis.replicateAs'; readonly node: Target }
  /** Has a sentinel log in to data nodes as the cluster, and tells it who that is. */
  | { readonly type: 'redis.watchAs'; readonly sentinel: Target }
  /** Has a sentinel log in to the other sentinels as the cluster, which all of them know. */
  | { readonly type: 'redis.meetAs'; readonly sentinel: Target }
  /** Has a process let clients in with the passwords that the Secret names, too. */
  | { readonly type: 'redis.acceptPasswords'; readonly process: Process }
  /** Has a process let clients in with `formers`, too, as far as another one accepts them. */
  | {
      readonly type: 'redis.acceptAsWell';
      readonly process: Process;
      readonly as: Process;
      readonly formers: Formers;
    }
  /** Has a process let clients in with nothing but what the Secret names, which it knows. No others go than `formers`. */
  | { readonly type: 'redis.retirePasswords'; readonly process: Process; readonly formers: Formers }
  /** Gives a data node these users as the spec has them; each is tried first. */
  | { readonly type: 'redis.setUsers'; readonly node: Target; readonly users: readonly string[] }
  /** Takes from a data node users that it has been given, and that the spec does not name any more. Their connections end. */
  | { readonly type: 'redis.removeUsers'; readonly node: Target; readonly users: readonly string[] }
  /** Makes a sentinel forget replicas and peers that are gone; it finds those that exist again within seconds. */
  | { readonly type: 'redis.forget'; readonly sentinel: Target }
  | { readonly type: 'redis.configure'; readonly node: Target; readonly settings: Readonly<Record<string, string>> }
  /** A failover that needs no quorum: only where too few sentinels are left for one, and a person has said so. */
  | { readonly type: 'redis.failover'; readonly sentinel: Target }
  /** Asks Sentinel for a planned failover, with writes paused until the replicas have everything. */
  | {
      readonly type: 'redis.handOver';
      readonly primary: Target;
      readonly replicas: readonly Target[];
      readonly sentinel: Target;
    };
