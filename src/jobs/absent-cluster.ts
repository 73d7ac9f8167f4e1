/** Why a Backup or a BackupSchedule finds no cluster of the kind and name that it is about. */

import type { KindHandler, ObjectReference } from '../engine/engine.ts';
import { blocked, type Outcome, wait } from '../plan/plan.ts';

/** `databases`: those that can be backed up. */
export function absentCluster(
  databases: readonly Pick<KindHandler, 'kind'>[],
  { kind, name }: ObjectReference,
): Outcome {
  const kinds = databases.map((database) => database.kind.resource.kind);
  return kinds.includes(kind)
    ? wait('ClusterMissing', `there is no ${kind} ${name} in this namespace`)
    : blocked('UnknownKind', `spec.cluster.kind is ${kind}, and this operator backs up ${kinds.join(', ')}`);
}
