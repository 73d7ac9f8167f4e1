/**
 * Who we are to the API server, and how we know that it is the API server.
 *
 * An identity is asked for before every request, because tokens and certificates rotate under a running process. It is
 * a value: two equal identities may share connections, and a request refused with 401 is worth repeating only if the
 * next identity differs.
 */
import type { Clock } from '../system/clock.ts';
import type { Tunnel } from './proxy-tunnel.ts';

export interface Tls {
  /** PEM. Without it the platform's own roots are trusted. */
  readonly ca?: string;
  /** PEM of the client certificate chain, and its key. */
  readonly cert?: string;
  readonly key?: string;
  /** Name to verify instead of the URL's host. */
  readonly servername?: string;
  /** Skips the verification of the server's certificate altogether. */
  readonly insecure?: boolean;
}

export interface Identity {
  readonly tls: Tls;
  /** Value of the `authorization` header. */
  readonly authorization?: string;
  /** Headers of Kubernetes' user impersonation. The API server checks that the authenticated user may impersonate. */
  readonly impersonation?: Impersonation;
}

export type Impersonation = Readonly<Record<string, string | string[]>>;

export interface Credentials {
  /** URL of the API server, with its path prefix if it has one, without a trailing slash. */
  readonly server: string;
  /** How connections to the server are opened. Absent: directly. */
  readonly tunnel?: Tunnel;
  /** Cheap enough to call before every request. Throws `CredentialsError`. */
  identity(): Promise<Identity>;
  /** The server said 401: the next identity must be read anew from its source. */
  invalidate(): void;
}

/** Credentials that cannot be had: `place` is a file, a path inside a file, or a command. */
export class CredentialsError extends Error {
  readonly code = 'CredentialsError';
  readonly place: string;

  constructor(place: string, problem: string, options?: ErrorOptions) {
    super(`${place}: ${problem}`, options);
    this.name = 'CredentialsError';
    this.place = place;
  }
}

export function sameIdentity(a: Identity, b: Identity): boolean {
  const [one, other] = [a, b].map((identity) => JSON.stringify(identityHeaders(identity)));
  return one === other && sameTls(a.tls, b.tls);
}

export function identityHeaders({ authorization, impersonation }: Identity): Record<string, string | string[]> {
  return { ...(authorization === undefined ? {} : { authorization }), ...impersonation };
}

export function sameTls(a: Tls, b: Tls): boolean {
  return (
    a.ca === b.ca &&
    a.cert === b.cert &&
    a.key === b.key &&
    a.servername === b.servername &&
    (a.insecure ?? false) === (b.insecure ?? false)
  );
}

/** An identity that never changes: for tests and for kubeconfigs with inline data only. */
export function fixedCredentials(server: string, identity: Identity): Credentials {
  return { server, identity: () => Promise.resolve(identity), invalidate: () => undefined };
}

/** A text that lives in a file and may be replaced there at any time. */
export interface FileText {
  read(): Promise<string>;
  /** Forces the next `read` to look at the file. */
  invalidate(): void;
}

/** The two file operations needed, so that a test can rotate a token without a disk. */
export interface FileReader {
  readText(path: string): Promise<string>;
  /** Changes whenever the content may have: modification time and inode, following links. */
  version(path: string): Promise<string>;
}

export const fileReader: FileReader = {
  async readText(path) {
    const { readFile } = await import('node:fs/promises');
    return readFile(path, 'utf8');
  },
  async version(path) {
    const { stat } = await import('node:fs/promises');
    const { mtimeMs, ino, size } = await stat(path);
    return `${mtimeMs}/${ino}/${size}`;
  },
};

/**
 * Reads a file again when it changed, looking at most once per `checkEveryMs` (default 1 s: a kubelet replaces a token
 * minutes before the old one expires). A file that cannot be read any more answers with its last content, because a
 * rotation in progress must not cut a working client off; after `invalidate`, and at first, it throws `CredentialsError`.
 */
export function fileText(path: string, clock: Clock, files: FileReader = fileReader, checkEveryMs = 1000): FileText {
  let content: string | undefined;
  let version: string | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;

  return {
    async read() {
      if (content !== undefined && clock.monotonic() - checkedAt < checkEveryMs) return content;
      checkedAt = clock.monotonic();
      try {
        const found = await files.version(path);
        if (content === undefined || found !== version) {
          content = await files.readText(path);
          version = found;
        }
        return content;
      } catch (cause) {
        if (content !== undefined && version !== undefined) return content;
        throw new CredentialsError(path, `cannot be read: ${cause instanceof Error ? cause.message : cause}`, {
          cause,
        });
      }
    },
    invalidate() {
      checkedAt = Number.NEGATIVE_INFINITY;
      version = undefined;
    },
  };
}
