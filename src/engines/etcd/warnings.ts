/** What a valid spec risks: said in the condition `SpecWarning` for as long as it is so. */
import type { Cluster } from '../../api/cluster.ts';
import type { EtcdSpec } from '../../api/etcd.ts';
import { unitsOf } from '../../api/quantity.ts';
import type { SpecWarning } from '../spec-warnings.ts';
import { roomFor } from './quota.ts';

export function specWarnings({ spec }: Cluster<EtcdSpec>): readonly SpecWarning[] {
  return [...issuerWarnings(spec), ...quotaWarnings(spec)];
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

/** Only what the spec names: the default has room. */
function quotaWarnings({ config, storage }: EtcdSpec): readonly SpecWarning[] {
  const room = roomFor({ storage });
  if (config.quotaBackend === undefined || unitsOf(config.quotaBackend) <= room) return [];
  return [
    {
      reason: 'QuotaWithoutRoom',
      message: `config.quotaBackend ${config.quotaBackend} leaves no room for the log on a volume of ${storage.size}: members may run out of disk, and end, before etcd stops the writes; at most ${Math.floor(room / 1024 ** 2)}Mi fit`,
    },
  ];
}
