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

/**
 * `members`: the numbers of those whose StatefulSets are this cluster's. Until then, the name of a pod may be that of somebody else's, which
 * these pods may not change.
 */
export function accessOfPods(cluster: Cluster<PostgresSpec>, members: readonly number[], part: Part): KubeObject[] {
  const { name, namespace } = cluster.metadata;
  const { account, state } = postgresNames(name);
  const metadata = ownedMetadata(cluster, account, part);
  const core = [''];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata,
      rules: [
        { apiGroups: core, resources: ['configmaps'], resourceNames: [state.leader], verbs: ['get'] },
        { apiGroups: core, resources: ['configmaps'], resourceNames: stateNames(name), verbs: ['patch'] },
        // Without names, a rule is about all pods.
        ...(members.length === 0
          ? []
          : [
              {
                apiGroups: core,
                resources: ['pods'],
                resourceNames: members.map((index) => podName(name, index)),
                verbs: ['patch'],
              },
            ]),
        // A list by labels cannot be held to names.
        { apiGroups: core, resources: ['configmaps', 'pods'], verbs: ['list', 'watch'] },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name: account },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    },
  ];
}
