/** One cluster of each engine with nothing but its name: the defaults are meant to be good ones. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { restrictedNamespace } from '../constructs/namespace.ts';
import { plainObject } from '../constructs/plain-object.ts';
import { RedisCluster } from '../constructs/redis-cluster.ts';

export const samplesNamespace = 'clusterwright-samples';
export const sampleName = 'sample';

export class SamplesChart extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true });
    plainObject(this, 'namespace', restrictedNamespace(samplesNamespace));
    new RedisCluster(this, 'redis', {
      metadata: {
        name: sampleName,
        namespace: samplesNamespace,
        annotations: {
          'argocd.argoproj.io/sync-wave': '1',
          // The CRD may be part of the same sync.
          'argocd.argoproj.io/sync-options': 'SkipDryRunOnMissingResource=true',
        },
      },
    });
  }
}
