/** The Secrets with certificates of a cluster that looks after them itself, as they are when they have just been made. */
import type { Cluster } from '../../src/api/cluster.ts';
import { type Issued, makeAuthority, makeLeaf } from '../../src/certificates/certificate.ts';
import { authoritySeen, leafSeen, type Values } from '../../src/certificates/facts.ts';
import { issued, sourceOf } from '../../src/certificates/issue.ts';
import type { EtcdSpec } from '../../src/engines/etcd/kind/schema.ts';
import { sides } from '../../src/engines/etcd/names.ts';
import { authorityWanted, copyWanted, namesIn } from '../../src/engines/etcd/resources/certificates.ts';
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

const dayMs = 86_400_000;

/** For two years about `now`. */
export function madeCa(name: string, now: number): Issued {
  return makeAuthority(name, { from: now - 365 * dayMs, to: now + 365 * dayMs });
}

/** As cert-manager writes them: from `now` on for 90 days. */
export function madeBy(ca: Issued, names: readonly string[], now: number): Values {
  const usages = ['server', 'client'] as const;
  const leaf = makeLeaf({ organisation: 'db', names, usages }, { from: now, to: now + 90 * dayMs }, ca);
  return { 'ca.crt': ca.certificate, 'tls.crt': leaf.certificate, 'tls.key': leaf.key };
}

/** What cert-manager has written for the cluster, and the members' copies of it. */
export function copiedSecrets(cluster: Cluster<EtcdSpec>, now: number): Secrets {
  const ca = madeCa('theirs', now);
  return Object.fromEntries(
    sides.flatMap((side) => {
      const wanted = copyWanted(cluster, side);
      if (wanted === undefined) return [];
      const values = madeBy(ca, namesIn(cluster, side), now);
      return [wanted.from, wanted.secret].map((name) => [name, values]);
    }),
  );
}
