/** What one sentinel knows of one cluster: the primary, its replicas, the other sentinels, and the failover in progress. */

/** Periods of Sentinel, in milliseconds. */
export const period = {
  ping: 1000,
  /** Until SENTINEL DEBUG says otherwise. */
  info: 10_000,
  /** INFO of replicas while something is going on. */
  infoUrgent: 1000,
  hello: 2000,
  /** Asking the others whether they see the primary down, too. */
  ask: 1000,
  /** Without a leader by then, a failover is given up. */
  election: 10_000,
  /** The most by which sentinels start apart from each other. */
  desync: 1000,
} as const;

export type Role = 'master' | 'slave';

/** A server that is watched: pinged, and judged by its answers. Times are virtual milliseconds; 0 is never. */
export interface Instance {
  ip: string;
  port: number;
  runId: string;
  /** The last valid answer to a ping. */
  availableAt: number;
  /** The last answer of any kind. */
  answeredAt: number;
  pingedAt: number;
  /** When the oldest ping without an answer was sent; 0 where all are answered. */
  unansweredSince: number;
  /** Nobody listens there. */
  isDisconnected: boolean;
  downSince: number | undefined;
  /** The last time that it was found down; stays when it is up again. */
  lastDownAt: number;
  helloAt: number;
}

export interface ReplicaInstance extends Instance {
  readonly kind: 'slave';
  infoAt: number;
  roleReported: Role;
  roleReportedAt: number;
  reportedSource: string;
  reportedSourceAt: number;
  linkStatus: 'up' | 'down';
  /** Milliseconds; negative where it never lost a link. */
  linkDownMs: number;
  priority: number;
  offset: number;
  reconfiguration: 'none' | 'sent' | 'inprog' | 'done';
  reconfiguredAt: number;
}

export interface PeerInstance extends Instance {
  readonly kind: 'sentinel';
  /** It said that it sees the primary down. */
  saysDown: boolean;
  saidAt: number;
  votedFor: string;
  votedEpoch: number;
  askedAt: number;
}

export interface PrimaryInstance extends Instance {
  readonly kind: 'master';
  infoAt: number;
  roleReported: Role;
  roleReportedAt: number;
}

export type AnyInstance = PrimaryInstance | ReplicaInstance | PeerInstance;

export type FailoverState =
  | 'none'
  | 'wait_start'
  | 'select_slave'
  | 'send_slaveof_noone'
  | 'wait_promotion'
  | 'reconf_slaves'
  | 'update_config';

export interface WatchSettings {
  quorum: number;
  downAfter: number;
  failoverTimeout: number;
  parallelSyncs: number;
  password: string;
  /** Empty for the default user. */
  user: string;
}

export interface Watch {
  readonly name: string;
  readonly settings: WatchSettings;
  primary: PrimaryInstance;
  /** By address. */
  readonly replicas: Map<string, ReplicaInstance>;
  /** By run id. */
  readonly peers: Map<string, PeerInstance>;
  configEpoch: number;
  /** Whom this sentinel voted for last. */
  leader: string;
  leaderEpoch: number;
  objectivelyDownSince: number | undefined;
  failover: FailoverState;
  failoverEpoch: number;
  /** A person asked for it: no majority is needed. */
  isForced: boolean;
  failoverStartedAt: number;
  failoverChangedAt: number;
  promoted: ReplicaInstance | undefined;
}

function instance(ip: string, port: number, now: number): Instance {
  return {
    ip,
    port,
    runId: '',
    availableAt: now,
    answeredAt: now,
    pingedAt: 0,
    // As if pinged: one that cannot be reached at all is found down, too.
    unansweredSince: now,
    isDisconnected: true,
    downSince: undefined,
    lastDownAt: 0,
    helloAt: now,
  };
}

export function newPrimary(ip: string, port: number, now: number): PrimaryInstance {
  return { ...instance(ip, port, now), kind: 'master', infoAt: 0, roleReported: 'master', roleReportedAt: now };
}

export function newReplica(ip: string, port: number, now: number): ReplicaInstance {
  return {
    ...instance(ip, port, now),
    kind: 'slave',
    infoAt: 0,
    roleReported: 'slave',
    roleReportedAt: now,
    reportedSource: '',
    reportedSourceAt: now,
    linkStatus: 'down',
    linkDownMs: 0,
    priority: 100,
    offset: 0,
    reconfiguration: 'none',
    reconfiguredAt: 0,
  };
}

export function newPeer(ip: string, port: number, runId: string, now: number): PeerInstance {
  return {
    ...instance(ip, port, now),
    kind: 'sentinel',
    runId,
    saysDown: false,
    saidAt: 0,
    votedFor: '',
    votedEpoch: 0,
    askedAt: 0,
  };
}

export function newWatch(name: string, primary: PrimaryInstance, settings: WatchSettings): Watch {
  return {
    name,
    settings,
    primary,
    replicas: new Map(),
    peers: new Map(),
    configEpoch: 0,
    leader: '',
    leaderEpoch: 0,
    objectivelyDownSince: undefined,
    failover: 'none',
    failoverEpoch: 0,
    isForced: false,
    failoverStartedAt: 0,
    failoverChangedAt: 0,
    promoted: undefined,
  };
}

/** Forgets what is known of the primary at `address`, and who replicates from it. */
export function resetWatch(watch: Watch, ip: string, port: number, now: number): void {
  watch.primary = newPrimary(ip, port, now);
  watch.replicas.clear();
  watch.leader = '';
  watch.objectivelyDownSince = undefined;
  // The next one may begin at once.
  watch.failoverStartedAt = 0;
  endFailover(watch);
}

export function endFailover(watch: Watch): void {
  watch.failover = 'none';
  watch.isForced = false;
  watch.promoted = undefined;
  for (const replica of watch.replicas.values()) replica.reconfiguration = 'none';
}

/** Where clients are sent: to the promoted replica as soon as it has taken over. */
export function currentPrimary(watch: Watch): { readonly ip: string; readonly port: number } {
  const hasTakenOver = watch.failover === 'reconf_slaves' || watch.failover === 'update_config';
  return hasTakenOver && watch.promoted !== undefined ? watch.promoted : watch.primary;
}

export function* instancesOf(watch: Watch): Generator<AnyInstance> {
  yield watch.primary;
  yield* watch.replicas.values();
  yield* watch.peers.values();
}
