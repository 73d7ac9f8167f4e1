/** The operator's account and rights, and what people may do with our kinds. */
import {
  ClusterRole,
  ClusterRoleBinding,
  type IClusterRole,
  type IRole,
  type IServiceAccount,
  type k8s,
  Role,
  RoleBinding,
  ServiceAccount,
} from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import type { KindDefinition } from '../api/kind.ts';
import type { KindHandler, PolicyRule } from '../engine/engine.ts';
import { ownPermissions, watchedPermissions } from '../jobs/permissions.ts';
import { operatorLabels, operatorName } from './operator-identity.ts';
import { mergeRules } from './rbac.ts';
import { setFields } from './set-fields.ts';
import type { Watch } from './watch.ts';

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

/**
 * Roles of cdk8s-plus write a rule for each resource, and in a ClusterRole an empty list of names, which says "all names": people who
 * review what the operator may do would read thirty rules for ten.
 */
function allow(role: Role | ClusterRole, rules: readonly PolicyRule[]): void {
  // Its types want arrays that it could write to; it does not.
  setFields<k8s.KubeRoleProps>(role, '', { rules: mergeRules(rules) as unknown as k8s.PolicyRule[] });
}

/**
 * The classes of cdk8s-plus fit its interfaces only without `exactOptionalPropertyTypes`: hence the casts.
 *
 * @returns the account of the operator's pods
 */
export function operatorAccess(scope: Construct, options: AccessOptions): IServiceAccount {
  const { namespace, clusterScopedName, watch, handlers, dryRuns } = options;
  const common = { labels: operatorLabels, annotations: early };

  const account = new ServiceAccount(scope, 'account', {
    metadata: { ...common, name: operatorName, namespace },
    automountToken: false,
  });

  const grant = (id: string, name: string, where: string, rules: readonly PolicyRule[]): void => {
    const metadata = { ...common, name, namespace: where };
    const role = new Role(scope, id, { metadata });
    allow(role, rules);
    new RoleBinding(scope, `${id}-binding`, { metadata, role: role as IRole }).addSubjects(account);
  };
  grant('leader', `${operatorName}-leader`, namespace, ownPermissions);

  const rules = watchedPermissions(handlers, dryRuns);
  if ('all' in watch) {
    const metadata = { ...common, name: clusterScopedName };
    const role = new ClusterRole(scope, 'watch', { metadata });
    allow(role, rules);
    new ClusterRoleBinding(scope, 'watch-binding', { metadata, role: role as IClusterRole }).addSubjects(account);
  } else {
    // Another operator may watch the same namespace, with a Role of its own.
    const name = `${clusterScopedName}-watch`;
    for (const where of new Set(watch.namespaces)) grant(`watch-${where}`, name, where, rules);
  }
  return account as IServiceAccount;
}

/** Adds the kinds, each in its own API group, to the roles view, edit and admin that Kubernetes brings along. */
export function userRoles(scope: Construct, clusterScopedName: string, handlers: readonly KindHandler[]): void {
  for (const verb of ['view', 'edit'] as const) {
    const rules = handlers.flatMap(({ kind }) => rulesFor(kind)[verb]);
    const role = new ClusterRole(scope, `user-${verb}`, {
      metadata: {
        name: `${clusterScopedName}-${verb}`,
        labels: { ...operatorLabels, [`${rbacGroup}/aggregate-to-${verb}`]: 'true' },
        annotations: early,
      },
    });
    allow(role, rules);
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
