/**
 * What a user may not do unless the spec says that it is an administrator: commands of the category @admin, and what a sentinel says of itself to
 * the others, by which it could bring them to another primary.
 *
 * Which commands these are differs between versions, and rules may allow them by a category, a selector or a name. So the server is asked,
 * for each of its own, whether the user may run it. Words with the name of such a command are refused, too: an argument may stand after it
 * (`+debug|segfault`), of which a server does not tell all that there are.
 */
import type { RedisConnection } from '../client/connection.ts';
import { RedisError, type Reply } from '../client/resp.ts';
import { trialUser } from '../client/user-record.ts';

export interface CommandShape {
  /** `shutdown`, `config|get` */
  readonly name: string;
  /** How many words it takes at least, its name among them. */
  readonly length: number;
}

/**
 * Which `+@write` or `+@hyperloglog` allow, too: tests of HyperLogLogs, and the keys of a slot that go (Valkey 9.1), as all of them go by
 * FLUSHALL.
 */
const harmless = ['cluster|flushslot', 'pfdebug', 'pfselftest'];

const names = (reply: Reply): string[] => (Array.isArray(reply) ? reply.map(String) : []);

/** @throws where the server does not tell: then nothing can be judged */
export async function adminCommands(connection: RedisConnection): Promise<CommandShape[]> {
  // In the same order each time: a condition names some of them.
  const all = names(await connection.command('ACL', 'CAT', 'admin'))
    .filter((name) => !harmless.includes(name))
    .sort();
  const told = await connection.command('COMMAND', 'INFO', ...all);
  const shapes = all.map((name, i): CommandShape | undefined => {
    const shape = Array.isArray(told) ? told[i] : undefined;
    const arity = Array.isArray(shape) ? shape[1] : undefined;
    return typeof arity === 'number' && arity !== 0 ? { name, length: Math.abs(arity) } : undefined;
  });
  const known = shapes.filter((shape) => shape !== undefined);
  if (known.length === 0 || known.length < all.length)
    throw new Error('it does not tell its commands of the category @admin');
  return known;
}

/** Of the user on which the rules are tried: what it may do of that, in words. */
export async function dangersOf(
  connection: RedisConnection,
  words: readonly string[],
  commands: readonly CommandShape[],
): Promise<string[]> {
  const hello = { words: ['PUBLISH', '__sentinel__:hello', 'x'], name: 'PUBLISH on __sentinel__:hello' };
  const asked = [...commands.map(({ name, length }) => ({ words: callOf(name, length), name })), hello];
  const allowed = await Promise.all(asked.map((call) => mayRun(connection, call.words)));
  const byServer = asked.filter((_, i) => allowed[i]).map(({ name }) => name);
  const byName = words.flatMap((word) => {
    const [, command = ''] = /^[(]?[+]([^)]+)/.exec(word.toLowerCase()) ?? [];
    const [container = ''] = command.split('|');
    return commands.some(({ name }) => name === command || name === container) ? [command] : [];
  });
  const found = [...new Set([...byName, ...byServer])];
  return found.length <= mostNamed ? found : [...found.slice(0, mostNamed), `${found.length - mostNamed} more`];
}

const mostNamed = 4;

function callOf(name: string, length: number): string[] {
  const words = name.split('|');
  return [...words, ...Array.from({ length: Math.max(0, length - words.length) }, () => 'x')];
}

async function mayRun(connection: RedisConnection, call: readonly string[]): Promise<boolean> {
  try {
    return (await connection.command('ACL', 'DRYRUN', trialUser, ...call)) === 'OK';
  } catch (error) {
    if (error instanceof RedisError && /Command '.*' not found/.test(error.message)) return false;
    throw error;
  }
}
