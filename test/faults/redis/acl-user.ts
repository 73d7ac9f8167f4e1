/**
 * An ACL user of a simulated server: what its rules make of it, what the server tells of it, and what it may do.
 *
 * Simulated are passwords as hashes, patterns of keys and channels, commands by name, the categories @all and @admin, and selectors of
 * these. In which order a server tells the rules, and which of them it puts together, differs between versions: here they are as they were told.
 */
import type { Reply } from '../../../src/engines/redis/client/resp.ts';
import { isAbout, isCommand, nameOf, shapeOf } from './acl-commands.ts';

interface Permissions {
  /** From `+@all` or `-@all` on. */
  readonly commands: readonly string[];
  readonly keys: readonly string[];
  readonly channels: readonly string[];
}

export interface AclUser {
  readonly isOn: boolean;
  readonly hashes: readonly string[];
  readonly root: Permissions;
  readonly selectors: readonly Permissions[];
}

const nothing: Permissions = { commands: ['-@all'], keys: [], channels: [] };
const blank: AclUser = { isOn: false, hashes: [], root: nothing, selectors: [] };

/** A rule that the server refuses. */
export interface Refusal {
  readonly refused: string;
}

const refuse = (word: string, why: string): Refusal => ({
  refused: `ERR Error in ACL SETUSER modifier '${word}': ${why}`,
});

/** ACL SETUSER: all of the words, or none of them. */
export function changedUser(user: AclUser | undefined, words: readonly string[]): AclUser | Refusal {
  let result: AclUser = user ?? blank;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    if (word.startsWith('(')) {
      const end = words.findIndex((part, at) => at >= i && part.endsWith(')'));
      if (end === -1) return { refused: `ERR Unmatched parenthesis in acl selector starting at '${word}'.` };
      const selector = permissionsOf(
        nothing,
        words
          .slice(i, end + 1)
          .join(' ')
          .slice(1, -1)
          .split(' '),
      );
      if ('refused' in selector) return selector;
      result = { ...result, selectors: [...result.selectors, selector] };
      i = end;
      continue;
    }
    const next = withWord(result, word);
    if ('refused' in next) return next;
    result = next;
  }
  return result;
}

function withWord(user: AclUser, word: string): AclUser | Refusal {
  if (word === 'reset') return blank;
  if (word === 'on' || word === 'off') return { ...user, isOn: word === 'on' };
  if (word === 'resetpass') return { ...user, hashes: [] };
  if (word === 'clearselectors') return { ...user, selectors: [] };
  if (word.startsWith('#')) {
    const hash = word.slice(1);
    if (!/^[0-9a-f]{64}$/.test(hash)) {
      return refuse(
        word,
        'The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters',
      );
    }
    return user.hashes.includes(hash) ? user : { ...user, hashes: [...user.hashes, hash] };
  }
  const root = permissionsOf(user.root, [word]);
  return 'refused' in root ? root : { ...user, root };
}

function permissionsOf(before: Permissions, words: readonly string[]): Permissions | Refusal {
  let result = before;
  for (const word of words) {
    const next = withRule(result, word);
    if ('refused' in next) return next;
    result = next;
  }
  return result;
}

function withRule(before: Permissions, word: string): Permissions | Refusal {
  const sign = word[0] ?? '';
  if (word === 'resetkeys') return { ...before, keys: [] };
  if (word === 'resetchannels') return { ...before, channels: [] };
  if (sign === '~') {
    if (!before.keys.includes('~*')) return { ...before, keys: word === '~*' ? ['~*'] : [...before.keys, word] };
    return refuse(
      word,
      "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns",
    );
  }
  if (sign === '&') return { ...before, channels: word === '&*' ? ['&*'] : [...before.channels, word] };
  if (sign !== '+' && sign !== '-') return refuse(word, 'Syntax error');
  const named = word.slice(1).toLowerCase();
  if (named === '@all') return { ...before, commands: [`${sign}@all`] };
  if (named !== '@admin' && !isCommand(named)) return refuse(word, 'Unknown command or category name in ACL');
  const others = before.commands.filter((rule) => rule.slice(1) !== named);
  // What is so anyway is not told.
  return {
    ...before,
    commands: others[0] === `${sign}@all` && others.length === 1 ? others : [...others, sign + named],
  };
}

const described = ({ commands, keys, channels }: Permissions): Reply[] => [
  ...['commands', commands.join(' '), 'keys', keys.join(' '), 'channels', channels.join(' ')],
];

/** ACL GETUSER. */
export const shownUser = ({ isOn, hashes, root, selectors }: AclUser): Reply => [
  ...['flags', [isOn ? 'on' : 'off', 'sanitize-payload'], 'passwords', [...hashes]],
  ...described(root),
  ...['selectors', selectors.map(described)],
];

/** What it is not let to do; the most telling of what its root and its selectors say. */
export type Denied =
  | { readonly by: 'command'; readonly name: string }
  | { readonly by: 'key' | 'channel'; readonly name: string };

const weights = { command: 1, key: 2, channel: 3 } as const;

export function deniedTo({ root, selectors }: AclUser, args: readonly string[]): Denied | undefined {
  const all = [root, ...selectors].map((permissions) => deniedBy(permissions, args));
  const denials = all.filter((denied) => denied !== undefined);
  if (denials.length < all.length) return undefined;
  return denials.reduce((most, denied) => (weights[denied.by] > weights[most.by] ? denied : most));
}

function deniedBy({ commands, keys, channels }: Permissions, args: readonly string[]): Denied | undefined {
  const name = nameOf(args);
  const shape = shapeOf(name);
  const last = commands.filter((rule) => rule.slice(1) === '@all' || isAbout(rule.slice(1), name)).at(-1);
  if (last?.startsWith('+') !== true) return { by: 'command', name };
  const used = shape?.keys === undefined ? [] : shape.keys === 'first' ? args.slice(1, 2) : args.slice(1);
  const key = used.find((each) => !fitsAny(keys, each));
  if (key !== undefined) return { by: 'key', name: key };
  const [, channel = ''] = args;
  if (shape?.hasChannel === true && !fitsAny(channels, channel)) return { by: 'channel', name: channel };
  return undefined;
}

/** Of patterns, asterisks alone are simulated. */
function fitsAny(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.slice(1).split('*');
    return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^]*')}$`).test(text);
  });
}
