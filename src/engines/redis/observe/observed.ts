/**
 * What the processes of a cluster say about themselves. A process that does not answer is a value of its own: silence
 * is never read as an empty answer.
 */
import type { Formers } from '../action.ts';
import type { MemberFinding } from '../client/findings.ts';
import type { CertificatesSeen } from './certificates.ts';
import type { ImportSeen, SourceSeen } from './source.ts';

export interface SilentNode {
  readonly state: 'silent';
  readonly pod: string;
  /** Absent while the pod has no address. */
  readonly address?: string;
  readonly why: string;
  /** It answers, and takes neither the identity nor the password: in its own words. */
  readonly refusal?: string;
}

/**
 * What a process has yet to be told: who the cluster is (of a sentinel: and to log in to the nodes as that), to copy from
 * its primary as the cluster, to log in to the other sentinels as the cluster, a password that the Secret names.
 */
export type Lack = 'identity' | 'replication' | 'peers' | 'password';

/** As `shell/volume.sh` keeps it. */
export interface VolumeTerm {
  readonly number: number;
  readonly wasPrimary: boolean;
}

/** Users of a data node, by name. */
export interface KnownUsers {
  /** Not as the spec wants them, or not there. */
  readonly due: readonly string[];
  /** Of these, those that somebody else has made. */
  readonly byHand: readonly string[];
  /** Set by the operator, and not in the spec any more. */
  readonly former: readonly string[];
}

/** Where nobody could ask, there are neither some nor none. */
export type NodeUsers = KnownUsers | { readonly unknown: string };

/** What a server says of TLS. */
export interface ServerTls {
  /** 0: it does not accept TLS. */
  readonly port: number;
  /** Of the certificate and the CAs that it has read: see `shell/tls.sh`. Absent where it has read none, or other files. */
  readonly digest?: string;
  /** Of what its pod has for it. Absent where the pod has none, or has not said so. */
  readonly staged?: string;
}

/** Seen in a handshake. `why`: there was none that the CAs of the cluster vouch for. */
export type ShownCertificate = { readonly fingerprint: string } | { readonly why: string };

/** Number of clients. `unknown`: why nobody could count them. */
export type PortPeers = { readonly connected: number } | { readonly unknown: string };

export interface DataNode {
  readonly state: 'answering';
  readonly pod: string;
  readonly address: string;
  readonly version: string;
  readonly role: 'primary' | 'replica';
  /** Whom a replica follows; undefined while it is assigned to nobody. */
  readonly follows?: string;
  readonly linkUp: boolean;
  /** It received a copy of its primary's dataset and could not load it: it holds nothing now, and tries again for ever. */
  readonly copyRefused: boolean;
  /** Its link has been down for longer than a failover takes: what it has is old. */
  readonly isStale: boolean;
  /** Bytes of the replication stream that this node has. */
  readonly offset: number;
  /** Addresses of the replicas that are in sync, as the node itself counts them. */
  readonly replicas: readonly string[];
  /** How often it has begun to send its whole dataset to a replica since it started. */
  readonly fullSyncs: number;
  /**
   * Whether Sentinel may elect it. A node may not that was started on a blank volume, or on one that does not hold its whole
   * dataset, until it has copied that and written it down.
   */
  readonly failoverEligible: boolean;
  /** Sentinel elects it rather than another one that has as much. */
  readonly preferred?: true;
  /** The append-only file may not hold its dataset: it is off, or is written anew. */
  readonly unwritten?: true;
  /** The term on its volume: its last time as primary, or the one of the primary that it followed. */
  readonly term?: VolumeTerm;
  /** Its pod asks sentinels when it starts again. Absent where that is not known. */
  readonly asksSentinels?: boolean;
  /** No key in any database. */
  readonly empty: boolean;
  readonly settings: Readonly<Record<string, string>>;
  /** Bytes, as the server counts them: data and buffers. */
  readonly usedMemory: number;
  /** What keeps it from persisting, replicating or taking writes. */
  readonly findings: readonly MemberFinding[];
  /** Absent where nothing is. */
  readonly lacks?: readonly Lack[];
  readonly formers?: Formers;
  /** Only where the cluster begins with a copy from elsewhere, and has yet to. */
  readonly imports?: ImportSeen;
  readonly users?: NodeUsers;
  /** Absent where the server was built without TLS. */
  readonly tls?: ServerTls;
  /** Absent where nobody has looked. */
  readonly shown?: ShownCertificate;
  /** Who is connected to a port that is to be closed. Absent where none is. */
  readonly peers?: PortPeers;
}

export interface SentinelNode {
  readonly state: 'answering';
  readonly pod: string;
  readonly address: string;
  readonly lacks?: readonly Lack[];
  readonly formers?: Formers;
  readonly view?: SentinelView;
}

/** What a sentinel knows of a replica. */
export interface KnownReplica {
  readonly address: string;
  readonly priority: number;
  readonly down: boolean;
  /** For how long it has been without its primary, as far as it tells. */
  readonly unlinkedMs?: number;
  /** It has told the sentinel nothing of itself yet: its priority is Sentinel's guess. */
  readonly unheard?: true;
}

/** A sentinel's view of the cluster. */
export interface SentinelView {
  readonly primary: string;
  /** Grows with every change of primary: of two views, the one with the higher epoch is newer. */
  readonly epoch: number;
  readonly primaryDown: boolean;
  /** It knows who the primary is and had an answer to its last ping: it does not want another, and is not about to. */
  readonly seesPrimary: boolean;
  /**
   * False while the primary answers it and it has not learned who that is: the password is missing. Of a primary that
   * does not answer, nothing can be told.
   */
  readonly authenticated: boolean;
  readonly failingOver: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly replicas: readonly KnownReplica[];
  readonly peers: readonly { readonly address: string; readonly down: boolean }[];
}

/** `N`: in mode Cluster, nodes tell more. */
export interface RedisObserved<N extends DataNode = DataNode> {
  readonly data: readonly (N | SilentNode)[];
  readonly sentinels: readonly (SentinelNode | SilentNode)[];
  /** Why nobody could be asked at all: neither identity nor password is there. */
  readonly credentialsProblem?: string;
  /** Why there is no password, where the identity could be asked with. */
  readonly passwordMissing?: string;
  /** Why users of the spec are set nowhere. Absent where there are none. */
  readonly userProblems?: readonly string[];
  /** How many passwords for clients the Secret names. Absent where nobody has read it. */
  readonly namedPasswords?: number;
  /** Which passwords the Secret names that no server is told, and why. */
  readonly unusablePassword?: string;
  /** One of these is named beside that with which pods start. */
  readonly hasUnusableOther?: true;
  /** Wall time of the observation. */
  readonly at?: number;
  /** Whether workloads can be bound by the Secret with the password. Absent where nobody has read it. */
  readonly isBindable?: boolean;
  /** Why the cluster has no identity: see `identity.ts`. */
  readonly identity?: 'missing' | 'unusable';
  /** Of an import that has not ended. */
  readonly source?: SourceSeen;
  /** Where the spec asks for TLS, or did, and a server may still accept it. */
  readonly certificates?: CertificatesSeen;
}

export const nothingObserved: RedisObserved<never> = { data: [], sentinels: [] };

export function hasAll(node: { readonly lacks?: readonly Lack[] }, what: Lack): boolean {
  return node.lacks?.includes(what) !== true;
}

export function answering<N extends { readonly state: 'answering' }>(nodes: readonly (N | SilentNode)[]): N[] {
  return nodes.filter((node): node is N => node.state === 'answering');
}
