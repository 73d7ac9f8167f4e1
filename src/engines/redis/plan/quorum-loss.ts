/**
 * Too few sentinels are left to elect a primary: machines were lost for good, and nobody can make room for their pods.
 * Only a person can know that those who do not answer will not return with newer data. What they have to know stands in
 * the status, and their word counts for the very pod that they name, as long as all of this holds:
 *
 * - the sentinels that answer are fewer than have to agree, so none of them can elect anybody;
 * - Kubernetes has lost sight of everybody who does not answer, too: it is not only the operator who is cut off;
 * - nobody who answers has more data: a later term, or in the same term a higher offset.
 *
 * The sentinel that is left does it: a failover that it is told to make needs no quorum, and gets an epoch of its own. So
 * whoever returns after all follows, instead of standing beside the new primary as another.
 */
import { type Plan, wait } from '../../../plan/plan.ts';
import { type Pod, podIsReady } from '../../../resources/children.ts';
import type { RedisAction } from '../action.ts';
import { choiceAnnotation, choiceOf } from '../names.ts';
import { answering, type DataNode } from '../observe/observed.ts';
import { choiceNaming, isChosen, majorityOf, type Situation } from '../observe/situation.ts';
import { heirsOf } from './heirs.ts';
import { promotion, target } from './repair.ts';
import { eligibilityStep } from './scaling.ts';

const soonMs = 500;

/** The plan itself where somebody can still help, or where it cannot be told that nobody can. */
export function planQuorumLost(situation: Situation, plan: Plan<RedisAction>): Plan<RedisAction> {
  const { cluster, nodes, observed, spec, topology } = situation;
  const votes = answering(observed.sentinels).length;
  const isStrong = votes >= votesNeeded(situation);
  const [best] = nodes.filter(({ failoverEligible }) => failoverEligible).sort(newestFirst);
  const isStuck = plan.steps.length === 0 && plan.outcome.state === 'wait';
  if (!isStuck || isStrong || best === undefined || topology.failingOver) return plan;
  const silent = silentIn(situation);
  if (silent.some((name) => !isLost(podNamed(situation, name)))) return plan;
  const choice = choiceOf(cluster);
  const told = `${votes} of ${spec.sentinel.replicas} sentinels answer, too few to elect a primary${list(silent)}`;
  if (choice?.uid === undefined) return waiting(`${told}; ${adviceFor(situation, best)}`);
  const node = nodes.find(({ pod, failoverEligible }) => pod === choice.pod && failoverEligible);
  if (node === undefined || podNamed(situation, node.pod)?.metadata.uid !== choice.uid) {
    const refused = `the annotation ${choiceAnnotation} names a pod that is not there, or holds no data`;
    return waiting(`${told}; ${refused}; ${adviceFor(situation, best)}`);
  }
  if (newestFirst(node, best) > 0) {
    return waiting(`${told}; ${node.pod} was chosen, but has less than ${best.pod}; ${adviceFor(situation, best)}`);
  }
  return forcing(situation, node, told);
}

/**
 * Enough sentinels answer for the quorum, and the address that they watch is gone. Those of them that are new know nobody, since a
 * primary that is gone introduces nobody: only who does not answer could help the others to elect. Undefined where that may
 * still run. `meant`: the pod that they name; `chosen`: the plan for the one that a person has named.
 */
export function planElectorsLost(
  situation: Situation,
  meant: string | undefined,
  chosen: Plan<RedisAction> | undefined,
): Plan<RedisAction> | undefined {
  const { cluster, nodes, observed } = situation;
  const { named } = situation.topology;
  const silent = silentIn(situation);
  const votes = answering(observed.sentinels).length;
  if (votes < votesNeeded(situation)) return undefined;
  const [newest] = nodes.filter(({ failoverEligible }) => failoverEligible).sort(newestFirst);
  if (newest === undefined || silent.some((name) => !isLost(podNamed(situation, name)))) return undefined;
  const told = `the ${votes} sentinels that answer cannot elect a primary without those that do not${list(silent)}`;
  const choice = choiceOf(cluster)?.pod;
  const node = nodes.find(({ pod }) => pod === choice);
  const isNewest = nodes.every(({ term }) => (term?.number ?? 0) <= (node?.term?.number ?? 0));
  if (chosen !== undefined && choice !== undefined && isChosen(situation, choice) && isNewest) return chosen;
  const isSurpassed = named !== undefined && heirsOf(situation, named, true).length > 0;
  const last = isSurpassed ? undefined : nodes.find(({ pod, failoverEligible }) => pod === meant && failoverEligible);
  const why = last === undefined ? mostOf(newest) : `${last.pod} was primary last`;
  return waiting(`${told}; ${why}; ${toChoose(situation, last ?? newest)}`);
}

/** The quorum; or fewer, where one that was told of less before it was raised has enough others that it knows. */
function votesNeeded({ topology, observed, spec: { sentinel } }: Situation): number {
  const alive = new Set(answering(observed.sentinels).map(({ address }) => address));
  const enough = topology.watching.flatMap(({ view }) => {
    const quorum = Number(view.settings.quorum ?? sentinel.quorum);
    const needed = Math.max(quorum, majorityOf(1 + view.peers.length));
    return 1 + view.peers.filter(({ address }) => alive.has(address)).length >= needed ? [needed] : [];
  });
  return Math.min(sentinel.quorum, ...enough);
}

function silentIn({ observed }: Situation): string[] {
  return [...observed.data, ...observed.sentinels].flatMap((node) => (node.state === 'silent' ? node.pod : []));
}

/** Offsets of different terms count different streams: a primary that was cut off may have counted further by itself. */
export function newestFirst(a: DataNode, b: DataNode): number {
  return (b.term?.number ?? 0) - (a.term?.number ?? 0) || b.offset - a.offset;
}

function forcing(situation: Situation, node: DataNode, told: string): Plan<RedisAction> {
  const { watching } = situation.topology;
  const summary = `make ${node.pod} primary: a person has chosen it, and too few sentinels are left to elect one`;
  const outcome = wait('Promoting', `${node.pod} becomes primary`, soonMs);
  if (watching.length === 0) {
    return { steps: [{ type: 'act', action: promotion(situation, node), summary }], outcome };
  }
  const sentinel = watching.find(({ view }) =>
    view.replicas.some(({ address, priority, down }) => address === node.address && priority > 0 && !down),
  );
  if (sentinel === undefined) return waiting(`${told}; no sentinel that answers knows ${node.pod}`);
  // Sentinel would take the one with the highest offset, of whatever term.
  const others = situation.nodes.filter(
    (other) =>
      other.offset > node.offset &&
      sentinel.view.replicas.some(({ address, priority }) => address === other.address && priority > 0),
  );
  if (others.length > 0) {
    const demote = others.flatMap((other) => (other.failoverEligible ? [eligibilityStep(other, false)] : []));
    const message = `Sentinel has yet to see that it must not elect ${others.map(({ pod }) => pod).join(', ')}`;
    return { steps: demote, outcome: wait('Demoting', message, soonMs) };
  }
  return { steps: [{ type: 'act', action: { type: 'redis.failover', sentinel: target(sentinel) }, summary }], outcome };
}

function waiting(message: string): Plan<RedisAction> {
  return { steps: [], outcome: wait('QuorumLost', message, soonMs) };
}

export function adviceFor(situation: Situation, best: DataNode): string {
  return `${mostOf(best)}; ${toChoose(situation, best)}`;
}

function mostOf({ pod, offset, term }: DataNode): string {
  const when = term === undefined ? '' : `term ${term.number}, `;
  return `${pod} has the most data of those that answer (${when}offset ${offset})`;
}

function toChoose(situation: Situation, { pod }: DataNode): string {
  const choice = choiceNaming(situation, pod);
  return `if the others are gone for good, set the annotation ${choiceAnnotation} to ${choice}`;
}

function podNamed({ dataPods, sentinelPods }: Situation, name: string): Pod | undefined {
  return [...dataPods, ...sentinelPods].find(({ metadata }) => metadata.name === name);
}

/** Kubernetes cannot run it, or does not hear of it either. One that is being started is neither. */
function isLost(pod: Pod | undefined): boolean {
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return true;
  const isUnschedulable = pod.status?.conditions?.some(
    ({ type, status }) => type === 'PodScheduled' && status === 'False',
  );
  return isUnschedulable === true || (pod.status?.phase === 'Running' && !podIsReady(pod));
}

function list(names: readonly string[]): string {
  return names.length === 0 ? '' : `; no answer from ${names.join(', ')}`;
}
