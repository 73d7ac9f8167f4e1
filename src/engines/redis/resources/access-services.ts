/** `spec.access`: Services for clients outside. */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { type ExternalService, externalService } from '../../../resources/external-service.ts';
import { accessComponent, ownedMetadata, selectorLabels } from '../../../resources/metadata.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, redisNames, roleLabel } from '../names.ts';
import { primarySelector } from './proxy.ts';

export function accessServices(cluster: Cluster<RedisSpec>): KubeObject[] {
  const { metadata, spec } = cluster;
  const names = redisNames(metadata.name);
  const part = { engine: 'redis', component: accessComponent, version: spec.version };
  const data = selectorLabels(cluster, { engine: 'redis', component: 'data' });
  const port = { name: 'redis', port: dataPort, targetPort: 'redis', protocol: 'TCP' };
  const service = (name: string, wanted: ExternalService | undefined, selector: Record<string, string>) =>
    wanted === undefined
      ? []
      : [
          externalService(wanted, {
            metadata: ownedMetadata(cluster, `${name}-external`, part),
            selector,
            port,
            unready: false,
          }),
        ];
  return [
    ...service(names.primary, spec.access?.primary, primarySelector(cluster, spec.proxy !== undefined)),
    ...service(names.replicas, spec.access?.replicas, { ...data, [roleLabel]: 'replica' }),
  ];
}
