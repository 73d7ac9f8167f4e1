/**
 * The servers that a RedisCluster runs, and the one table of who reads whose files: which `engine` may follow which in
 * place, and which backup a new cluster can be filled from.
 *
 * What decides is the version of the RDB format. An append-only file begins with it, and so does each copy that a primary
 * sends. Up to 11 it is common to both. From 12 on Redis has its own, and from 80 on Valkey: each refuses the other's.
 */

export const serverEngines = ['Redis', 'Valkey'] as const;
export type ServerEngine = (typeof serverEngines)[number];

export interface Server {
  readonly engine: ServerEngine;
  /** MAJOR.MINOR, and whatever follows. */
  readonly version: string;
}

interface Release {
  /** Before `-server` and `-cli` in the names of its programs. */
  readonly program: 'redis' | 'valkey';
  /** Its images, without a tag. */
  readonly repository: string;
  /** As a regular expression. */
  readonly versions: string;
  /** The same in words. */
  readonly supported: string;
  /** The RDB format that it writes from a version on, the newest first. */
  readonly formats: readonly (readonly [since: string, format: number])[];
}

export const releases: Readonly<Record<ServerEngine, Release>> = {
  Redis: {
    program: 'redis',
    repository: 'docker.io/library/redis',
    versions: '[78][.](0|[1-9][0-9]?)',
    supported: '7 and 8',
    formats: [
      ['7.4', 12],
      ['7.2', 11],
      ['7.0', 10],
    ],
  },
  Valkey: {
    program: 'valkey',
    repository: 'docker.io/valkey/valkey',
    versions: '(7[.]2|[89][.](0|[1-9][0-9]?))',
    supported: '7.2, 8 and 9',
    formats: [
      ['9.0', 80],
      ['7.2', 11],
    ],
  },
};

/** The last one that both read. */
const lastCommonFormat = 11;

/** The first version whose files the other engine does not read. */
export function firstOfItsOwn(engine: ServerEngine): string {
  const own = releases[engine].formats.filter(([, format]) => format > lastCommonFormat);
  return own.at(-1)?.[0] ?? '';
}

/** `7.2` is at least `7.0`. Versions are `major.minor`; what comes after that does not count. */
export function atLeast(version: string, since: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [sinceMajor = 0, sinceMinor = 0] = since.split('.').map(Number);
  return major > sinceMajor || (major === sinceMajor && minor >= sinceMinor);
}

function formatOf({ engine, version }: Server): number | undefined {
  return releases[engine].formats.find(([since]) => atLeast(version, since))?.[1];
}

/** Whether one can read what the other has written: of its own engine, whatever is no later. */
export function canRead(reader: Server, writer: Server): boolean {
  if (reader.engine === writer.engine) return atLeast(reader.version, writer.version);
  const [own, written] = [formatOf(reader), formatOf(writer)];
  return own !== undefined && written !== undefined && written <= Math.min(own, lastCommonFormat);
}

/** `Valkey 8.1.1`; of Redis the number alone, as it always was in manifests and results. */
export function serverText({ engine, version }: Server): string {
  return engine === 'Redis' ? version : `${engine} ${version}`;
}

export function parseServer(text: string): Server {
  const engine = serverEngines.find((name) => text.startsWith(`${name} `));
  return engine === undefined ? { engine: 'Redis', version: text } : { engine, version: text.slice(engine.length + 1) };
}

/** What a server says of itself in `INFO`. Valkey names a version of Redis as well, for clients that know no other. */
export function serverIn(info: (field: string) => string | undefined): Server | undefined {
  const valkey = info('valkey_version');
  if (valkey !== undefined) return { engine: 'Valkey', version: valkey };
  const redis = info('redis_version');
  return redis === undefined ? undefined : { engine: 'Redis', version: redis };
}
