/**
 * Certificates of an etcd cluster: where those of each kind of connection come from, the Secrets that they are in, and
 * what the operator makes of them where it does so itself.
 *
 * Clients and peers have an authority each. With one for both, a client's certificate would make whoever has it a peer.
 */
import { hoursOf } from '../../../api/certificate-source.ts';
import type { Cluster } from '../../../api/cluster.ts';
import type { LeafRequest } from '../../../certificates/certificate.ts';
import type { CopyWanted } from '../../../plan/copying.ts';
import type { AuthorityWanted, LeafWanted } from '../../../plan/issuance.ts';
import type { Desired } from '../../../plan/objects.ts';
import { certificate } from '../../../resources/certificate.ts';
import { ownedMetadata, type Part, unownedMetadata } from '../../../resources/metadata.ts';
import { generatedSecret } from '../../../resources/secret.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { certificateSecret, etcdNames, type Side, sides } from '../names.ts';

/** Name of the Secret for clients: where there is one of their own, the members' key is not shown around. */
export function clientSecret(cluster: Cluster<EtcdSpec>): string | undefined {
  const isOurs = cluster.spec.tls.client?.selfManaged !== undefined;
  return isOurs ? etcdNames(cluster.metadata.name).user : certificateSecret(cluster, 'client');
}

/** Of the members. A client may call them by the name of the Service in any of its lengths. */
export function namesIn({ metadata, spec }: Cluster<EtcdSpec>, side: Side): string[] {
  const { name, namespace } = metadata;
  const { client, peers } = etcdNames(name);
  const members = `*.${peers}.${namespace}.svc`;
  if (side === 'peer') return [members];
  return [
    members,
    `${client}.${namespace}.svc`,
    `${client}.${namespace}`,
    client,
    'localhost',
    ...(spec.access?.names ?? []),
  ];
}

/** What the operator makes itself; undefined where it does not. */
export function authorityWanted(cluster: Cluster<EtcdSpec>, side: Side): AuthorityWanted | undefined {
  const own = cluster.spec.tls[side]?.selfManaged;
  if (own === undefined) return undefined;
  const { name } = cluster.metadata;
  const names = etcdNames(name);
  const leafHours = hoursOf(own.duration);
  const members: LeafRequest = { organisation: name, names: namesIn(cluster, side), usages: ['server', 'client'] };
  const user: LeafWanted = { secret: names.user, organisation: name, names: [], usages: ['client'] };
  return {
    secret: names.authorities[side],
    hours: hoursOf(own.authorityDuration),
    leafHours,
    patienceHours: side === 'client' ? leafHours : 0,
    leaves: [
      // Through a forwarded port a client finds a member on its own machine.
      { secret: names.certificates[side], ...members, ...(side === 'client' ? { addresses: ['127.0.0.1'] } : {}) },
      ...(side === 'client' ? [user] : []),
    ],
  };
}

/** What cert-manager writes, as the members get it; undefined where it does not. */
export function copyWanted({ metadata, spec }: Cluster<EtcdSpec>, side: Side): CopyWanted | undefined {
  const source = spec.tls[side]?.certManager;
  if (source === undefined) return undefined;
  const { certificates, sources } = etcdNames(metadata.name);
  // Until its own certificate is renewed a client may not have heard of another CA.
  const patienceHours = side === 'client' ? hoursOf(source.duration) : 0;
  return { secret: certificates[side], from: sources[side], patienceHours };
}

/** The Secret of an authority or of a certificate that the operator makes: kept, like every credential. */
export function issuedSecret(cluster: Cluster<EtcdSpec>, name: string, part: Part): Desired {
  return { object: generatedSecret(unownedMetadata(cluster, name, part)), issued: true };
}

/** Secrets that the operator fills itself, then what cert-manager is asked for. */
export function certificateChildren(cluster: Cluster<EtcdSpec>, part: Part): Desired[] {
  return [
    ...sides.flatMap((side) => {
      const copy = copyWanted(cluster, side);
      const wanted = authorityWanted(cluster, side);
      const secrets = [
        ...(copy === undefined ? [] : [copy]),
        ...(wanted === undefined ? [] : [wanted, ...wanted.leaves]),
      ];
      return secrets.map(({ secret }) => issuedSecret(cluster, secret, part));
    }),
    ...sides.flatMap((side) => asked(cluster, side, part)),
  ];
}

function asked(cluster: Cluster<EtcdSpec>, side: Side, part: Part): Desired[] {
  const source = cluster.spec.tls[side]?.certManager;
  if (source === undefined) return [];
  const { certificates, sources } = etcdNames(cluster.metadata.name);
  const { issuerRef, duration, renewBefore } = source;
  return [
    {
      object: certificate({
        metadata: ownedMetadata(cluster, certificates[side], part),
        secretName: sources[side],
        organisation: cluster.metadata.name,
        dnsNames: namesIn(cluster, side),
        issuerRef: { name: issuerRef.name, kind: issuerRef.kind, group: issuerRef.group },
        durationHours: hoursOf(duration),
        ...(renewBefore === undefined ? {} : { renewBeforeHours: hoursOf(renewBefore) }),
      }),
    },
  ];
}
