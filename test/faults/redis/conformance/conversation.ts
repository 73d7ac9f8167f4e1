/** What a conversation is made of. Each yields something that must be as expected on either stage. */
import type { Heard, Stage } from './stage.ts';

export interface Conversation {
  readonly story: string;
  /** Resolves with what was learned. */
  play(stage: Stage): Promise<unknown>;
  readonly yields: unknown;
}

/** The fields of a section of INFO. */
export async function info(stage: Stage, member: string, section = 'replication'): Promise<Record<string, string>> {
  const text = String(await stage.ask(member, 'INFO', section));
  return Object.fromEntries(
    text.split('\r\n').flatMap((line) => {
      const at = line.indexOf(':');
      return at < 0 || line.startsWith('#') ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}

export function pick(fields: Readonly<Record<string, string>>, ...names: readonly string[]): (string | undefined)[] {
  return names.map((name) => fields[name]);
}

/** Follows, and waits until the two agree that the link is up. */
export async function follow(stage: Stage, replica: string, primary: string): Promise<void> {
  await stage.ask(replica, 'REPLICAOF', stage.address(primary), '6379');
  await inSync(stage, replica, primary);
}

export async function inSync(stage: Stage, replica: string, primary: string): Promise<void> {
  await stage.until(`${replica} in sync with ${primary}`, async () => {
    const [below, above] = [await info(stage, replica), await info(stage, primary)];
    const seen = Object.entries(above).some(
      ([name, value]) => /^slave\d/.test(name) && value.includes(`ip=${replica},`) && value.includes('state=online'),
    );
    const isLevel =
      below.slave_repl_offset === above[above.role === 'master' ? 'master_repl_offset' : 'slave_repl_offset'];
    return below.master_link_status === 'up' && below.master_host === primary && seen && isLevel;
  });
}

export async function pair(stage: Stage): Promise<void> {
  await Promise.all([stage.start('n1'), stage.start('n2')]);
  await follow(stage, 'n2', 'n1');
}

export async function trio(stage: Stage): Promise<void> {
  await Promise.all([pair(stage), stage.start('n3')]);
  await follow(stage, 'n3', 'n1');
}

/** Each command in turn on one connection. */
export async function dialogue(stage: Stage, member: string, lines: readonly string[], login = true): Promise<Heard[]> {
  const talk = await stage.open(member, login);
  const replies: Heard[] = [];
  for (const line of lines) replies.push(await talk.say(...line.split(' ')));
  talk.close();
  return replies;
}

export const readonlyError = "-READONLY You can't write against a read only replica.";

export function pairsOf(reply: Heard): Record<string, string> {
  const items = Array.isArray(reply) ? reply.map(String) : [];
  return Object.fromEntries(items.flatMap((name, i) => (i % 2 === 0 ? [[name, items[i + 1] ?? '']] : [])));
}

/** The list of choices that follows some refusals is not ours to keep. */
export const firstWords = (reply: Heard): Heard =>
  typeof reply === 'string' ? reply.replace(/(one of the following):.*/s, '$1') : reply;
