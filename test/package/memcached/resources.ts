/** The managed objects of a cache: a Service by which clients find each pod, a budget for evictions, and the pods. */
import {
  type Cluster,
  computeResources,
  containerSecurityContext,
  type Desired,
  disruptionBudget,
  headlessService,
  ownedMetadata,
  type Part,
  podSecurityContext,
  schedulingFields,
  selectorLabels,
  statefulSet,
  unitsOf,
} from 'clusterwright/engine';
import type { MemcachedSpec } from './kind.js';

export const port = 11211;

export const part = (version: string): Part => ({ engine: 'memcached', component: 'cache', version });

/** Of the memory limit, what items may fill: connections and the process itself take the rest. */
const share = 0.75;

function megabytes(quantity: string | number): number {
  return Math.max(16, Math.floor((unitsOf(quantity) * share) / 2 ** 20));
}

export function resources(cluster: Cluster<MemcachedSpec>): readonly Desired[] {
  const { metadata, spec } = cluster;
  const { name } = metadata;
  const own = part(spec.version);
  const selector = selectorLabels(cluster, own);
  const probe = { tcpSocket: { port }, periodSeconds: 5, timeoutSeconds: 2 };
  return [
    {
      object: headlessService({
        metadata: ownedMetadata(cluster, name, own),
        selector,
        ports: [{ name: 'memcached', port, targetPort: port, protocol: 'TCP' }],
      }),
    },
    { object: disruptionBudget(ownedMetadata(cluster, name, own), selector) },
    {
      object: statefulSet({
        metadata: ownedMetadata(cluster, name, own),
        selector,
        serviceName: name,
        replicas: spec.replicas,
        claims: [],
        podSpec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: podSecurityContext,
          terminationGracePeriodSeconds: 5,
          ...schedulingFields(spec.scheduling, selector),
          containers: [
            {
              name: 'memcached',
              image: spec.image ?? `docker.io/library/memcached:${spec.version}`,
              imagePullPolicy: 'IfNotPresent',
              command: ['memcached'],
              args: [
                `--port=${port}`,
                `--memory-limit=${megabytes(spec.resources.limits.memory)}`,
                `--conn-limit=${spec.config.maxConnections}`,
              ],
              ports: [{ name: 'memcached', containerPort: port, protocol: 'TCP' }],
              resources: computeResources(spec.resources),
              securityContext: containerSecurityContext,
              readinessProbe: probe,
              livenessProbe: { ...probe, periodSeconds: 10, failureThreshold: 6 },
            },
          ],
        },
      }),
    },
  ];
}
