/** The complete set of a Redis cluster's children: a pure function of the custom resource. */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { accessChildren } from '../../../plan/access.ts';
import { memoize } from '../../../plan/memoize.ts';
import type { Desired } from '../../../plan/objects.ts';
import { configMap } from '../../../resources/configmap.ts';
import { disruptionBudget } from '../../../resources/disruptionbudget.ts';
import { ownedMetadata, type Part, selectorLabels } from '../../../resources/metadata.ts';
import { networkPolicy } from '../../../resources/network-policy.ts';
import { clusterIPService, headlessService } from '../../../resources/service.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, exporterPort, proxyHealthPort, redisNames, roleLabel, sentinelPort, tlsPort } from '../names.ts';
import { accessServices } from './access-services.ts';
import { certificateChildren, formerCertificates } from './certificates.ts';
import { redisConf, restartHash, sentinelConf } from './config.ts';
import { fenceFiles } from './fence.ts';
import { dataStatefulSet, sentinelStatefulSet } from './pods.ts';
import { primarySelector, proxyChildren, proxyFlag } from './proxy.ts';
import { scripts } from './scripts.ts';
import { secretsOf } from './secrets.ts';
import { shardedResources } from './shards/resources.ts';
import { timingOf } from './timing.ts';

export const redisResources = memoize((cluster: Cluster<RedisSpec>): readonly Desired[] =>
  cluster.spec.mode === 'Cluster' ? shardedResources(cluster) : singleResources(cluster),
);

function singleResources(cluster: Cluster<RedisSpec>): readonly Desired[] {
  const { spec } = cluster;
  const names = redisNames(cluster.metadata.name);
  const withSentinel = spec.mode === 'Sentinel';
  const data: Part = { engine: 'redis', component: 'data', version: spec.version };
  const sentinel: Part = { ...data, component: 'sentinel' };
  const dataSelector = selectorLabels(cluster, data);
  const sentinelSelector = selectorLabels(cluster, sentinel);
  const redisPorts = [
    { name: 'redis', port: dataPort, targetPort: 'redis', protocol: 'TCP' },
    // By its number: a name would have to be in the template of the pods, which would restart for it.
    ...(spec.tls === undefined ? [] : [{ name: 'redis-tls', port: tlsPort, targetPort: tlsPort, protocol: 'TCP' }]),
  ];
  const sentinelPorts = [{ name: 'sentinel', port: sentinelPort, targetPort: 'sentinel', protocol: 'TCP' }];

  const redisService = (name: string, selector: Record<string, string>): KubeObject =>
    clusterIPService({ metadata: ownedMetadata(cluster, name, data), selector, ports: redisPorts });

  const objects: Desired[] = [
    {
      object: configMap(ownedMetadata(cluster, names.config, data), configFiles(cluster)),
    },
    {
      object: headlessService({
        metadata: ownedMetadata(cluster, names.data, data),
        selector: dataSelector,
        ports: redisPorts,
      }),
    },
    { object: redisService(names.primary, primarySelector(cluster, spec.proxy !== undefined)) },
    { object: disruptionBudget(ownedMetadata(cluster, names.data, data), dataSelector) },
    { object: dataStatefulSet(cluster, data, restartHash(cluster)) },
  ];
  objects.unshift(
    ...secretsOf(cluster, names.primary),
    ...certificateChildren(cluster),
    ...formerCertificates(cluster),
  );
  if (withSentinel) {
    objects.push(
      { object: redisService(names.replicas, { ...dataSelector, [roleLabel]: 'replica' }) },
      {
        object: headlessService({
          metadata: ownedMetadata(cluster, names.sentinel, sentinel),
          selector: sentinelSelector,
          ports: sentinelPorts,
        }),
      },
      { object: disruptionBudget(ownedMetadata(cluster, names.sentinel, sentinel), sentinelSelector) },
      { object: sentinelStatefulSet(cluster, sentinel) },
      ...proxyChildren(cluster),
    );
  }
  const ports = {
    clients: [dataPort, ...(spec.tls === undefined ? [] : [tlsPort]), ...(withSentinel ? [sentinelPort] : [])],
    metrics: [exporterPort, ...(spec.proxy === undefined ? [] : [proxyHealthPort])],
  };
  objects.push(
    ...accessChildren([
      ...accessServices(cluster),
      ...networkPolicy(cluster, spec.networkPolicy, { part: data, ports }),
    ]),
  );
  return objects;
}

/**
 * The mounted files. `sentinels` is what the scripts ask; empty means there are none and the node stands alone. `ephemeral` says
 * that it may begin without data by itself.
 */
function configFiles(cluster: Cluster<RedisSpec>): Record<string, string> {
  const { spec } = cluster;
  const names = redisNames(cluster.metadata.name);
  // With it, a node that starts accepts TLS, also while the operator is away. When `tls` is removed, it tells where the certificate comes from.
  const tls = spec.tls === undefined ? {} : { tls: `${JSON.stringify(spec.tls)}\n` };
  if (spec.mode === 'Standalone') {
    const ephemeral = spec.storage.ephemeral ? { ephemeral: 'yes\n' } : {};
    return { ...scripts, 'redis.conf': redisConf(cluster), sentinels: '', ...ephemeral, ...tls };
  }
  const { missedMs, infoPeriodMs, askWithinMs } = timingOf(cluster);
  const hosts = Array.from({ length: spec.sentinel.replicas }, (_, i) => `${names.sentinel}-${i}.${names.sentinel}`);
  return {
    ...scripts,
    'redis.conf': redisConf(cluster),
    sentinels: `${hosts.join('\n')}\n`,
    quorum: `${spec.sentinel.quorum}\n`,
    'missed-ms': `${missedMs}\n`,
    'info-period-ms': `${infoPeriodMs}\n`,
    'ask-within-ms': `${askWithinMs}\n`,
    ...fenceFiles(cluster),
    'sentinel.conf': sentinelConf(cluster),
    ...proxyFlag(cluster),
    ...tls,
  };
}
