/**
 * Which generation of the spec a status describes. A resource that the operator has not looked at says -1, by a default of the CRD: kstatus
 * takes an object without a status for one that is ready.
 */
import type { ClusterStatus } from './status.ts';

const never = -1;

export const observedGenerationSchema = {
  type: 'integer',
  format: 'int64',
  description: 'Generation of the spec that this status describes. -1: none yet.',
  minimum: never,
} as const;

/** Of the status of every kind. The API server shows it for objects in whose place in etcd there is no status. */
export const unobservedStatus = { observedGeneration: never } as const;

/** Whether an operator has ever written the status. */
export function isObserved(status: Pick<ClusterStatus, 'observedGeneration'> | undefined): boolean {
  return (status?.observedGeneration ?? never) !== never;
}
