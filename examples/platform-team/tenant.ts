/** What a team gets: a namespace with a quota, roles for its people, and databases. */
import { Chart } from 'cdk8s';
import { ClusterRole, Group, k8s, RoleBinding } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { type Size, tenantDatabases } from './tenant-databases.ts';

export interface Tenant {
  /** Also the name of the namespace. */
  readonly name: string;
  readonly size: Size;
  /** Groups of the identity provider. */
  readonly developers: string;
  readonly auditors: string;
}

/**
 * Pods of the operator have requests for CPU and memory, and a limit for memory, but none for CPU. So there is no quota for
 * `limits.cpu`: with one, Kubernetes would refuse every pod without that limit.
 */
const quotas = {
  small: { 'requests.cpu': '4', 'requests.memory': '8Gi', 'limits.memory': '8Gi', 'requests.storage': '100Gi' },
  large: { 'requests.cpu': '16', 'requests.memory': '48Gi', 'limits.memory': '48Gi', 'requests.storage': '1Ti' },
} as const;

/** Not part of a chart with a namespace: a Namespace is in none. */
export function tenantNamespace(scope: Construct, { name }: Tenant): void {
  new k8s.KubeNamespace(scope, `namespace-${name}`, {
    metadata: {
      name,
      labels: { 'example.com/tenant': name, 'pod-security.kubernetes.io/enforce': 'restricted' },
      // In an Application of Argo CD: before the operator's Role in this namespace, which has the wave -1.
      annotations: { 'argocd.argoproj.io/sync-wave': '-2' },
    },
  });
}

export class TenantChart extends Chart {
  constructor(scope: Construct, { name, size, developers, auditors }: Tenant) {
    super(scope, `tenant-${name}`, { namespace: name });

    // cdk8s-plus has no construct for a quota, so this is the plain Kubernetes object.
    const hard = Object.entries(quotas[size]).map(([key, value]) => [key, k8s.Quantity.fromString(value)]);
    new k8s.KubeResourceQuota(this, 'quota', {
      metadata: { name: 'tenant' },
      spec: { hard: Object.fromEntries(hard) },
    });

    // `edit` and `view` are roles of Kubernetes. The operator adds its kinds to them (`extendUserRoles`).
    this.bind('edit', developers);
    this.bind('view', auditors);
    tenantDatabases(this, size);
  }

  private bind(role: string, group: string): void {
    const binding = new RoleBinding(this, `bind-${role}`, {
      metadata: { name: `tenant-${role}` },
      role: ClusterRole.fromClusterRoleName(this, role, role),
    });
    binding.addSubjects(Group.fromName(this, `group-${role}`, group));
  }
}
