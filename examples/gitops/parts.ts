/** What an environment consists of, in the order in which it is applied. Each part is a folder of manifests. */
import type { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { BackupSchedule, Crds, Operator, PostgresCluster, RedisCluster } from 'clusterwright';
import type { Environment } from './environments.ts';

export interface Part {
  readonly name: string;
  /**
   * Whether the GitOps tool deletes what leaves the repository. Not CRDs, whose deletion deletes every cluster, and not
   * databases: a person deletes those.
   */
  readonly prune: boolean;
  readonly build: (chart: Chart, environment: Environment) => void;
}

export const parts: readonly Part[] = [
  { name: 'crds', prune: false, build: (chart) => void new Crds(chart, 'crds') },
  { name: 'operator', prune: true, build: operator },
  { name: 'databases', prune: false, build: databases },
];

/**
 * It watches all namespaces: a Role in the namespace `shop` would need that namespace, which comes after the operator. The cost is that the
 * operator can read Secrets, by name, in every namespace.
 */
function operator(chart: Chart, { operatorImage }: Environment): void {
  new Operator(chart, 'operator', { image: operatorImage, watch: { all: true } });
}

function databases(chart: Chart, { instances, storage }: Environment): void {
  const namespace = 'shop';
  new k8s.KubeNamespace(chart, 'namespace', {
    metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  });
  new PostgresCluster(chart, 'db', {
    metadata: { name: 'db', namespace },
    spec: { version: '17', image: 'registry.example/postgres:17', instances, storage: { size: storage } },
  });
  new RedisCluster(chart, 'cache', { metadata: { name: 'cache', namespace }, spec: { storage: { size: storage } } });
  new BackupSchedule(chart, 'nightly', {
    metadata: { name: 'db', namespace },
    spec: {
      cluster: { kind: 'PostgresCluster', name: 'db' },
      schedule: '15 3 * * *',
      target: {
        s3: { endpoint: 'https://s3.example.com', bucket: 'database-backups', credentials: 'backup-credentials' },
      },
    },
  });
}
