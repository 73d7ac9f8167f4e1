/** With which passwords the processes let clients in, compared with those that the Secret names. */
import { createHmac } from 'node:crypto';
import type { Formers } from '../action.ts';
import type { Identity } from '../client/identity.ts';
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
 * The passwords that a process accepts and the Secret does not name, as numbers. The status contains a mark made of them. A plain hash would let a
 * reader of the status guess passwords, so each number is an HMAC: its key is the password of the identity, which opens the servers anyway.
 */
export function formersIn(hashes: readonly string[], named: readonly string[], identity: Identity): Formers {
  const numberOf = (hash: string): number =>
    createHmac('sha256', identity.password).update(hash).digest().readUInt32BE();
  return hashes
    .filter((hash) => !named.includes(hash))
    .map(numberOf)
    .sort((a, b) => a - b);
}

/** Adds to each process its formers. `accepted`: by pod. Where the cluster has no identity, nothing is known of them. */
export function withFormers<N extends { readonly pod: string }>(
  nodes: readonly N[],
  accepted: ReadonlyMap<string, readonly string[]>,
  named: readonly string[],
  identity: Identity | undefined,
): (N & { readonly formers?: Formers })[] {
  if (identity === undefined) return [...nodes];
  return nodes.map((node) => {
    const formers = formersIn(accepted.get(node.pod) ?? [], named, identity);
    return formers.length === 0 ? node : { ...node, formers };
  });
}
