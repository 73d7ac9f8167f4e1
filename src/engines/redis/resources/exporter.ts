/**
 * redis_exporter beside a server, as a sidecar of Kubernetes. It has no probe: a pod is ready only while each of its containers is, and the
 * metrics of a server must not decide whether it has clients.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { computeResources } from '../../../resources/compute.ts';
import { imageOf } from '../../../resources/image.ts';
import type { ContainerSpec, PodSpec, Volume } from '../../../resources/plain.ts';
import { containerSecurityContext } from '../../../resources/podsecurity.ts';
import { identityKey, identityUser } from '../client/identity.ts';
import { exporterImage } from '../kind/released-image.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { exporterPort, identityVolume, paths } from '../names.ts';

export const exporterName = 'exporter';

/** Memory-backed: its file holds the password. */
export function exporterVolumes({ spec }: Cluster<RedisSpec>): readonly Volume[] {
  return spec.monitoring === undefined
    ? []
    : [{ name: exporterName, emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }];
}

/** @param port of the server in this pod */
export function exporterSidecar(cluster: Cluster<RedisSpec>, port: number): Pick<PodSpec, 'initContainers'> {
  const { monitoring } = cluster.spec;
  return monitoring === undefined ? {} : { initContainers: [sidecar(cluster, monitoring, port)] };
}

function sidecar(
  cluster: Cluster<RedisSpec>,
  { image, resources }: NonNullable<RedisSpec['monitoring']>,
  port: number,
): ContainerSpec {
  const environment: Readonly<Record<string, string>> = {
    IDENTITY: identityUser(cluster),
    IDENTITY_FILE: `${paths.internal}/${identityKey}`,
    REDIS_PORT: String(port),
    METRICS_PORT: String(exporterPort),
  };
  return {
    name: exporterName,
    image: imageOf(cluster, image, exporterImage),
    imagePullPolicy: 'IfNotPresent',
    restartPolicy: 'Always',
    command: ['/bin/sh', `${paths.config}/exporter.sh`],
    env: Object.entries(environment).map(([name, value]) => ({ name, value })),
    ports: [{ name: 'metrics', containerPort: exporterPort, protocol: 'TCP' }],
    resources: computeResources(resources),
    securityContext: containerSecurityContext,
    volumeMounts: [
      { name: 'config', mountPath: paths.config, readOnly: true },
      { name: identityVolume, mountPath: paths.internal, readOnly: true },
      { name: exporterName, mountPath: paths.exporter },
    ],
  };
}
