/**
 * Who may log in to a simulated server: the default user, whose password is `requirepass` unless its rule says otherwise, users who may do
 * everything, and users of less (`acl-user.ts`). The latter are lost with the process.
 * Of the rules of the default user there is the one that confines it, without its channels: nobody here says hello by a name. Passwords that
 * nobody has hashed are not simulated.
 */
import { createHash } from 'node:crypto';
import type { Reply } from '../../../src/engines/redis/client/resp.ts';
import { clientRule, sentinelClientRule } from '../../../src/engines/redis/resources/client-rule.ts';
import { adminCommandNames, nameOf, shapeOf } from './acl-commands.ts';
import { type AclUser, changedUser, type Denied, deniedTo, shownUser } from './acl-user.ts';
import { type Client, errorReply } from './client.ts';

export type Hashes = ReadonlyMap<string, string>;

const hashOf = (password: string): string => createHash('sha256').update(password).digest('hex');

/** Of `user NAME on #HASH ~* &* +@all`, with `reset` or without. */
export function userOf([name = '', ...rules]: readonly string[]): readonly [name: string, hash: string] | undefined {
  const hash = rules.find((rule) => /^#[0-9a-f]{64}$/.test(rule))?.slice(1);
  const others = rules.filter((rule) => !rule.startsWith('#') && rule !== 'reset').join(' ');
  return hash === undefined || others !== 'on ~* &* +@all' || name === '' ? undefined : [name, hash];
}

/** The hashes of `user default on #HASH #HASH ~* &* +@all`; undefined of any other user. */
export function defaultRuleOf([name, ...rules]: readonly string[]): readonly string[] | undefined {
  const hashes = rules.flatMap((rule) => (/^#[0-9a-f]{64}$/.test(rule) ? [rule.slice(1)] : []));
  const others = rules.filter((rule) => !rule.startsWith('#')).join(' ');
  return name === 'default' && hashes.length > 0 && others === 'on ~* &* +@all' ? hashes : undefined;
}

/** What the default user may not do, once it is confined. */
const confined: ReadonlySet<string> = new Set(['REPLICAOF', 'SLAVEOF', 'FAILOVER']);

type Named = Pick<Denied, 'name'>;

/** In the words of Redis 7.0. */
const refusals: Readonly<Record<Denied['by'], (denied: Named) => string>> = {
  command: ({ name }) => `this user has no permissions to run the '${name}' command`,
  key: () => 'this user has no permissions to access one of the keys used as arguments',
  channel: () => 'this user has no permissions to access one of the channels used as arguments',
};

/** Of ACL DRYRUN. */
const foretold: typeof refusals = {
  command: ({ name }) => `This user has no permissions to run the '${name}' command`,
  key: ({ name }) => `This user has no permissions to access the '${name}' key`,
  channel: ({ name }) => `This user has no permissions to access the '${name}' channel`,
};

export class Users {
  #isConfined = false;
  readonly #hashes: Map<string, string>;
  /** Of the default user; empty where it needs none. */
  readonly #password: () => string;
  /** Of the default user, in the place of its password. */
  #accepted: readonly string[] | undefined;
  readonly #isFromFile: boolean;
  readonly #named = new Map<string, AclUser>();
  /** Ends the connections of a user who was removed. */
  readonly #dismiss: (name: string) => void;

  constructor(
    hashes: Hashes,
    password: () => string,
    accepted?: readonly string[],
    dismiss: (name: string) => void = () => undefined,
  ) {
    this.#dismiss = dismiss;
    this.#hashes = new Map(hashes);
    this.#password = password;
    this.#accepted = accepted;
    this.#isFromFile = accepted !== undefined;
  }

  get all(): Hashes {
    return this.#hashes;
  }

  /** Users of less. */
  get named(): ReadonlyMap<string, AclUser> {
    return this.#named;
  }

  /** Hashes of the default user, in the order in which it was told of them. */
  get accepted(): readonly string[] {
    return this.#accepted ?? (this.#password() === '' ? [] : [hashOf(this.#password())]);
  }

  get isOpen(): boolean {
    return this.accepted.length === 0;
  }

  /** Whether it lets them in. An empty name is that of the default user. */
  takes(name: string, password: string): boolean {
    if (name === '' || name === 'default') return this.isOpen || this.accepted.includes(hashOf(password));
    const user = this.#named.get(name);
    if (user !== undefined) return user.isOn && user.hashes.includes(hashOf(password));
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

  /** Why this user may not say the command. An empty name is that of the default user. */
  refusal(name: string, args: readonly string[]): string | undefined {
    const user = this.#named.get(name);
    const denied = user === undefined ? undefined : deniedTo(user, args);
    if (denied !== undefined) return `NOPERM ${refusals[denied.by](denied)}`;
    const [command = ''] = args;
    if (!this.#isConfined || !(name === '' || name === 'default') || !confined.has(command.toUpperCase()))
      return undefined;
    return `NOPERM ${refusals.command({ name: command.toLowerCase() })}`;
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
        if (args[0] === 'default') return this.#accept(args.slice(1));
        return this.#set(args);
      }
      case 'DELUSER':
        return this.#delete(args);
      case 'USERS':
        return ['default', ...this.#hashes.keys(), ...this.#named.keys()].sort();
      case 'DRYRUN':
        return this.#dryRun(args);
      case 'CAT':
        return args[0] === 'admin' ? adminCommandNames : errorReply(`ERR Unknown category '${args[0]}'`);
      case 'GETUSER':
        return this.#shown(args[0] ?? '');
      default:
        return errorReply(`ERR unknown subcommand '${verb}'. Try ACL HELP.`);
    }
  }

  #set(args: readonly string[]): Reply {
    const [name = '', ...words] = args;
    const mighty = userOf(args);
    if (mighty !== undefined) {
      this.#named.delete(name);
      this.#hashes.set(...mighty);
      return 'OK';
    }
    if (this.#hashes.has(name)) return errorReply('ERR the simulation has no such user');
    const user = changedUser(this.#named.get(name), words);
    if ('refused' in user) return errorReply(user.refused);
    this.#named.set(name, user);
    return 'OK';
  }

  #delete(names: readonly string[]): Reply {
    if (names.includes('default')) return errorReply("ERR The 'default' user cannot be removed");
    const found = names.filter((name) => this.#named.delete(name) || this.#hashes.delete(name));
    for (const name of found) this.#dismiss(name);
    return found.length;
  }

  #dryRun([name = '', ...args]: readonly string[]): Reply {
    const user = this.#named.get(name);
    if (user === undefined) return errorReply(`ERR User '${name}' not found`);
    const command = nameOf(args);
    const words = shapeOf(command)?.words;
    if (words === undefined) return errorReply(`ERR Command '${args[0]}' not found`);
    if (words > 0 ? args.length !== words : args.length < -words) {
      return errorReply(`ERR wrong number of arguments for '${command}' command`);
    }
    const denied = deniedTo(user, args);
    return denied === undefined ? 'OK' : foretold[denied.by](denied);
  }

  /** Rules of the default user that are about its passwords. */
  #accept(rules: readonly string[]): Reply {
    let hashes = this.accepted;
    for (const rule of rules) {
      const hash = /^[#!]([0-9a-f]{64})$/.exec(rule)?.[1];
      if (rule === 'resetpass') hashes = [];
      else if (hash === undefined) return errorReply('ERR the simulation has no such user');
      else if (rule.startsWith('#')) hashes = hashes.includes(hash) ? hashes : [...hashes, hash];
      else if (hashes.includes(hash)) hashes = hashes.filter((other) => other !== hash);
      else {
        return errorReply(
          `ERR Error in ACL SETUSER modifier '${rule}': The password you are trying to remove from the user does not exist`,
        );
      }
    }
    // One without a password lets nobody in, and is not simulated.
    if (hashes.length === 0) return errorReply('ERR the simulation has no such user');
    this.#accepted = hashes;
    return 'OK';
  }

  #shown(name: string): Reply {
    const user = this.#named.get(name);
    if (user !== undefined) return shownUser(user);
    const isDefault = name === 'default';
    const hash = this.#hashes.get(name);
    if (hash === undefined && !isDefault) return null;
    const hashes = hash === undefined ? this.accepted : [hash];
    const isOpen = isDefault && this.isOpen;
    const isPlain = isDefault && !this.#isFromFile;
    const flags = isOpen ? ['on', 'nopass'] : isPlain ? ['on'] : ['on', 'sanitize-payload'];
    return [
      ...['flags', flags, 'passwords', isOpen ? [] : hashes],
      ...['commands', '+@all', 'keys', '~*', 'channels', '&*', 'selectors', []],
    ];
  }
}
