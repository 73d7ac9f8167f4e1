/**
 * Who must not be met. A `MEET` makes two clusters one for good: each takes over whatever the other's epochs say of its slots. So a node
 * is met only where it is proven to be this cluster's: it takes the identity, and it is either blank, or has the ID that the claim of its
 * volume says, and everybody it knows is a node of this cluster. A volume may be a copy of another cluster's.
 */
import { blocked, type Outcome } from '../../../../plan/plan.ts';
import { nodeAnnotation } from '../../names.ts';
import type { ShardNode } from '../../observe/shards/observed.ts';
import { claimOfNode, type ShardsSituation } from '../../observe/shards/situation.ts';
import { absentNodes, isBlank, knownIn } from '../../observe/shards/views.ts';
import { isFreshlyRestored } from './restored.ts';

export function strangersOutcome(situation: ShardsSituation): Outcome | undefined {
  const unknown = absentNodes(situation).filter(({ pod }) => pod === undefined);
  const ids = new Set(unknown.map(({ id }) => id));
  const [knowing] = situation.nodes.filter((node) => knownIn(node).some(({ id }) => ids.has(id)));
  if (knowing !== undefined) {
    const [first] = knownIn(knowing).filter(({ id }) => ids.has(id));
    const where = first === undefined || first.address === '' ? '' : ` at ${first.address}`;
    return blocked(
      'ForeignNode',
      `${knowing.pod} knows node ${first?.id ?? ''}${where}, which is of no pod of this cluster: no node is met, and no slot is moved; if it is gone, run CLUSTER FORGET on every node, otherwise the volume of ${knowing.pod} may be of another cluster`,
    );
  }
  const [other] = situation.nodes.filter((node) => !isOwn(situation, node));
  if (other === undefined) return undefined;
  return blocked(
    'ForeignNode',
    `${other.pod} is node ${other.id}, which this cluster has never had, and it is not blank: its volume may be of another cluster; it is not met`,
  );
}

/** Blank, of a restore, as its claim says, or known to one that is. */
function isOwn(situation: ShardsSituation, node: ShardNode): boolean {
  const isRecorded = (one: ShardNode): boolean =>
    claimOfNode(situation, one)?.metadata.annotations?.[nodeAnnotation] === one.id;
  if (isBlank(node) || isRecorded(node) || isFreshlyRestored(situation, node)) return true;
  const recorded = situation.nodes.filter(isRecorded);
  // Somebody has taken the annotations of all claims: those that know each other are one cluster already.
  const sure = recorded.length > 0 ? recorded : situation.nodes.filter((one) => one !== node);
  return sure.some((one) => knownIn(one).some(({ id }) => id === node.id));
}
