/**
 * What the Secrets with certificates say, parsed once for each reading.
 *
 * Every reconcile asks for them, and to parse those of one PostgresCluster (8 Secrets) takes 2.6 ms of CPU. The values of a Secret are
 * never changed in place, so their identity tells whether they are known.
 */
import { type CopySeen, copySeen } from '../certificates/copied.ts';
import { authoritySeen, leafSeen, type Values } from '../certificates/facts.ts';
import type { AuthoritySeen, AuthorityWanted } from './issuance.ts';
import { memoize } from './memoize.ts';

/** Values of a Secret by its name. Undefined where there is none. */
export type ReadSecret = (name: string) => Promise<Values | undefined>;

/** Of a CA and of everything that it signs. */
export async function readAuthority(
  { secret, leaves }: Pick<AuthorityWanted, 'secret' | 'leaves'>,
  read: ReadSecret,
): Promise<AuthoritySeen> {
  const [authority, ...shown] = await Promise.all([secret, ...leaves.map((leaf) => leaf.secret)].map(read));
  return {
    authority: authority === undefined ? authoritySeen(undefined) : seenAuthority(authority),
    leaves: Object.fromEntries(leaves.map((leaf, i) => [leaf.secret, seenOf(seenLeaf, leafSeen, shown[i], authority)])),
  };
}

/** Of a certificate that somebody else makes, and of the members' copy. */
export function readCopy(source: Values | undefined, copy: Values | undefined): CopySeen {
  return seenOf(seenCopy, copySeen, source, copy);
}

const seenAuthority = memoize((values: Values) => authoritySeen(values));
const seenLeaf = memoize((values: Values) => memoize((authority: Values) => leafSeen(values, authority)));
const seenCopy = memoize((source: Values) => memoize((copy: Values) => copySeen(source, copy)));

/** Where one of the two is not there, little is parsed, and nothing could be its key. */
function seenOf<Result>(
  known: (one: Values) => (other: Values) => Result,
  parse: (one: Values | undefined, other: Values | undefined) => Result,
  one: Values | undefined,
  other: Values | undefined,
): Result {
  return one === undefined || other === undefined ? parse(one, other) : known(one)(other);
}
