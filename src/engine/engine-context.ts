/** The world as an engine sees it: connections, Secrets, time. The runtime gives the real one, a test one of its own. */
import type { Duplex } from 'node:stream';
import type { KubeObject } from '../api/object.ts';

/** What a TLS connection to a database process is made with: PEM texts. */
export interface TlsMaterial {
  readonly ca: string;
  /** With `key`: what this side shows of itself. */
  readonly cert?: string;
  readonly key?: string;
  /** The name that the certificate must be for, where it is not the host that is dialled. */
  readonly servername?: string;
  /** The certificate may be for any name. Its CA is checked. */
  readonly anyName?: boolean;
}

/** One request to a database process that speaks HTTP/1.1, on a connection of its own. */
export interface HttpRequest {
  readonly host: string;
  readonly port: number;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Absolute and encoded, without query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly tls?: TlsMaterial;
  /** Only the lines of the answer that match are kept; then up to 1 MiB of it is read. */
  readonly lines?: RegExp;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly body: string;
}

/** A PersistentVolumeClaim of the cluster's namespace as the API server has it now. */
export interface ClaimUse {
  readonly claim: KubeObject;
  /** Pods that mount it and have not ended. */
  readonly pods: readonly KubeObject[];
  /** All StatefulSets of the namespace. */
  readonly sets: readonly KubeObject[];
}

/** Who has to have made a Secret: the operator, for whichever cluster, or for the one of this name. */
export type SecretOwner = 'ours' | { readonly of: string };

/** What an engine may touch outside of its arguments. */
export interface EngineContext {
  /**
   * Opens a connection to a database process. Rejects when the peer refuses, and when the given signal or `signal` below
   * aborts first.
   */
  dial(host: string, port: number, signal: AbortSignal): Promise<Duplex>;
  /**
   * One HTTP exchange over a connection from `dial`. Rejects when the signal aborts, the connection ends early, or the
   * answer is longer than 64 KiB, or 1 MiB where lines are picked from it; any status resolves.
   */
  exchange(request: HttpRequest): Promise<HttpResponse>;
  /**
   * The decoded values of a Secret in the cluster's namespace; undefined where there is none. Never cached to disk. With `whose`,
   * that of somebody else has no values. `told`: what another object says of it now; values that were read before it said so are
   * not taken.
   */
  secret(name: string, whose?: SecretOwner, told?: string): Promise<Readonly<Record<string, string>> | undefined>;
  /**
   * Its values as they are now, for what cannot be taken back. Rejects where they cannot be read; what was known of it is used elsewhere all the
   * same.
   */
  secretNow(name: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** The database refused what that Secret says: it is read anew before it is used again. */
  secretRefused(name: string): void;
  /**
   * Nobody refused what that Secret says, but somebody may have edited it: values that were read longer ago than this are read anew. They are
   * used for as long as that fails.
   */
  secretOutdated(name: string, olderThanMs: number): void;
  /** A PersistentVolumeClaim of the cluster's namespace with who uses it, asked anew; undefined where there is none. */
  claim(name: string): Promise<ClaimUse | undefined>;
  /** A ServiceAccount of the cluster's namespace, asked anew; undefined where there is none. */
  serviceAccount(name: string): Promise<KubeObject | undefined>;
  /** Aborts when the process loses its lease or stops. */
  readonly signal: AbortSignal;
  /**
   * Puts TLS on a connection that is open, for a protocol that agrees on it there. Absent: as Node does it. A simulation has no TLS, and a
   * recording keeps what is said within.
   */
  secure?(stream: Duplex, host: string, tls: TlsMaterial, signal: AbortSignal): Promise<Duplex>;
  /**
   * Printable text without a comma, that no login uses twice. `login`: whose, and where. Absent: at random. A recording keeps it, since the
   * answers of a server depend on it.
   */
  nonce?(login: string): string;
  /** The label selector of the resources that this operator serves; absent where it serves all. */
  readonly resourceSelector?: string;
  /** Wall time in milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects when this signal or the given one aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
