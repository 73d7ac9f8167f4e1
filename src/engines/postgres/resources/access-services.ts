/** `spec.access`: Services for clients outside. */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { type ExternalService, externalService } from '../../../resources/external-service.ts';
import { accessComponent, ownedMetadata, selectorLabels } from '../../../resources/metadata.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { component, poolerComponent, postgresNames, roleLabel, sqlPort } from '../names.ts';

export function accessServices(cluster: Cluster<PostgresSpec>): KubeObject[] {
  const { metadata, spec } = cluster;
  const { primary, replicas, pooler } = spec.access ?? {};
  const names = postgresNames(metadata.name);
  const part = { engine: 'postgres', component: accessComponent, version: spec.version };
  const port = { name: 'postgres', port: sqlPort, targetPort: 'postgres', protocol: 'TCP' };
  const select = (of: string) => selectorLabels(cluster, { engine: 'postgres', component: of });
  const members = (role: string) => ({ ...select(component), [roleLabel]: role });
  const service = (name: string, wanted: ExternalService | undefined, selector: Readonly<Record<string, string>>) => {
    if (wanted === undefined) return [];
    const external = ownedMetadata(cluster, `${name}-external`, part);
    // As inside: the label decides who is primary.
    const unready = selector[roleLabel] === 'primary';
    return [externalService(wanted, { metadata: external, selector, port, unready })];
  };
  return [
    ...service(names.primary, primary, members('primary')),
    ...service(names.replicas, replicas, members('replica')),
    ...service(names.pooler, pooler, select(poolerComponent)),
  ];
}
