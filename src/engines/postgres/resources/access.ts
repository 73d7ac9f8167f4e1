/**
 * What the pods of a cluster may do in Kubernetes. Patroni elects by a lock in a ConfigMap, and labels pods.
 *
 * It may not make a ConfigMap. The operator makes the four once, for a new cluster, so that a lost one stops elections instead of
 * beginning a new history.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { KubeObject } from '../../../api/object.ts';
import { ownedMetadata, type Part } from '../../../resources/metadata.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { podName, postgresNames, stateNames } from '../names.ts';

const rbac = 'rbac.authorization.k8s.io';

/** Whom the pods run as. */
export function accountOfPods(cluster: Cluster<PostgresSpec>, part: Part): KubeObject {
  const metadata = ownedMetadata(cluster, postgresNames(cluster.metadata.name).account, part);
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false };
}

/**
 * `members`: the numbers of those whose StatefulSets are this cluster's. Until then, the name of a pod may be that of somebody else's, which
 * these pods may not change. So the StatefulSets are made first. The RoleBinding is made after the Role: the API server lets the operator
 * bind only a Role that exists and grants no more than the operator may do itself.
 */
export function roleOfPods(cluster: Cluster<PostgresSpec>, members: readonly number[], part: Part): KubeObject[] {
  const { name, namespace } = cluster.metadata;
  const { account, state } = postgresNames(name);
  const core = [''];
  const pods = members.map((index) => podName(name, index));
  const metadata = ownedMetadata(cluster, account, part);
  const role = {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata,
    rules: [
      { apiGroups: core, resources: ['configmaps'], resourceNames: [state.leader], verbs: ['get'] },
      { apiGroups: core, resources: ['configmaps'], resourceNames: stateNames(name), verbs: ['patch'] },
      // Without names, a rule is about all pods.
      ...(pods.length === 0 ? [] : [{ apiGroups: core, resources: ['pods'], resourceNames: pods, verbs: ['patch'] }]),
      // A list by labels cannot be held to names.
      { apiGroups: core, resources: ['configmaps', 'pods'], verbs: ['list', 'watch'] },
    ],
  };
  const binding = {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: rbac, kind: 'Role', name: account },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  };
  return [role, binding];
}
