/**
 * Certificates of a PostgresCluster, all of the operator's making.
 *
 * PostgreSQL and Patroni have an authority each. Patroni accepts every certificate of its authority, so with one
 * authority for both, each client with a certificate could order a switchover.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { AuthorityWanted, LeafWanted } from '../../../plan/issuance.ts';
import type { Desired } from '../../../plan/objects.ts';
import { type Part, unownedMetadata } from '../../../resources/metadata.ts';
import { generatedSecret } from '../../../resources/secret.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { postgresNames, roles } from '../names.ts';

export const sides = ['sql', 'patroni'] as const;
export type Side = (typeof sides)[number];

const authorityHours = 10 * 365 * 24;
const leafHours = 90 * 24;

/** By which clients know the members, in each of the lengths of a Service's name. */
function serverNames({ metadata: { name, namespace }, spec: { access } }: Cluster<PostgresSpec>): string[] {
  const names = postgresNames(name);
  const services = [names.primary, names.replicas];
  return [
    ...services.flatMap((service) => [`${service}.${namespace}.svc`, `${service}.${namespace}`, service]),
    `*.${names.members}.${namespace}.svc`,
    'localhost',
    ...(access?.names ?? []),
  ];
}

/** PgBouncer shows it to clients. What it reads of it, it reads again without a restart. */
function poolerLeaf({ metadata: { name, namespace }, spec: { access } }: Cluster<PostgresSpec>): LeafWanted {
  const { certificates, pooler } = postgresNames(name);
  return {
    secret: certificates.pooler,
    organisation: name,
    names: [`${pooler}.${namespace}.svc`, `${pooler}.${namespace}`, pooler, 'localhost', ...(access?.names ?? [])],
    addresses: ['127.0.0.1'],
    usages: ['server'],
  };
}

export function authorityWanted(cluster: Cluster<PostgresSpec>, side: Side): AuthorityWanted {
  const { name, namespace } = cluster.metadata;
  const { authorities, certificates, members } = postgresNames(name);
  const client = (secret: string, commonName: string): LeafWanted => ({
    secret,
    organisation: name,
    commonName,
    names: [],
    usages: ['client'],
  });
  const leaves: Readonly<Record<Side, readonly LeafWanted[]>> = {
    sql: [
      {
        secret: certificates.server,
        organisation: name,
        names: serverNames(cluster),
        // Through a forwarded port a client finds a member on its own machine.
        addresses: ['127.0.0.1'],
        usages: ['server'],
      },
      client(certificates.replication, roles.replication),
      client(certificates.rewind, roles.rewind),
      client(certificates.operator, roles.operator),
      ...(cluster.spec.pooler === undefined ? [] : [poolerLeaf(cluster)]),
    ],
    patroni: [
      {
        secret: certificates.patroni,
        organisation: name,
        names: [`*.${members}.${namespace}.svc`, 'localhost'],
        usages: ['server', 'client'],
      },
      client(certificates.patroniOperator, roles.operator),
    ],
  };
  return {
    secret: authorities[side],
    hours: authorityHours,
    leafHours,
    // Applications read the authority of the server from a Secret.
    patienceHours: side === 'sql' ? leafHours : 0,
    leaves: leaves[side],
  };
}

export function issuedSecret(cluster: Cluster<PostgresSpec>, name: string, part: Part): Desired {
  return { object: generatedSecret(unownedMetadata(cluster, name, part)), issued: true };
}

export function certificateChildren(cluster: Cluster<PostgresSpec>, part: Part): Desired[] {
  return sides.flatMap((side) => {
    const wanted = authorityWanted(cluster, side);
    return [wanted, ...wanted.leaves].map(({ secret }) => issuedSecret(cluster, secret, part));
  });
}
