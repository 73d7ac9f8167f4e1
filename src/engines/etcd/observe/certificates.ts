/**
 * What the Secrets with certificates say, for one look: read by name, without the keys.
 *
 * The authorities that a member trusts are read when its process starts, and then never again, so a fingerprint of them
 * stands on its pod. Of those that the operator makes it is a number that grows with each change: it is known before the
 * first of them is made.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { type CopySeen, casOf } from '../../../certificates/copied.ts';
import { leafKeys, type Values } from '../../../certificates/facts.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { readAuthority, readCopy } from '../../../plan/certificates-seen.ts';
import type { CopyWanted } from '../../../plan/copying.ts';
import type { AuthoritySeen } from '../../../plan/issuance.ts';
import { type Children, noChildren } from '../../../resources/children.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { certificateSecret, etcdNames, type Side, sides } from '../names.ts';
import { fingerprint, numbered } from '../resources/authorities.ts';
import { authorityWanted, copyWanted } from '../resources/certificates.ts';
import type { EtcdObserved } from './observed.ts';

/** `isDoubtful`: a Secret may have gone since it was read. `children`: what cert-manager says of its Certificates. */
export async function observeCertificates(
  cluster: Cluster<EtcdSpec>,
  io: EngineContext,
  isDoubtful = false,
  children: Pick<Children, 'get'> = noChildren,
): Promise<Pick<EtcdObserved, 'certificates' | 'copies' | 'given' | 'authorities' | 'awaited'>> {
  const read: Read = (name, told) => {
    if (isDoubtful) io.secretRefused(name);
    return io.secret(name, undefined, told);
  };
  // Another CA that happens to have this name could sign certificates for these members.
  const readOwn: Read = (name) => {
    if (isDoubtful) io.secretRefused(name);
    return io.secret(name, { of: cluster.metadata.name });
  };
  const found = await Promise.all(
    sides.map(async (side): Promise<Found | undefined> => {
      const wanted = authorityWanted(cluster, side);
      if (wanted !== undefined) {
        const seen = await readAuthority(wanted, (name) => (name === wanted.secret ? readOwn : read)(name));
        return { side, seen, trusted: numbered(generationOf(seen)) };
      }
      const copy = copyWanted(cluster, side);
      if (copy !== undefined) return { side, ...(await lookAtCopy(copy, read, children)) };
      const name = certificateSecret(cluster, side);
      if (name === undefined) return undefined;
      const values = (await read(name)) ?? {};
      const given = casOf(values);
      return { side, trusted: values[leafKeys.trusted], ...(given === undefined ? {} : { given }) };
    }),
  );
  const secured = found.filter((one) => one !== undefined);
  const own = secured.flatMap(({ side, seen }) => (seen === undefined ? [] : [[side, seen] as const]));
  const copies = secured.flatMap(({ side, copy }) => (copy === undefined ? [] : [[side, copy] as const]));
  const brought = secured.flatMap(({ side, given }) => (given === undefined ? [] : [[side, given] as const]));
  const { certificates } = etcdNames(cluster.metadata.name);
  const awaited = copies.flatMap(([side, { copy }]) => (copy.facts === undefined ? [certificates[side]] : []));
  const authorities = fingerprint(secured.map(({ trusted }) => trusted));
  return {
    ...(own.length === 0 ? {} : { certificates: Object.fromEntries(own) }),
    ...(copies.length === 0 ? {} : { copies: Object.fromEntries(copies) }),
    ...(brought.length === 0 ? {} : { given: Object.fromEntries(brought) }),
    ...(awaited.length === 0 ? {} : { awaited }),
    ...(authorities === undefined ? {} : { authorities }),
  };
}

/**
 * Secrets are not watched, Certificates are: what cert-manager says of its issuance changes with each, after the Secret is
 * written. `trusted` is what the members would be told to trust, where the copy is gone.
 */
async function lookAtCopy(
  { secret, from }: CopyWanted,
  read: Read,
  children: Pick<Children, 'get'>,
): Promise<Pick<Found, 'copy' | 'trusted'>> {
  const { revision, notBefore, notAfter } = (children.get('Certificate', secret)?.status ?? {}) as Issued;
  const told = JSON.stringify([revision, notBefore, notAfter].map((one) => String(one ?? '').slice(0, 64)));
  const [source, copy] = await Promise.all([read(from, told), read(secret)]);
  const seen = readCopy(source, copy);
  return { copy: seen, trusted: (seen.copy.facts === undefined ? source : copy)?.[leafKeys.trusted] };
}

/** Of the status of a Certificate: of cert-manager's kind, so nothing is certain. */
interface Issued {
  readonly revision?: unknown;
  readonly notBefore?: unknown;
  readonly notAfter?: unknown;
}

type Read = (name: string, told?: string) => Promise<Values | undefined>;

interface Found {
  readonly side: Side;
  /** As text that changes with whom the members are to trust. */
  readonly trusted: string | undefined;
  readonly seen?: AuthoritySeen;
  readonly copy?: CopySeen;
  readonly given?: NonNullable<ReturnType<typeof casOf>>;
}

/** As the members' certificate has it, which they mount. */
function generationOf({ authority, leaves }: AuthoritySeen): number {
  const [members] = Object.values(leaves);
  return members?.facts?.generation ?? authority.facts?.generation ?? 1;
}
