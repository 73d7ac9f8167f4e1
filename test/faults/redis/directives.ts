/**
 * The configuration of a simulated data node: redis.conf as the server reads it, CONFIG GET and CONFIG SET with the
 * server's own refusals. Types and ranges of what users may set are those of the table of directives.
 */

import type { StructuralSchema } from '../../../src/api/schema.ts';
import { type Directive, isKnown, redisDirectives } from '../../../src/engines/redis/kind/directives.ts';
import { defaultRuleOf, type Hashes, userOf } from './users.ts';

/** What the engine sets beside the users' directives, or a harness wants to, with the server's defaults. */
const own: Readonly<Record<string, string>> = {
  port: '6379',
  bind: '* -::*',
  'protected-mode': 'yes',
  dir: '/data',
  appendonly: 'no',
  appenddirname: 'appendonlydir',
  appendfilename: 'appendonly.aof',
  save: '3600 1 300 100 60 10000',
  'aof-use-rdb-preamble': 'yes',
  'repl-diskless-sync': 'yes',
  'repl-diskless-sync-delay': '5',
  'repl-ping-replica-period': '10',
  'rdb-key-save-delay': '0',
  'shutdown-timeout': '10',
  requirepass: '',
  masterauth: '',
  'client-output-buffer-limit': 'normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60',
  masteruser: '',
  'replica-announce-ip': '',
  'replica-priority': '100',
  'propagation-error-behavior': 'ignore',
  'cluster-announce-hostname': '',
  'cluster-announce-port': '0',
  'replica-serve-stale-data': 'yes',
  'replica-read-only': 'yes',
  'repl-backlog-size': '1048576',
  'repl-timeout': '60',
  'min-replicas-to-write': '0',
  'min-replicas-max-lag': '10',
  databases: '16',
};

const immutable: ReadonlySet<string> = new Set([
  'port',
  'databases',
  'io-threads',
  'aof-use-rdb-preamble',
  'appenddirname',
  'appendfilename',
]);

/** Of the engine's own, those that take a number. */
const ownNumbers: ReadonlySet<string> = new Set([
  'replica-priority',
  'repl-diskless-sync-delay',
  'repl-ping-replica-period',
  'shutdown-timeout',
  'cluster-announce-port',
]);

const units: Readonly<Record<string, number>> = { kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

function directiveOf(name: string, version: string): Directive | undefined {
  const directive: Directive | undefined = (redisDirectives as Readonly<Record<string, Directive>>)[name];
  return directive !== undefined && isKnown(directive, { engine: 'Redis', version }) ? directive : undefined;
}

/** Splits a line as the server does: words, or strings in double quotes with a backslash before what is special. */
export function words(line: string): string[] {
  const found = line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g);
  return [...found].map(([, quoted, plain]) => quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
}

export interface Conf {
  readonly settings: ReadonlyMap<string, string>;
  readonly follows?: { readonly host: string; readonly port: number };
  readonly users: Hashes;
  /** Of the default user, where it has a rule. */
  readonly accepted?: readonly string[];
}

/** Undefined where a line keeps the server from starting: a directive that this version does not know. */
export function parseConf(
  text: string,
  version: string,
  include: (path: string) => string | undefined,
): Conf | undefined {
  const settings = new Map<string, string>();
  const users = new Map<string, string>();
  let follows: Conf['follows'];
  let accepted: Conf['accepted'];
  const read = (content: string | undefined): boolean => {
    if (content === undefined) return false;
    return content.split('\n').every((line) => {
      const [name, ...values] = words(line);
      if (name === undefined || name.startsWith('#')) return true;
      if (name === 'include') return read(include(values[0] ?? ''));
      if (name === 'user' && values[0] === 'default') {
        accepted = defaultRuleOf(values);
        if (accepted === undefined) return false;
      } else if (name === 'user') {
        const user = userOf(values);
        if (user === undefined || users.has(user[0])) return false;
        users.set(...user);
      } else if (name === 'replicaof') follows = { host: values[0] ?? '', port: Number(values[1]) };
      else if (name in own || directiveOf(name, version) !== undefined) {
        settings.set(name, canonical(name, values.join(' '), version));
      } else return false;
      return true;
    });
  };
  if (!read(text)) return undefined;
  return {
    ...{ settings, users },
    ...(follows === undefined ? {} : { follows }),
    ...(accepted === undefined ? {} : { accepted }),
  };
}

function canonical(name: string, value: string, version: string): string {
  if (name === 'client-output-buffer-limit') {
    return `normal 0 0 0 ${value.replace(/^replica/, 'slave')} pubsub 33554432 8388608 60`;
  }
  const size = isSize(directiveOf(name, version)?.schema) ? /^(\d+)(kb|mb|gb)$/.exec(value) : null;
  const plain = size === null ? value : String(Number(size[1]) * (units[size[2] ?? ''] ?? 1));
  return name === 'repl-backlog-size' ? String(Math.max(16_384, Number(plain))) : plain;
}

const isSize = (schema: StructuralSchema | undefined): boolean => schema?.pattern?.includes('mb') === true;

/** Why a value is refused, in the server's words; undefined where it is taken. */
function refusal(name: string, value: string, version: string): string | undefined {
  const schema = directiveOf(name, version)?.schema;
  if (schema?.type === 'boolean') return /^(yes|no)$/i.test(value) ? undefined : "argument must be 'yes' or 'no'";
  if (schema?.type === 'integer' || ownNumbers.has(name)) {
    return /^-?\d+$/.test(value) ? undefined : "argument couldn't be parsed into an integer";
  }
  if (schema?.enum !== undefined) {
    return schema.enum.includes(value) ? undefined : 'argument(s) must be one of the following';
  }
  return isSize(schema) && !/^\d+(kb|mb|gb)?$/.test(value) ? 'argument must be a memory value' : undefined;
}

export class Settings {
  readonly #values: Map<string, string>;
  readonly #version: string;
  /** Answers to `get` since the last change. */
  readonly #answers = new Map<string, readonly string[]>();

  constructor(conf: Conf, version: string) {
    this.#values = new Map([...Object.entries(own), ...conf.settings]);
    this.#version = version;
  }

  text(name: string): string {
    return this.#values.get(name) ?? '';
  }

  number(name: string): number {
    return Number(this.#values.get(name) ?? 0);
  }

  flag(name: string): boolean {
    return this.#values.get(name) === 'yes';
  }

  /** Names and values, flat: what the patterns match, each once. The operator asks the same every time. */
  get(patterns: readonly string[]): readonly string[] {
    const question = patterns.join(' ').toLowerCase();
    const known = this.#answers.get(question) ?? this.#find(question.split(' '));
    this.#answers.set(question, known);
    return known;
  }

  #find(patterns: readonly string[]): readonly string[] {
    const found = new Map<string, string>();
    for (const pattern of patterns) {
      const exact = this.#values.get(pattern);
      if (exact !== undefined) found.set(pattern, exact);
      if (!pattern.includes('*')) continue;
      const shape = new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);
      for (const [name, value] of this.#values) if (shape.test(name)) found.set(name, value);
    }
    return [...found].flat();
  }

  /** All or nothing. Returns the error, or undefined where all are set. */
  set(pairs: readonly string[]): string | undefined {
    const wanted = new Map<string, string>();
    for (let i = 0; i < pairs.length; i += 2) {
      const [name = '', value = ''] = [pairs[i]?.toLowerCase(), pairs[i + 1]];
      if (!(name in own) && directiveOf(name, this.#version) === undefined) {
        return `ERR Unknown option or number of arguments for CONFIG SET - '${pairs[i]}'`;
      }
      const why = immutable.has(name)
        ? "can't set immutable config"
        : wanted.has(name)
          ? 'duplicate parameter'
          : refusal(name, value, this.#version);
      if (why !== undefined) return `ERR CONFIG SET failed (possibly related to argument '${name}') - ${why}`;
      wanted.set(name, canonical(name, value, this.#version));
    }
    for (const [name, value] of wanted) this.#values.set(name, value);
    this.#answers.clear();
    return undefined;
  }
}
