/**
 * What the Secrets with certificates say, for one look: read by name, without the keys. One of the name that was not made for this cluster
 * counts as absent: its CA could sign certificates for these members. Making its own then meets it, and says whose it is.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { type ReadSecret, readAuthority } from '../../../plan/certificates-seen.ts';
import type { AuthoritySeen } from '../../../plan/issuance.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { fingerprint } from '../resources/authorities.ts';
import { authorityWanted, type Side, sides } from '../resources/certificates.ts';
import type { PostgresObserved } from './observed.ts';

export async function observeCertificates(
  cluster: Cluster<PostgresSpec>,
  io: EngineContext,
): Promise<Pick<PostgresObserved, 'certificates' | 'authorities'>> {
  const read: ReadSecret = (name) => io.secret(name, { of: cluster.metadata.name });
  const found = await Promise.all(
    sides.map(async (side) => [side, await readAuthority(authorityWanted(cluster, side), read)] as const),
  );
  return {
    certificates: Object.fromEntries(found) as Record<Side, AuthoritySeen>,
    authorities: fingerprint(found.map(([, seen]) => generationOf(seen))),
  };
}

/** As the members' own certificate has it, which they mount. */
function generationOf({ authority, leaves }: AuthoritySeen): number {
  const [members] = Object.values(leaves);
  return members?.facts?.generation ?? authority.facts?.generation ?? 1;
}
