/** Resources that tests read and write besides the operator's own, and what a cluster is made of. */
import { backupKind } from '../../src/api/backup.ts';
import { scheduleKind } from '../../src/api/backup-schedule.ts';
import type { Resource } from '../../src/api/object.ts';
import {
  configMaps,
  networkPolicies,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  secrets,
  services,
  statefulSets,
} from '../../src/api/resource.ts';
import { etcdKind } from '../../src/engines/etcd/kind/schema.ts';
import { databaseKind } from '../../src/engines/postgres/kind/database.ts';
import { postgresKind } from '../../src/engines/postgres/kind/schema.ts';
import { userKind } from '../../src/engines/postgres/kind/user.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';

const clusterWide = (group: string, version: string, kind: string, plural: string): Resource => ({
  group,
  version,
  kind,
  plural,
  namespaced: false,
});

export const namespaces = clusterWide('', 'v1', 'Namespace', 'namespaces');
export const nodes = clusterWide('', 'v1', 'Node', 'nodes');
export const priorityClasses = clusterWide('scheduling.k8s.io', 'v1', 'PriorityClass', 'priorityclasses');
export const clusterRoles = clusterWide('rbac.authorization.k8s.io', 'v1', 'ClusterRole', 'clusterroles');
export const clusterRoleBindings = clusterWide(
  'rbac.authorization.k8s.io',
  'v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
);
export const persistentVolumes = clusterWide('', 'v1', 'PersistentVolume', 'persistentvolumes');
export const customResourceDefinitions = clusterWide(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
);
export const endpointSlices: Resource = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
};
export const resourceQuotas: Resource = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  namespaced: true,
};
const admission = (kind: string, plural: string): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind,
  plural,
  namespaced: false,
});
export const admissionPolicies = admission('ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
export const admissionBindings = admission('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');
export const redisClusters: Resource = redisKind.resource;
export const etcdClusters: Resource = etcdKind.resource;
export const postgresClusters: Resource = postgresKind.resource;
export const postgresDatabases: Resource = databaseKind.resource;
export const postgresUsers: Resource = userKind.resource;
/** Of the engine in `test/package/memcached`. */
export const memcachedClusters: Resource = {
  group: 'caches.example.com',
  version: 'v1',
  kind: 'MemcachedCluster',
  plural: 'memcachedclusters',
  namespaced: true,
};
export const backups: Resource = backupKind.resource;
export const backupSchedules: Resource = scheduleKind.resource;

/** Everything that the operator makes for a cluster, or that comes of it. */
export const childResources: readonly Resource[] = [
  statefulSets,
  pods,
  persistentVolumeClaims,
  services,
  configMaps,
  networkPolicies,
  podDisruptionBudgets,
  secrets,
];
