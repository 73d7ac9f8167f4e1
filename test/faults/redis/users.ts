/**
 * Who may log in to a simulated server: the default user, whose password is `requirepass`, and users who may do everything.
 * Of rules of less there is the one for the default user, without its channels: nobody here says hello by a name. Passwords that
 * nobody has hashed are not simulated.
 */
import { createHash } from 'node:crypto';
import type { Reply } from '../../../src/engines/redis/client/resp.ts';
import { clientRule, sentinelClientRule } from '../../../src/engines/redis/resources/client-rule.ts';
import { type Client, errorReply } from './client.ts';

export type Hashes = ReadonlyMap<string, string>;

const hashOf = (password: string): string => createHash('sha256').update(password).digest('hex');

/** Of `user NAME on #HASH ~* &* +@all`, with `reset` or without. */
export function userOf([name = '', ...rules]: readonly string[]): readonly [name: string, hash: string] | undefined {
  const hash = rules.find((rule) => /^#[0-9a-f]{64}$/.test(rule))?.slice(1);
  const others = rules.filter((rule) => !rule.startsWith('#') && rule !== 'reset').join(' ');
  return hash === undefined || others !== 'on ~* &* +@all' || name === '' ? undefined : [name, hash];
}

/** What the default user may not do, once it is confined. */
const confined: ReadonlySet<string> = new Set(['REPLICAOF', 'SLAVEOF', 'FAILOVER']);

export class Users {
  #isConfined = false;
  readonly #hashes: Map<string, string>;
  /** Of the default user; empty where it needs none. */
  readonly #password: () => string;

  constructor(hashes: Hashes, password: () => string) {
    this.#hashes = new Map(hashes);
    this.#password = password;
  }

  get all(): Hashes {
    return this.#hashes;
  }

  get isOpen(): boolean {
    return this.#password() === '';
  }

  /** Whether it lets them in. An empty name is that of the default user. */
  takes(name: string, password: string): boolean {
    if (name === '' || name === 'default') return this.isOpen || password === this.#password();
    return this.#hashes.get(name) === hashOf(password);
  }

  /** AUTH. */
  authenticate(args: readonly string[], client: Client): Reply {
    const [given = '', name = ''] = [args.at(-1), args.length === 3 ? args[1] : ''];
    if (this.isOpen && args.length === 2) {
      return errorReply(
        'ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
      );
    }
    if (!this.takes(name, given)) {
      return errorReply('WRONGPASS invalid username-password pair or user is disabled.');
    }
    client.isAuthenticated = true;
    client.user = name === '' ? 'default' : name;
    return 'OK';
  }

  /** Whether this user may say the command. An empty name is that of the default user. */
  mayRun(name: string, command: string): boolean {
    return !(this.#isConfined && (name === '' || name === 'default') && confined.has(command));
  }

  /** ACL. */
  command([verb = '', ...args]: readonly string[]): Reply {
    switch (verb.toUpperCase()) {
      case 'SETUSER': {
        const rule = args.slice(1).join(' ');
        if (args[0] === 'default' && (rule === clientRule.join(' ') || rule === sentinelClientRule)) {
          this.#isConfined = true;
          return 'OK';
        }
        const user = userOf(args);
        if (user === undefined || user[0] === 'default') return errorReply('ERR the simulation has no such user');
        this.#hashes.set(...user);
        return 'OK';
      }
      case 'USERS':
        return ['default', ...this.#hashes.keys()];
      case 'GETUSER':
        return this.#shown(args[0] ?? '');
      default:
        return errorReply(`ERR unknown subcommand '${verb}'. Try ACL HELP.`);
    }
  }

  #shown(name: string): Reply {
    const isDefault = name === 'default';
    const hash = isDefault ? hashOf(this.#password()) : this.#hashes.get(name);
    if (hash === undefined) return null;
    const isOpen = isDefault && this.isOpen;
    const flags = isOpen ? ['on', 'nopass'] : isDefault ? ['on'] : ['on', 'sanitize-payload'];
    return [
      ...['flags', flags, 'passwords', isOpen ? [] : [hash]],
      ...['commands', '+@all', 'keys', '~*', 'channels', '&*', 'selectors', []],
    ];
  }
}
