/**
 * iptables rules that can be told apart and taken back.
 *
 * Every rule of ours carries a comment that begins with `clusterwright`; the chains of kubelet and kube-proxy begin with
 * `KUBE-`. Removal names exactly those, in one atomic restore a table, and leaves every other rule alone.
 */
import { attempt, run } from './command.ts';
import { codeOf, SandboxError } from './error.ts';

export type Chain = 'FORWARD' | 'INPUT' | 'OUTPUT';

export interface Rule {
  readonly chain: Chain;
  /** As iptables takes it, without chain and comment: `-s 10.244.1.3 -j DROP`. */
  readonly match: string;
  /** The comment: `clusterwright:` and what it is for. */
  readonly tag: string;
  /** `first` goes before all rules, also those that accept established connections. */
  readonly place: 'first' | 'last';
}

/** Every comment of ours begins so. */
export const tagPrefix = 'clusterwright:';

/** The input of `iptables-restore --noflush` that adds rules to the filter table. */
export function addition(rules: readonly Rule[]): string {
  const lines = rules.map(({ chain, match, tag, place }) => {
    const verb = place === 'first' ? `-I ${chain} 1` : `-A ${chain}`;
    return `${verb} -m comment --comment "${tag}" ${match}`;
  });
  return `*filter\n${lines.join('\n')}\nCOMMIT\n`;
}

/** The input that removes, from what `iptables-save` printed, the rules and chains that `chosen` and `chains` name. */
export function removal(saved: string, chosen: (tag: string) => boolean, chains: 'keep' | 'kubernetes'): string {
  let result = '';
  for (const table of saved.split(/^\*/m).slice(1)) {
    const lines = table.split('\n');
    const owned = chains === 'keep' ? [] : lines.flatMap((line) => /^:(KUBE-\S+)/.exec(line)?.[1] ?? []);
    const rules = lines.filter((line) => {
      const [, chain = '', rest = ''] = /^-A (\S+) (.*)$/.exec(line) ?? [];
      if (chain === '' || owned.includes(chain)) return false;
      const tag = /--comment "?(clusterwright:[^" ]*)/.exec(rest)?.[1];
      if (tag !== undefined && chosen(tag)) return true;
      return owned.includes(/-j (\S+)/.exec(rest)?.[1] ?? '');
    });
    if (owned.length + rules.length === 0) continue;
    result += [
      `*${lines[0]}`,
      ...owned.map((chain) => `:${chain} - [0:0]`),
      ...rules.map((rule) => rule.replace(/^-A/, '-D')),
      ...owned.map((chain) => `-X ${chain}`),
      'COMMIT\n',
    ].join('\n');
  }
  return result;
}

/** The tags of the rules in what `iptables-save` printed, each once. */
export function tagsIn(saved: string): readonly string[] {
  return [...new Set([...saved.matchAll(/--comment "?(clusterwright:[^" \n]*)/g)].flatMap((match) => match[1] ?? []))];
}

export async function addRules(rules: readonly Rule[]): Promise<void> {
  await run('iptables-restore', ['--wait', '--noflush'], { input: addition(rules) });
}

/** Removes the rules whose tag is chosen; returns the tags that went. */
export async function removeRules(chosen: (tag: string) => boolean): Promise<readonly string[]> {
  const saved = await run('iptables-save', []);
  const tags = tagsIn(saved).filter(chosen);
  if (tags.length > 0)
    await run('iptables-restore', ['--wait', '--noflush'], { input: removal(saved, chosen, 'keep') });
  return tags;
}

/** The tags of all rules in force that are ours. */
export async function ruleTags(): Promise<readonly string[]> {
  return tagsIn(await run('iptables-save', []));
}

/** Removes every rule of ours and every chain of kubelet and kube-proxy, for both address families. */
export async function removeAllRules(): Promise<void> {
  for (const family of ['iptables', 'ip6tables']) {
    const saved = await save(family);
    if (saved === undefined) continue;
    const input = removal(saved, () => true, 'kubernetes');
    if (input !== '') await run(`${family}-restore`, ['--wait', '--noflush'], { input });
  }
}

/** Undefined where the program or the kernel knows nothing of this family. */
async function save(family: string): Promise<string | undefined> {
  try {
    const result = await attempt(`${family}-save`, []);
    return result.code === 0 ? result.stdout : undefined;
  } catch (error) {
    if (error instanceof SandboxError && codeOf(error.cause) === 'ENOENT') return undefined;
    throw error;
  }
}
