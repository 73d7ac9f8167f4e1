/** What a valid spec risks: said in the condition `SpecWarning` for as long as it is so. */
import type { Cluster } from '../../../api/cluster.ts';
import { unitsOf } from '../../../api/quantity.ts';
import type { SpecWarning } from '../../../engine/spec-warnings.ts';
import { quotaOf, roomFor } from '../kind/quota.ts';
import type { EtcdSpec } from '../kind/schema.ts';

/** `volumeBytes`: of the smallest volume that there is. `quota`: see `given-quota.ts`. */
export function specWarnings(
  { spec }: Cluster<EtcdSpec>,
  volumeBytes = unitsOf(spec.storage.size),
  quota = quotaOf(spec, volumeBytes),
): readonly SpecWarning[] {
  return [...issuerWarnings(spec), ...accessWarnings(spec), ...quotaWarnings(spec, volumeBytes, quota)];
}

/** A ClusterIssuer, of any group, signs for every namespace. etcd lets in everybody who shows a certificate of its CA. */
function issuerWarnings(spec: EtcdSpec): readonly SpecWarning[] {
  const { client } = spec.tls;
  const issuer = client?.certManager?.issuerRef;
  if (issuer?.kind.endsWith('ClusterIssuer') !== true || client?.requireCertificate !== true) return [];
  const asRoot = spec.auth.enabled ? ', and one with the common name root is the user root' : '';
  return [
    {
      reason: 'ClusterWideIssuer',
      message: `whoever has a certificate of the ${issuer.kind} ${issuer.name} is a client${asRoot}; name an Issuer that signs for this cluster alone, or use selfManaged`,
    },
  ];
}

/** Inside of the Kubernetes cluster, a NetworkPolicy may decide who connects. The port of a node or of a load balancer is for everybody. */
function accessWarnings({ access, auth, tls }: EtcdSpec): readonly SpecWarning[] {
  const type = access?.clients?.type ?? 'ClusterIP';
  if (type === 'ClusterIP' || auth.enabled || tls.client?.requireCertificate === true) return [];
  return [
    {
      reason: 'OpenAccess',
      message: `everybody who reaches the ${type} of access.clients can read and change all keys; create the cluster with tls.client, or set auth.enabled`,
    },
  ];
}

/** The default of now has room. What the spec names, and what members have kept of an earlier default, may have none. */
function quotaWarnings({ config }: EtcdSpec, volumeBytes: number, quota: number): readonly SpecWarning[] {
  const room = roomFor(volumeBytes);
  if (quota <= room) return [];
  const what =
    config.quotaBackend ?? `of ${Math.floor(quota / 1024 ** 2)}Mi, an earlier default that the members keep,`;
  return [
    {
      reason: 'QuotaWithoutRoom',
      message: `config.quotaBackend ${what} leaves no room for the log on a volume of ${Math.floor(volumeBytes / 1024 ** 2)}Mi: members may run out of disk, and end, before etcd stops the writes; at most ${Math.floor(room / 1024 ** 2)}Mi fit`,
    },
  ];
}
