/** What the source of an import says of itself, and a node of its copy. Both are read from foreign text: bounded, and nothing of it is trusted. */
import { shortened } from '../../../api/bounds.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { infoFields, pairs } from '../client/reply-fields.ts';
import { RedisError } from '../client/resp.ts';
import { loginDigest, type SourceLogin, SourceSecretUnusable, sourceLogin, withSource } from '../client/source.ts';
import { type Server, serverIn } from '../kind/server.ts';
import type { ImportSource } from '../kind/source.ts';

/** A server of which the other one has a copy, or is to have. */
export interface ServerFacts {
  readonly server?: Server;
  readonly runId: string;
  /** Of the stream of writes in which offsets count. */
  readonly replid: string;
  readonly modules: readonly string[];
  /** How many it has; undefined where it does not tell. */
  readonly databases?: number;
}

export interface SourceFacts extends ServerFacts {
  readonly role: 'primary' | 'replica';
  readonly isCluster: boolean;
  readonly isLoading: boolean;
  readonly offset: number;
  readonly usedMemory: number;
  readonly keys: number;
  /** The highest database that has a key; -1 where none has. */
  readonly highestDatabase: number;
}

export type SourceSeen =
  | { readonly state: 'answering'; readonly facts: SourceFacts }
  /** `isRefusal`: it answers, and lets nobody in. */
  | { readonly state: 'silent'; readonly why: string; readonly isRefusal?: true }
  /** The Secret with its password is of no use. */
  | { readonly state: 'unusable'; readonly why: string };

/** What a node says of the copy that it makes. */
export interface ImportSeen extends ServerFacts {
  /** It is hidden from sentinels, as the operator has told it: it copies for an import. */
  readonly isTold: boolean;
  /** It logs in to the source with what the Secret says. */
  readonly hasLogin: boolean;
  readonly host: string;
  readonly port: number;
  /** It has had its link since it was told, and so has a whole copy unless another is under way. */
  readonly wasLinked: boolean;
  readonly isSyncing: boolean;
  /** Bytes of the copy that is under way. */
  readonly copied?: number;
  readonly total?: number;
}

type Fields = Readonly<Record<string, string>>;

const mostModules = 64;

function serverFacts(text: string, fields: Fields, databases: string | undefined): ServerFacts {
  const server = serverIn((field) => fields[field]);
  const modules = [...text.matchAll(/^module:name=([^,\r\n]{1,64})/gm)].slice(0, mostModules);
  return {
    ...(server === undefined ? {} : { server: { ...server, version: shortened(server.version, 32) } }),
    runId: fields.run_id ?? '',
    replid: fields.master_replid ?? '',
    modules: modules.map(([, name = '']) => name),
    ...(databases === undefined ? {} : { databases: count(databases) }),
  };
}

const count = (text: string | undefined): number => (/^\d{1,15}$/.test(text ?? '') ? Number(text) : 0);

export function sourceFacts(text: string, databases: string | undefined): SourceFacts {
  const fields = infoFields(text);
  const used = Object.entries(fields).flatMap(([name, value]) => {
    const [, number] = /^db(\d{1,9})$/.exec(name) ?? [];
    const [, keys] = /^keys=(\d{1,15})/.exec(value) ?? [];
    return number === undefined ? [] : [{ database: Number(number), keys: count(keys) }];
  });
  return {
    ...serverFacts(text, fields, databases),
    role: fields.role === 'master' ? 'primary' : 'replica',
    isCluster: fields.cluster_enabled === '1' || fields.redis_mode === 'cluster',
    isLoading: fields.loading === '1',
    offset: count(fields.master_repl_offset),
    usedMemory: count(fields.used_memory),
    keys: used.reduce((sum, { keys }) => sum + keys, 0),
    highestDatabase: Math.max(-1, ...used.map(({ database }) => database)),
  };
}

/** @param config of the node: whom it logs in as, and how many databases it has */
export function importSeen(text: string, fields: Fields, config: Fields, login: SourceLogin | undefined): ImportSeen {
  const { masteruser = '', masterauth = '', databases } = config;
  const sizes = { copied: fields.master_sync_read_bytes, total: fields.master_sync_total_bytes };
  return {
    ...serverFacts(text, fields, databases),
    isTold: fields.role === 'slave' && fields.replica_announced === '0',
    hasLogin: login !== undefined && loginDigest({ user: masteruser, password: masterauth }) === loginDigest(login),
    host: fields.master_host ?? '',
    port: count(fields.master_port),
    wasLinked: fields.master_link_status === 'up' || /^\d+$/.test(fields.master_link_down_since_seconds ?? ''),
    isSyncing: fields.master_sync_in_progress === '1',
    ...(fields.master_sync_in_progress === '1'
      ? Object.fromEntries(Object.entries(sizes).map(([name, value]) => [name, count(value)]))
      : {}),
  };
}

export interface ObservedSource {
  readonly seen: SourceSeen;
  readonly login?: SourceLogin;
}

/** `login` is for comparison with what a node has; it is in nothing that is kept. */
export async function observeSource(source: ImportSource, io: EngineContext): Promise<ObservedSource> {
  let login: SourceLogin;
  try {
    login = await sourceLogin(source, io);
  } catch (error) {
    io.signal.throwIfAborted();
    if (!(error instanceof SourceSecretUnusable)) throw error;
    return { seen: { state: 'unusable', why: error.message } };
  }
  try {
    const facts = await withSource(io, source, login, async (talk) => {
      const text = String(await talk.command('INFO'));
      return sourceFacts(text, await databasesOf(talk));
    });
    return { seen: { state: 'answering', facts }, login };
  } catch (error) {
    io.signal.throwIfAborted();
    const isRefusal = error instanceof RedisError;
    // Secrets are not watched: it is read anew before long.
    if (isRefusal && source.password !== undefined) io.secretRefused(source.password.name);
    const why = shortened((error as Error).message, 200);
    return { seen: { state: 'silent', why, ...(isRefusal ? { isRefusal } : {}) }, login };
  }
}

/** A user of the source may be refused that. */
async function databasesOf(talk: {
  command(...args: readonly string[]): Promise<unknown>;
}): Promise<string | undefined> {
  try {
    return pairs((await talk.command('CONFIG', 'GET', 'databases')) as Parameters<typeof pairs>[0]).databases;
  } catch (error) {
    if (error instanceof RedisError) return undefined;
    throw error;
  }
}
