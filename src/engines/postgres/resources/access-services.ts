/** Services for clients outside. They stand beside those inside, so that a change of one leaves the others alone. */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { ownedMetadata, selectorLabels } from '../../../resources/metadata.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { accessComponent, component, poolerComponent, postgresNames, roleLabel, sqlPort } from '../names.ts';

type AccessService = NonNullable<NonNullable<PostgresSpec['access']>['primary']>;

export function accessServices(cluster: Cluster<PostgresSpec>): KubeObject[] {
  const { metadata, spec } = cluster;
  const { primary, replicas, pooler } = spec.access ?? {};
  const names = postgresNames(metadata.name);
  const select = (of: string) => selectorLabels(cluster, { engine: 'postgres', component: of });
  const members = (role: string) => ({ ...select(component), [roleLabel]: role });
  const service = (name: string, wanted: AccessService | undefined, selector: Readonly<Record<string, string>>) =>
    wanted === undefined ? [] : [external(cluster, `${name}-external`, wanted, selector)];
  return [
    ...service(names.primary, primary, members('primary')),
    ...service(names.replicas, replicas, members('replica')),
    ...service(names.pooler, pooler, select(poolerComponent)),
  ];
}

function external(
  cluster: Cluster<PostgresSpec>,
  name: string,
  { type, annotations, nodePort, loadBalancerClass, sourceRanges }: AccessService,
  selector: Readonly<Record<string, string>>,
): KubeObject {
  const part = { engine: 'postgres', component: accessComponent, version: cluster.spec.version };
  const metadata = ownedMetadata(cluster, name, part);
  const port = { name: 'postgres', port: sqlPort, targetPort: 'postgres', protocol: 'TCP' };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: {
      type,
      selector,
      ports: [{ ...port, ...(nodePort === undefined ? {} : { nodePort }) }],
      // As inside: the label decides who is primary.
      ...(selector[roleLabel] === 'primary' ? { publishNotReadyAddresses: true } : {}),
      ...(type === 'LoadBalancer' && loadBalancerClass !== undefined ? { loadBalancerClass } : {}),
      ...(type === 'LoadBalancer' && sourceRanges.length > 0 ? { loadBalancerSourceRanges: sourceRanges } : {}),
    },
  };
}
