/** One cluster of each engine with nothing but its name: the defaults are meant to be good ones. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { type ClusterProps, clusterConstruct } from '../constructs/cluster-construct.ts';
import { restrictedNamespace } from '../constructs/namespace.ts';
import { plainObject } from '../constructs/plain-object.ts';
import { engines } from '../engines/index.ts';

export const samplesNamespace = 'clusterwright-samples';

export class SamplesChart extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true });
    plainObject(this, 'namespace', restrictedNamespace(samplesNamespace));
    for (const { definition } of engines) {
      const Cluster = clusterConstruct(definition);
      new Cluster(this, definition.name, { metadata: sampleMetadata(definition.sample.name) });
    }
  }
}

export function sampleMetadata(name: string): ClusterProps<object>['metadata'] {
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
