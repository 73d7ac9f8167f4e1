/** What the Secrets with certificates say, for one look: read by name, without the keys. */
import type { Cluster } from '../../../api/cluster.ts';
import { authoritySeen, leafSeen } from '../../../certificates/facts.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { AuthoritySeen } from '../../../plan/issuance.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { fingerprint } from '../resources/authorities.ts';
import { authorityWanted, type Side, sides } from '../resources/certificates.ts';
import type { PostgresObserved } from './observed.ts';

export async function observeCertificates(
  cluster: Cluster<PostgresSpec>,
  io: EngineContext,
): Promise<Pick<PostgresObserved, 'certificates' | 'authorities'>> {
  const found = await Promise.all(sides.map(async (side) => [side, await lookAt(cluster, side, io)] as const));
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

async function lookAt(cluster: Cluster<PostgresSpec>, side: Side, io: EngineContext): Promise<AuthoritySeen> {
  const { secret, leaves } = authorityWanted(cluster, side);
  const [authority, ...shown] = await Promise.all(
    [secret, ...leaves.map((leaf) => leaf.secret)].map((name) => io.secret(name)),
  );
  return {
    authority: authoritySeen(authority),
    leaves: Object.fromEntries(leaves.map((leaf, i) => [leaf.secret, leafSeen(shown[i], authority)])),
  };
}
