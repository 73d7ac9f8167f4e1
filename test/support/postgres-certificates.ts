/** The certificates of a PostgreSQL cluster as they are observed where all are as they should be. */
import type { Cluster } from '../../src/api/cluster.ts';
import type { PostgresSpec } from '../../src/engines/postgres/kind/schema.ts';
import { authorityWanted, type Side, sides } from '../../src/engines/postgres/resources/certificates.ts';
import type { AuthoritySeen } from '../../src/plan/issuance.ts';

const dayMs = 86_400_000;

/** Each was made a day before `now`. */
export function certificatesSeen(cluster: Cluster<PostgresSpec>, now: number): Record<Side, AuthoritySeen> {
  const certificate = (names: readonly string[], days: number) => ({
    notBefore: now - dayMs,
    notAfter: now + days * dayMs,
    names,
  });
  const seen = sides.map((side): [Side, AuthoritySeen] => {
    const { leaves } = authorityWanted(cluster, side);
    const authority = { hasKey: true, hasNext: false, hasPrevious: false, generation: 1, changed: now - dayMs };
    return [
      side,
      {
        authority: { digest: 'a', facts: { present: certificate([], 3650), ...authority } },
        leaves: Object.fromEntries(
          leaves.map(({ secret, names }) => [
            secret,
            {
              digest: secret,
              facts: { certificate: certificate(names, 90), isCurrent: true, isTrusted: true, generation: 1 },
            },
          ]),
        ),
      },
    ];
  });
  return Object.fromEntries(seen) as Record<Side, AuthoritySeen>;
}
