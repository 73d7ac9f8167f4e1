/** What a valid spec risks: said in the condition `SpecWarning` for as long as it is so. */
import type { Cluster } from '../../api/cluster.ts';
import type { EtcdSpec } from '../../api/etcd.ts';
import type { SpecWarning } from '../spec-warnings.ts';

/** A ClusterIssuer signs for every namespace. etcd lets in whoever shows a certificate of its authority. */
export function specWarnings({ spec }: Cluster<EtcdSpec>): readonly SpecWarning[] {
  const { client } = spec.tls;
  const issuer = client?.certManager?.issuerRef;
  if (issuer?.kind !== 'ClusterIssuer' || client?.requireCertificate !== true) return [];
  const asRoot = spec.auth.enabled ? ', and one with the common name root is the user root' : '';
  return [
    {
      reason: 'ClusterWideIssuer',
      message: `whoever has a certificate of the ClusterIssuer ${issuer.name} is a client${asRoot}; name an Issuer that signs for this cluster alone, or use selfManaged`,
    },
  ];
}
