/** The Secrets with certificates of a cluster that looks after them itself, as they are when they have just been made. */
import type { Cluster } from '../../src/api/cluster.ts';
import type { EtcdSpec } from '../../src/api/etcd.ts';
import { authoritySeen, leafSeen, type Values } from '../../src/certificates/facts.ts';
import { issued, sourceOf } from '../../src/certificates/issue.ts';
import { authorityWanted, sides } from '../../src/engines/etcd/certificates.ts';
import { type AuthoritySeen, type AuthorityWanted, type Issuing, issuing } from '../../src/plan/issuance.ts';

export type Secrets = Record<string, Values>;

/** Of these Secrets. */
export function seenIn({ secret, leaves }: AuthorityWanted, secrets: Secrets): AuthoritySeen {
  return {
    authority: authoritySeen(secrets[secret]),
    leaves: Object.fromEntries(leaves.map((leaf) => [leaf.secret, leafSeen(secrets[leaf.secret], secrets[secret])])),
  };
}

/** Carries out these steps, as the executor does. */
export function carryOut(steps: readonly Issuing[], secrets: Secrets, now: number): void {
  for (const { secret, issue } of steps) {
    secrets[secret] = issued(issue, { own: secrets[secret], source: secrets[sourceOf(issue) ?? ''] }, now);
  }
}

/** By name. `now` in milliseconds. */
export function issuedSecrets(cluster: Cluster<EtcdSpec>, now: number): Secrets {
  const secrets: Secrets = {};
  for (const wanted of sides.flatMap((side) => authorityWanted(cluster, side) ?? [])) {
    const steps = issuing(wanted, seenIn(wanted, {}), { areNone: true, areUpToDate: true }, now) ?? [];
    carryOut(steps, secrets, now);
  }
  return secrets;
}
