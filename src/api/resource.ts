/** The resources of others that the project reads or writes. A static table: the controller never asks for discovery. */
import type { KubeObject, Resource } from './object.ts';

const namespaced = (group: string, version: string, kind: string, plural: string): Resource => ({
  group,
  version,
  kind,
  plural,
  namespaced: true,
});

export const pods = namespaced('', 'v1', 'Pod', 'pods');
export const services = namespaced('', 'v1', 'Service', 'services');
export const configMaps = namespaced('', 'v1', 'ConfigMap', 'configmaps');
export const secrets = namespaced('', 'v1', 'Secret', 'secrets');
export const persistentVolumeClaims = namespaced('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims');
export const serviceAccounts = namespaced('', 'v1', 'ServiceAccount', 'serviceaccounts');
export const roles = namespaced('rbac.authorization.k8s.io', 'v1', 'Role', 'roles');
export const roleBindings = namespaced('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'rolebindings');
export const statefulSets = namespaced('apps', 'v1', 'StatefulSet', 'statefulsets');
/** Earlier templates of StatefulSets. */
export const controllerRevisions = namespaced('apps', 'v1', 'ControllerRevision', 'controllerrevisions');
export const jobs = namespaced('batch', 'v1', 'Job', 'jobs');
export const cronJobs = namespaced('batch', 'v1', 'CronJob', 'cronjobs');
export const networkPolicies = namespaced('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies');
export const podDisruptionBudgets = namespaced('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets');
/** Of cert-manager: served only where that is installed. */
export const certificates = namespaced('cert-manager.io', 'v1', 'Certificate', 'certificates');
export const leases = namespaced('coordination.k8s.io', 'v1', 'Lease', 'leases');
export const events = namespaced('events.k8s.io', 'v1', 'Event', 'events');

const builtIn: readonly Resource[] = [
  pods,
  services,
  configMaps,
  secrets,
  persistentVolumeClaims,
  serviceAccounts,
  roles,
  roleBindings,
  statefulSets,
  jobs,
  cronJobs,
  networkPolicies,
  podDisruptionBudgets,
  certificates,
  leases,
  events,
];

/** The resource of a built-in object, by its apiVersion and kind. Throws on a kind that is not in the table. */
export function resourceOf(object: Pick<KubeObject, 'apiVersion' | 'kind'>): Resource {
  const found = builtIn.find(
    (r) => r.kind === object.kind && object.apiVersion === (r.group === '' ? r.version : `${r.group}/${r.version}`),
  );
  if (found === undefined) throw new Error(`no resource is known for ${object.apiVersion} ${object.kind}`);
  return found;
}
