/** Whether workloads can be bound by the Secret with the password. */
import type { Situation } from '../observe/situation.ts';

/** While nobody has read the Secret, what was read before stands. */
export function isBindable({ cluster, spec, observed }: Pick<Situation, 'cluster' | 'spec' | 'observed'>): boolean {
  return spec.auth?.secretRef === undefined && (observed.isBindable ?? cluster.status?.binding !== undefined);
}
