/** What an environment consists of, in the order in which it is applied. Each part is a folder of manifests. */
import type { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { BackupSchedule, Crds, Operator, PostgresCluster, RedisCluster } from 'clusterwright';
import type { Environment } from './environments.ts';

export interface Part {
  readonly name: string;
  /**
   * Whether the GitOps tool deletes what leaves the repository. Not CRDs and namespaces, whose deletion deletes every cluster in
   * them, and not databases: a person deletes those.
   */
  readonly prune: boolean;
  readonly build: (chart: Chart, environment: Environment) => void;
}

export const parts: readonly Part[] = [
  { name: 'crds', prune: false, build: (chart) => void new Crds(chart, 'crds') },
  { name: 'namespaces', prune: false, build: namespaces },
  { name: 'operator', prune: true, build: operator },
  { name: 'databases', prune: false, build: databases },
];

const namespace = 'shop';

function namespaces(chart: Chart): void {
  new k8s.KubeNamespace(chart, 'namespace', {
    metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  });
}

/** It has a Role in the namespace that it watches, which must exist before. */
function operator(chart: Chart, { operatorImage }: Environment): void {
  new Operator(chart, 'operator', { image: operatorImage, watch: { namespaces: [namespace] } });
}

function databases(chart: Chart, { instances, storage }: Environment): void {
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
