/** One cluster of each engine with nothing but its name: the defaults are meant to be good ones. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { EtcdCluster } from '../constructs/etcd-cluster.ts';
import { restrictedNamespace } from '../constructs/namespace.ts';
import { plainObject } from '../constructs/plain-object.ts';
import { RedisCluster, type RedisClusterProps } from '../constructs/redis-cluster.ts';

export const samplesNamespace = 'clusterwright-samples';
/** The second has a name of its own: children of two kinds in one namespace may not share theirs. */
export const sampleNames = { redis: 'sample', etcd: 'sample-etcd' } as const;

export class SamplesChart extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true });
    plainObject(this, 'namespace', restrictedNamespace(samplesNamespace));
    new RedisCluster(this, 'redis', { metadata: sampleMetadata(sampleNames.redis) });
    new EtcdCluster(this, 'etcd', { metadata: sampleMetadata(sampleNames.etcd) });
  }
}

export function sampleMetadata(name: string): RedisClusterProps['metadata'] {
  return {
    name,
    namespace: samplesNamespace,
    annotations: {
      'argocd.argoproj.io/sync-wave': '1',
      // The CRD may be part of the same sync.
      'argocd.argoproj.io/sync-options': 'SkipDryRunOnMissingResource=true',
    },
  };
}
