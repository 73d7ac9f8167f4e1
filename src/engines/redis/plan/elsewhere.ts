/**
 * Sentinel takes whatever copies from the primary for one of its nodes, unless that refuses it, and may elect it. The nodes follow it then,
 * and it refuses their name: they are without a link for as long as it is there. Once it ends, Sentinel passes over every node whose
 * link has been down for more than ten times `downAfter`, and for more the longer that lasts. So where the primary of before does not come
 * back, nobody is ever elected.
 */
import { blocked, type Plan } from '../../../plan/plan.ts';
import type { RedisAction } from '../action.ts';
import { choiceOf } from '../names.ts';
import { byTerm, choiceNaming, isChosen, majorityOf, type Situation } from '../observe/situation.ts';
import { isPassedOver } from './heirs.ts';
import { adviceFor, newestFirst } from './quorum-loss.ts';

/** It may be elected again where a node is started anew, and nobody tells of that. */
const leftMs = 10_000;

/** A majority of the sentinels have had an answer from it just now. */
export function isSeen({ topology: { watching }, sentinelSize }: Situation, address: string): boolean {
  const seeing = watching.filter(({ view }) => view.primary === address && view.seesPrimary);
  return seeing.length >= majorityOf(sentinelSize);
}

export function elsewhere(address: string): string {
  return `Sentinel has elected ${address}, which is no node of this cluster but has copied from it: stop that server, or make it copy from nobody at another address; then Sentinel elects one of the nodes, or the status says which to choose; what it has taken since is on it alone`;
}

/** It has ended, and Sentinel passes over all nodes: a person has to choose. `chosen`: the plan for the one that was named. */
export function planLeftBy(
  situation: Situation,
  address: string,
  chosen: Plan<RedisAction> | undefined,
): Plan<RedisAction> | undefined {
  const [best] = situation.nodes.filter(({ failoverEligible }) => failoverEligible).sort(newestFirst);
  if (best === undefined || !areAllPassedOver(situation, address)) return undefined;
  const choice = choiceOf(situation.cluster)?.pod;
  if (chosen !== undefined && choice !== undefined && isChosen(situation, choice)) return chosen;
  const told = `Sentinel had elected ${address}, which was no node of this cluster and has ended, and elects none of the nodes: they have been without a link for too long${lastBack(situation, best.pod)}`;
  return { steps: [], outcome: blocked('PrimaryElsewhere', `${told}; ${adviceFor(situation, best)}`, leftMs) };
}

/** What only the server from elsewhere had copied, it may have; its offset tells nothing, since it counts anew. */
function lastBack(situation: Situation, best: string): string {
  const [last] = byTerm(situation.children, situation.nodes);
  const isBack = situation.nodes.some(({ pod, empty }) => pod === last?.pod && pod !== best && !empty);
  return last === undefined || !isBack
    ? ''
    : `; ${choiceNaming(situation, last.pod)}, the last primary, is back, and may have what the others lack`;
}

/**
 * Also those that do not answer here. One that Sentinel does not hear either it cannot elect, and knows nothing of its link: such as the
 * primary of before, whose pod may be there for as long as its machine is gone.
 */
function areAllPassedOver({ topology, nodes, dataPods, sentinelSize }: Situation, address: string): boolean {
  const { watching } = topology;
  const alive = new Set(dataPods.map((pod) => pod.status?.podIP));
  const heard = new Set(nodes.map((node) => node.address));
  const passing = watching.filter(({ view }) => {
    const known = view.replicas.filter(
      ({ address: at, priority, down }) => priority > 0 && alive.has(at) && (!down || heard.has(at)),
    );
    const isWithout = known.length > 0 && known.every((replica) => isPassedOver(replica, view));
    return view.primary === address && view.primaryDown && isWithout;
  });
  return passing.length === watching.length && passing.length >= majorityOf(sentinelSize);
}
