/** `spec.access`: a Service for clients outside. */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { externalService } from '../../../resources/external-service.ts';
import { accessComponent, ownedMetadata, type Part, selectorLabels } from '../../../resources/metadata.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { clientPort, etcdNames } from '../names.ts';

/** `members`: the part whose pods it leads to. */
export function accessServices(cluster: Cluster<EtcdSpec>, members: Part): KubeObject[] {
  const { metadata, spec } = cluster;
  const wanted = spec.access?.clients;
  if (wanted === undefined) return [];
  const name = `${etcdNames(metadata.name).client}-external`;
  return [
    externalService(wanted, {
      metadata: ownedMetadata(cluster, name, { ...members, component: accessComponent }),
      selector: selectorLabels(cluster, members),
      port: { name: 'client', port: clientPort, targetPort: 'client', protocol: 'TCP' },
      unready: false,
    }),
  ];
}
