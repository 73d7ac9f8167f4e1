/** The operator's account and rights, and what people may do with our kinds. */
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import type { KindDefinition } from '../api/kind.ts';
import type { KindHandler, PolicyRule } from '../engine/engine.ts';
import { ownPermissions, watchedPermissions } from '../jobs/permissions.ts';
import { operatorLabels, operatorName, type Watch } from './operator-identity.ts';
import { mergeRules } from './rbac.ts';

export interface AccessOptions {
  readonly namespace: string;
  readonly clusterScopedName: string;
  readonly watch: Watch;
  readonly handlers: readonly KindHandler[];
  readonly dryRuns: boolean;
}

/** Rights must be there before the pods that use them. */
const early = { 'argocd.argoproj.io/sync-wave': '-1' };
const rbacGroup = 'rbac.authorization.k8s.io';

/** cdk8s's types want arrays that it could write to; it does not. */
function rulesOf(rules: readonly PolicyRule[]): k8s.PolicyRule[] {
  return mergeRules(rules) as unknown as k8s.PolicyRule[];
}

export function operatorAccess(scope: Construct, options: AccessOptions): void {
  const { namespace, clusterScopedName, watch, handlers, dryRuns } = options;
  const common = { labels: operatorLabels, annotations: early };
  const subjects = [{ kind: 'ServiceAccount', name: operatorName, namespace }];

  new k8s.KubeServiceAccount(scope, 'account', {
    metadata: { ...common, name: operatorName, namespace },
    automountServiceAccountToken: false,
  });

  const grant = (id: string, name: string, where: string, rules: readonly PolicyRule[]): void => {
    const metadata = { ...common, name, namespace: where };
    new k8s.KubeRole(scope, id, { metadata, rules: rulesOf(rules) });
    new k8s.KubeRoleBinding(scope, `${id}-binding`, {
      metadata,
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name },
      subjects,
    });
  };
  grant('leader', `${operatorName}-leader`, namespace, ownPermissions);

  const rules = watchedPermissions(handlers, dryRuns);
  if ('all' in watch) {
    const metadata = { ...common, name: clusterScopedName };
    new k8s.KubeClusterRole(scope, 'watch', { metadata, rules: rulesOf(rules) });
    new k8s.KubeClusterRoleBinding(scope, 'watch-binding', {
      metadata,
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: clusterScopedName },
      subjects,
    });
    return;
  }
  for (const where of new Set(watch.namespaces)) grant(`watch-${where}`, operatorName, where, rules);
}

/** Adds the kinds, each in its own API group, to the roles view, edit and admin that Kubernetes brings along. */
export function userRoles(scope: Construct, clusterScopedName: string, handlers: readonly KindHandler[]): void {
  for (const verb of ['view', 'edit'] as const) {
    const rules = handlers.flatMap(({ kind }) => rulesFor(kind)[verb]);
    new k8s.KubeClusterRole(scope, `user-${verb}`, {
      metadata: {
        name: `${clusterScopedName}-${verb}`,
        labels: { ...operatorLabels, [`${rbacGroup}/aggregate-to-${verb}`]: 'true' },
        annotations: early,
      },
      rules: rulesOf(rules),
    });
  }
}

function rulesFor({ resource: { group, plural }, scale }: KindDefinition): Record<'view' | 'edit', PolicyRule[]> {
  const apiGroups = [group];
  const scales = scale === undefined ? [] : [`${plural}/scale`];
  return {
    view: [
      { apiGroups, resources: [plural, `${plural}/status`, ...scales], verbs: ['get'] },
      { apiGroups, resources: [plural], verbs: ['list', 'watch'] },
    ],
    edit: [
      { apiGroups, resources: [plural], verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
      ...scales.map((name) => ({ apiGroups, resources: [name], verbs: ['update', 'patch'] })),
    ],
  };
}
