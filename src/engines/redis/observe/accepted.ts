/** With which passwords the processes let clients in, compared with those that the Secret names. */
import type { Reply } from '../client/resp.ts';

/** Of a user, as `ACL GETUSER` tells. */
export interface Accepted {
  /** It needs no password. */
  readonly isOpen: boolean;
  readonly hashes: readonly string[];
}

export function acceptedBy(user: Reply): Accepted {
  const of = (name: string): readonly Reply[] => {
    const value = Array.isArray(user) ? user[user.indexOf(name) + 1] : undefined;
    return Array.isArray(value) ? value : [];
  };
  return { isOpen: of('flags').includes('nopass'), hashes: of('passwords').map(String) };
}

/** Whether a user has each of these passwords, or needs none. */
export function knowsAll({ isOpen, hashes }: Accepted, named: readonly string[]): boolean {
  return isOpen || named.every((hash) => hashes.includes(hash));
}

/**
 * Adds to each process what it accepts and the Secret does not name. Numbers stand for these passwords: nobody else needs their hashes.
 * `accepted`: by pod.
 */
export function withFormers<N extends { readonly pod: string }>(
  nodes: readonly N[],
  accepted: ReadonlyMap<string, readonly string[]>,
  named: readonly string[],
): (N & { readonly formers?: readonly number[] })[] {
  const formers = [...new Set([...accepted.values()].flat())].filter((hash) => !named.includes(hash)).sort();
  return nodes.map((node) => {
    const own = (accepted.get(node.pod) ?? []).map((hash) => formers.indexOf(hash)).filter((number) => number >= 0);
    return own.length === 0 ? node : { ...node, formers: own.sort((a, b) => a - b) };
  });
}
