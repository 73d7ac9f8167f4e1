/** The proxy's objects: pods that keep nothing and know no password. */
import { createHash } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import type { Desired } from '../../../plan/objects.ts';
import { computeResources } from '../../../resources/compute.ts';
import { configMap } from '../../../resources/configmap.ts';
import { disruptionBudget } from '../../../resources/disruptionbudget.ts';
import { imageOf } from '../../../resources/image.ts';
import { ownedMetadata, type Part, selectorLabels } from '../../../resources/metadata.ts';
import type { ContainerSpec } from '../../../resources/plain.ts';
import { podBase } from '../../../resources/pod-base.ts';
import { containerSecurityContext } from '../../../resources/podsecurity.ts';
import { schedulingFields } from '../../../resources/scheduling.ts';
import { statefulSet } from '../../../resources/statefulset.ts';
import { proxyImage } from '../kind/released-image.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, paths, proxyComponent, proxyHealthPort, redisNames, roleLabel, tlsPort } from '../names.ts';
import { haproxyConfig, type ProxySpec } from './haproxy-config.ts';
import { texts } from './shell/texts.ts';

/** Another configuration restarts the pods: HAProxy reads it once. */
const configHashAnnotation = 'clusterwright.dev/restart-hash';

/** The Service has to forget a pod before it ends: that takes a moment, and connections do not end by themselves. */
const forgetSeconds = 5;
const graceSeconds = 15;

/** Pods to which clients of the primary are led. */
export function primarySelector(cluster: Cluster<RedisSpec>, isProxied: boolean): Record<string, string> {
  return isProxied
    ? selectorLabels(cluster, { engine: 'redis', component: proxyComponent })
    : { ...selectorLabels(cluster, { engine: 'redis', component: 'data' }), [roleLabel]: 'primary' };
}

/** In the ConfigMap of the members: from it sentinels learn that there is a proxy, which may ask them. */
export function proxyFlag({ spec }: Cluster<RedisSpec>): Readonly<Record<string, string>> {
  return spec.proxy === undefined ? {} : { proxy: 'yes\n' };
}

function container(image: string, { resources }: ProxySpec, hasTls: boolean): ContainerSpec {
  const probe = (path: string) => ({ httpGet: { path, port: 'health' }, timeoutSeconds: 2 });
  return {
    name: 'haproxy',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['/bin/sh', `${paths.config}/proxy.sh`],
    env: [
      { name: 'CONFIG_DIR', value: paths.config },
      { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    ],
    ports: [
      { name: 'redis', containerPort: dataPort, protocol: 'TCP' },
      ...(hasTls ? [{ name: 'redis-tls', containerPort: tlsPort, protocol: 'TCP' }] : []),
      { name: 'health', containerPort: proxyHealthPort, protocol: 'TCP' },
    ],
    lifecycle: { preStop: { exec: { command: ['sleep', String(forgetSeconds)] } } },
    resources: computeResources(resources),
    securityContext: containerSecurityContext,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    // Longer than a failover: all of them lose their primary then, and clients would have to wait for the Service, too.
    readinessProbe: { ...probe('/ready'), periodSeconds: 2, failureThreshold: 15 },
    livenessProbe: { ...probe('/alive'), periodSeconds: 10, failureThreshold: 6 },
    volumeMounts: [{ name: 'config', mountPath: paths.config, readOnly: true }],
  };
}

/** None where there is no proxy. */
export function proxyChildren(cluster: Cluster<RedisSpec>): Desired[] {
  const { metadata, spec } = cluster;
  const { proxy } = spec;
  if (proxy === undefined) return [];
  const image = imageOf(cluster, proxy.image, proxyImage);
  const version = /:([\w.-]{1,63})(@|$)/.exec(image)?.[1] ?? 'digest';
  const part: Part = { engine: 'redis', component: proxyComponent, version };
  const { proxy: name } = redisNames(metadata.name);
  const selector = selectorLabels(cluster, part);
  const owned = ownedMetadata(cluster, name, part);
  const files = { 'haproxy.cfg': haproxyConfig(cluster, proxy), 'proxy.sh': texts['proxy.sh'] };
  const hash = createHash('sha256').update(Object.values(files).join('\0')).digest('hex').slice(0, 16);
  const set = statefulSet({
    metadata: owned,
    selector,
    serviceName: name,
    replicas: proxy.replicas,
    podAnnotations: { [configHashAnnotation]: hash },
    pods: spec.pods,
    podSpec: {
      ...podBase(spec.pods),
      terminationGracePeriodSeconds: graceSeconds,
      ...schedulingFields(spec.scheduling, selector),
      containers: [container(image, proxy, spec.tls !== undefined)],
      volumes: [{ name: 'config', configMap: { name } }],
    },
    claims: [],
  });
  return [
    { object: configMap(owned, files) },
    { object: disruptionBudget(owned, selector, 'AlwaysAllow') },
    { object: set },
  ];
}
