/** Why a Backup or a BackupSchedule finds no cluster of the kind and name that it is about. */

import { absentTarget } from '../engine/absent-target.ts';
import type { KindHandler, ObjectReference } from '../engine/engine.ts';
import type { EngineContext } from '../engine/engine-context.ts';
import { blocked, type Outcome } from '../plan/plan.ts';

/** `databases`: those that can be backed up. */
export function absentCluster(
  databases: readonly Pick<KindHandler, 'kind'>[],
  cluster: ObjectReference,
  io?: EngineContext,
): Outcome {
  const kinds = databases.map((database) => database.kind.resource.kind);
  return kinds.includes(cluster.kind)
    ? absentTarget(cluster, io)
    : blocked('UnknownKind', `spec.cluster.kind is ${cluster.kind}, and this operator backs up ${kinds.join(', ')}`);
}
