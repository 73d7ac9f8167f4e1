/** The kinds of objects that the operator watches besides its own: it waits until it has seen each of them whole. */
import type { Resource } from './object.ts';
import {
  certificates,
  configMaps,
  cronJobs,
  jobs,
  networkPolicies,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  roleBindings,
  roles,
  serviceAccounts,
  services,
  statefulSets,
} from './resource.ts';

/** Every kind that an engine's children may be of, Secrets apart. */
export const childResources: readonly Resource[] = [
  configMaps,
  services,
  serviceAccounts,
  roles,
  roleBindings,
  networkPolicies,
  podDisruptionBudgets,
  statefulSets,
  persistentVolumeClaims,
  pods,
  jobs,
  cronJobs,
  certificates,
];

/** Of somebody else's: where the API server does not serve them, or not to us, there are none. */
export const optionalResources: readonly Resource[] = [certificates];
