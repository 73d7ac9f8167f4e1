/**
 * A failover in the middle of a rollout may leave an older server behind a primary whose copies it cannot read. It waits for
 * ever, and everybody for it; but the new template can read them.
 */
import { outdatedPods } from '../../../plan/rollout.ts';
import type { Pod } from '../../../resources/children.ts';
import { atLeast } from '../kind/server.ts';
import { redisNames } from '../names.ts';
import type { DataNode } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';

/** The next pod to restart for this reason, also while other members are not well. Undefined while a data pod terminates. */
export function leftBehindPod(situation: Situation, primary: DataNode): Pod | undefined {
  const { children, cluster, nodes, dataPods } = situation;
  if (dataPods.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) return undefined;
  const dataSet = children.statefulSet(redisNames(cluster.metadata.name).data);
  const behind = nodes.filter((node) => isLeftBehind(node, situation, primary));
  return outdatedPods(dataSet, dataPods).find(({ metadata }) => behind.some(({ pod }) => pod === metadata.name));
}

/** A replica whose primary cannot write a copy for it asks about ten times a second. In a healthy cluster, a primary begins far fewer copies. */
const vainSyncs = 20;

/**
 * Redis empties itself for a copy that it then cannot read. Valkey 9 finds out itself that it cannot write one for an older server, which
 * asks again and again, and keeps what it had. A restart may only take that where a volume keeps it or another replica has more.
 */
function isLeftBehind(node: DataNode, { nodes, dataSize, spec }: Situation, primary: DataNode): boolean {
  if (node.follows !== primary.address || atLeast(node.version, primary.version)) return false;
  if (node.copyRefused) return true;
  const getsNone = !node.linkUp && primary.fullSyncs >= vainSyncs && nodes.length >= dataSize;
  return getsNone && (!spec.storage.ephemeral || primary.replicas.length > 0);
}
