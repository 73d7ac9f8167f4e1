/**
 * No node is primary. Sentinel decides where it can; the controller steps in only at the first bootstrap, and when every
 * address that the sentinels know is gone. In every other case it waits and says so.
 */
import { type ActStep, blocked, type Plan, wait } from '../../../plan/plan.ts';
import type { RedisAction } from '../action.ts';
import { choiceAnnotation, choiceOf } from '../names.ts';
import { mayElect, mayElectNow } from '../observe/failover-quorum.ts';
import type { DataNode } from '../observe/observed.ts';
import { answering } from '../observe/observed.ts';
import {
  byTerm,
  choiceNaming,
  claimOf,
  dataPodNames,
  hasHeldData,
  hasSentinelMajority,
  isChosen,
  majorityOf,
  type Situation,
} from '../observe/situation.ts';
import type { WatchingSentinel } from '../observe/topology.ts';
import { dynamicSettings } from '../resources/settings.ts';
import { elsewhere, isSeen, planLeftBy } from './elsewhere.ts';
import { heirOf, loneElector, undecidedHeirs } from './heirs.ts';
import { nodeProblem } from './node-problem.ts';
import { planElectorsLost, planQuorumLost } from './quorum-loss.ts';
import { addressOf, podAt, termFor } from './record.ts';
import { promotion, target } from './repair.ts';

const soonMs = 500;
const aloneMs = 1000;
const lostMs = 10_000;

export function planElection(situation: Situation): Plan<RedisAction> {
  return planQuorumLost(situation, electionOf(situation));
}

function electionOf(situation: Situation): Plan<RedisAction> {
  const { topology, observed, sentinelSize, nodes } = situation;
  if (nodes.length === 0) return awaitingMembers(situation, 'no Redis node answers yet', soonMs);
  const claiming = nodes.filter((node) => node.role === 'primary');
  const isForgotten =
    topology.watching.length === 0 && answering(observed.sentinels).length >= majorityOf(sentinelSize);
  if (claiming.length > 1 && !isForgotten) {
    return waiting('PrimaryContested', 'several nodes claim to be primary, and the sentinels name none of them');
  }
  const chosen = chosenByHand(situation);
  if (topology.watching.length > 0) return planSentinelElection(situation, chosen);
  if (isBlank(nodes)) return planBootstrap(situation);
  if (!isForgotten) {
    return waiting('SentinelsStarting', 'too few sentinels answer to know whether one of them knows the primary');
  }
  return chosen ?? planContested(claiming) ?? planRecovery(situation);
}

function isBlank(nodes: readonly DataNode[]): boolean {
  return nodes.every((node) => !node.failoverEligible && node.empty);
}

/** No sentinel remembers, and another may hold more than the node that takes writes: one with a later term, or of the same term. */
function planContested(claiming: readonly DataNode[]): Plan<RedisAction> | undefined {
  if (claiming.length === 0) return undefined;
  const pods = claiming.map(({ pod }) => pod).join(' and ');
  const why =
    claiming.length > 1
      ? `${pods} take writes, and the terms do not tell which of them was primary last`
      : `${pods} takes writes, but another was primary after it by the claims' terms`;
  return { steps: [], outcome: blocked('PrimaryContested', `${why}; name one in the annotation ${choiceAnnotation}`) };
}

/** One that does not hold its whole dataset may be chosen where every node answers and none does. */
function chosenByHand(situation: Situation): Plan<RedisAction> | undefined {
  const { cluster, nodes } = situation;
  const choice = choiceOf(cluster)?.pod;
  const node = nodes.find(
    ({ pod, failoverEligible }) =>
      pod === choice && (failoverEligible || (isNobodyWhole(situation) && isChosen(situation, pod))),
  );
  return node === undefined ? undefined : promoting(situation, node, `the annotation ${choiceAnnotation} names it`);
}

/** Every node answers, and none holds all that it had. */
function isNobodyWhole({ nodes, dataSize }: Situation): boolean {
  return nodes.length >= dataSize && nodes.every(({ failoverEligible }) => !failoverEligible);
}

/** While no pod runs nobody can answer: the watch of the pods tells of the next change, and nothing is asked until then. */
export function awaitingMembers({ dataPods }: Situation, message: string, recheckMs: number): Plan<RedisAction> {
  const isRunning = dataPods.some((pod) => pod.status?.phase === 'Running');
  const told = [message, ...dataPods.flatMap((pod) => nodeProblem(pod) ?? [])].join('; ');
  return { steps: [], outcome: wait('MembersStarting', told, isRunning ? recheckMs : undefined) };
}

function waiting(reason: string, message: string): Plan<RedisAction> {
  return { steps: [], outcome: wait(reason, message, soonMs) };
}

function promoting(situation: Situation, node: DataNode, why: string, term?: number): Plan<RedisAction> {
  const step: ActStep<RedisAction> = {
    type: 'act',
    action: promotion(situation, node, term),
    summary: `make ${node.pod} primary: ${why}`,
    event: 'Promote',
  };
  return { steps: [step], outcome: wait('Promoting', `${node.pod} becomes primary`, soonMs) };
}

/** Every node that answers is blank. All of them must: a silent one may hold data (safety rules G8 and R4). */
function planBootstrap(situation: Situation): Plan<RedisAction> {
  const { cluster, nodes, dataSize } = situation;
  const missing = dataPodNames(cluster, dataSize).filter((pod) => !nodes.some((node) => node.pod === pod));
  if (missing.length > 0) return waiting('MembersStarting', `waiting for ${missing.join(', ')} to answer`);
  const [seed] = nodes;
  if (seed === undefined) return waiting('MembersStarting', 'no Redis node answers yet');
  if (!hasHeldData(situation)) return promoting(situation, seed, 'the cluster is new');
  return planVolumesLost(situation, seed);
}

/** All nodes are blank, this one among them, though there was data. */
function planVolumesLost(situation: Situation, seed: DataNode): Plan<RedisAction> {
  const chosen = situation.nodes.find(({ pod }) => isChosen(situation, pod));
  if (chosen !== undefined)
    return promoting(situation, chosen, 'a person wants the cluster to begin anew, without data');
  const what = situation.dataSize === 1 ? 'the volume is blank' : 'every volume is blank';
  const advice = `to begin anew without data, set the annotation ${choiceAnnotation} to ${choiceNaming(situation, seed.pod)}`;
  return {
    steps: [],
    outcome: blocked(
      'VolumesLost',
      `${what}, though this cluster has held data; restore a backup into a new cluster, or, ${advice}`,
    ),
  };
}

/** Standalone, and the node has not said that it takes writes. One that holds its dataset takes them by itself. */
export function planAlone(situation: Situation): Plan<RedisAction> {
  const [node] = situation.nodes;
  if (node === undefined) return awaitingMembers(situation, 'the node does not answer yet', aloneMs);
  if (node.role === 'primary') {
    const message = `${node.pod} stands alone, but another node was primary after it by the claims' terms; to go on with it, name it in the annotation ${choiceAnnotation}`;
    return { steps: [], outcome: blocked('PrimaryScaledAway', message) };
  }
  if (node.failoverEligible || !hasHeldData(situation)) return promoting(situation, node, 'it stands alone');
  if (node.empty) return planVolumesLost(situation, node);
  return chosenByHand(situation) ?? lost(situation, node);
}

/**
 * The sentinels name an address. If the node that they mean has it, or enough of them know a replica that lives, the failover
 * is theirs. Another node that got the address since waits for the one that they mean, as its entry point does; and so does
 * the one that they mean, where it was stopped before its volume bore its address. Where no claim bears the address either, the
 * last primary by the terms is meant, if it has the address. It is meant as well where no sentinel has elected anybody since it was told
 * whom to watch: its term was written before, and its claim had yet to bear the address, which another's may bear from before.
 */
function planSentinelElection(situation: Situation, chosen: Plan<RedisAction> | undefined): Plan<RedisAction> {
  const { topology, dataPods, nodes, children } = situation;
  const named = topology.named;
  if (named === undefined) return planDisagreement(situation);
  const holder = dataPods.find((pod) => pod.status?.podIP === named)?.metadata.name;
  const [last] = byTerm(children, nodes);
  const claimed = podAt(children, named);
  const isElected = topology.watching.some(({ view }) => view.epoch > 0);
  const isTold = !isElected && holder !== undefined && holder === last?.pod;
  const written = isTold && claimed !== holder ? undefined : claimed;
  const meant = written ?? (holder === last?.pod ? holder : undefined);
  const isWaiting = nodes.some(({ pod, follows }) => pod === meant && follows === undefined);
  if (holder !== undefined && (meant === undefined || (meant === holder && !isWaiting))) {
    return waiting('FailoverPending', `Sentinel watches ${holder} at ${named}, which is not primary yet`);
  }
  const isStranger = (holder ?? claimed ?? memberAt(situation.cluster, named)) === undefined;
  const electing =
    isStranger && isSeen(situation, named)
      ? waiting('PrimaryElsewhere', elsewhere(named))
      : waiting('FailoverPending', 'Sentinel is electing a primary');
  if (topology.failingOver) return electing;
  const left = isStranger ? planLeftBy(situation, named, chosen) : undefined;
  if (left !== undefined) return left;
  if (mayElectNow(situation)) return electing;
  if (mayElect(situation)) return planElectorsLost(situation, meant, chosen) ?? electing;
  if (isBlank(nodes)) return planBootstrap(situation);
  if (chosen !== undefined) return chosen;
  const elector = loneElector(situation, named, isWaiting);
  if (elector !== undefined) return electingAlone(elector);
  return written === undefined && meant !== undefined ? planRecovery(situation) : planMoved(situation, named);
}

/** A failover that a sentinel is told to make needs no others, and it takes the replica that has the most. */
function electingAlone(sentinel: WatchingSentinel): Plan<RedisAction> {
  const step: ActStep<RedisAction> = {
    type: 'act',
    action: { type: 'redis.failover', sentinel: target(sentinel) },
    summary: `have ${sentinel.pod} fail over: too few sentinels remember the replicas to elect one`,
    event: 'Promote',
  };
  return { steps: [step], outcome: wait('FailoverPending', 'Sentinel is electing a primary', soonMs) };
}

/**
 * As many sentinels name one address as another. Where no pod has any of them and nobody was elected since, the operator ended
 * while it told them of a primary that has moved again: the terms, which are written before, tell whom.
 */
function planDisagreement(situation: Situation): Plan<RedisAction> {
  const { topology, dataPods } = situation;
  const addresses = new Set(dataPods.map((pod) => pod.status?.podIP));
  const isLeftToTerms = topology.watching.every(
    ({ view }) => view.epoch === 0 && !addresses.has(view.primary) && !view.failingOver,
  );
  if (isLeftToTerms && !mayElect(situation)) return planRecovery(situation);
  return waiting('SentinelsDisagree', 'the sentinels name different primaries');
}

/**
 * Nobody works at the address that the sentinels name: the claims tell whose it was. Where that is not the last primary
 * by the claims' terms, a majority of the sentinels knows better. An address that no claim tells of may be anybody's.
 */
function planMoved(situation: Situation, named: string): Plan<RedisAction> {
  const { children, cluster } = situation;
  const [last] = byTerm(children, situation.nodes);
  const pod = podAt(children, named) ?? (children.claims.length === 0 ? memberAt(cluster, named) : undefined);
  if (pod !== undefined && (pod === last?.pod || hasSentinelMajority(situation))) {
    return promotingLast(situation, pod, 'it was primary before every address changed');
  }
  const isElsewhere = last !== undefined && addressOf(claimOf(children, last.pod)) !== undefined;
  return pod === undefined && !isElsewhere ? planRecovery(situation) : unknown();
}

function lost(situation: Situation, { pod, empty }: DataNode): Plan<RedisAction> {
  const choice = isNobodyWhole(situation)
    ? `no node holds what it had; to go on with what one has, name it and its UID in the annotation ${choiceAnnotation}, as in ${choiceNaming(situation, pod)}`
    : `name a replica in the annotation ${choiceAnnotation}`;
  const why = empty ? 'is blank' : 'does not hold what it had: its process ended before that was written down';
  return {
    steps: [],
    // It may be elected again where it was only behind another that does not come back: nobody tells of that.
    outcome: blocked('PrimaryVolumeLost', `${pod} was primary and its volume ${why}; ${choice}`, lostMs),
  };
}

/** Nodes without claims leave no other trace. */
function memberAt({ status }: Situation['cluster'], address: string): string | undefined {
  return status?.members?.find((member) => member.address === address)?.name;
}

/**
 * Data exists, nobody remembers who was primary but the claims and the volumes: the highest term was the last. Claims of nodes
 * that were scaled away count, too: one of them may be ahead of all that are left.
 */
function planRecovery(situation: Situation): Plan<RedisAction> {
  const { cluster, children, nodes } = situation;
  const [first, second] = byTerm(children, nodes);
  const remembered = cluster.status?.primary;
  const last = first?.pod ?? remembered;
  const isTied = first !== undefined && first.term === second?.term;
  // The status is older than what the node's own volume says. Of two such nodes the terms are tied.
  const isSure = nodes.some(({ term }) => term?.wasPrimary === true && term.number === first?.term);
  const isContradicted = !isSure && remembered !== undefined && remembered !== last;
  if (last === undefined || isTied || isContradicted) return unknown();
  const doubt = first === undefined ? undefined : laterThan(situation, first);
  return doubt ?? promotingLast(situation, last, 'it was primary last');
}

/**
 * Somebody may have been primary after the last one that is known: a volume has heard of a later term, or its own says that
 * it was made a replica. Or those who do not answer are enough for a primary that takes writes, with replicas of its own.
 */
function laterThan(situation: Situation, { pod, term }: { pod: string; term: number }): Plan<RedisAction> | undefined {
  const { cluster, nodes, dataSize } = situation;
  const missing = dataPodNames(cluster, dataSize).filter((name) => !nodes.some((node) => node.pod === name));
  const witness = nodes.find(
    (node) =>
      (node.term?.number ?? 0) > term || (node.pod === pod && node.term?.number === term && !node.term.wasPrimary),
  );
  const needed = Number(dynamicSettings(cluster)['min-replicas-to-write'] ?? 0);
  if (witness === undefined && missing.length <= needed) return undefined;
  if (missing.length === 0) return unknown();
  const why = witness === undefined ? 'may have been' : `was, as the volume of ${witness.pod} tells,`;
  const message = `waiting for ${missing.join(', ')}: one that does not answer ${why} primary after ${pod}; to go on without, name a pod in the annotation ${choiceAnnotation}`;
  return waiting('PrimaryStarting', message);
}

function unknown(): Plan<RedisAction> {
  return {
    steps: [],
    outcome: blocked(
      'PrimaryUnknown',
      `nodes hold data and nobody knows which was primary last; name one in the annotation ${choiceAnnotation}`,
    ),
  };
}

function promotingLast(situation: Situation, pod: string, why: string): Plan<RedisAction> {
  const { cluster, nodes, dataSize } = situation;
  if (!dataPodNames(cluster, dataSize).includes(pod)) {
    return {
      steps: [],
      outcome: blocked(
        'PrimaryScaledAway',
        `${pod} was primary last and is not among the ${dataSize} data nodes; raise replicas until it is, ` +
          `or name another in the annotation ${choiceAnnotation}`,
      ),
    };
  }
  const heir = heirOf(situation, pod);
  if (heir !== undefined) {
    return promoting(situation, heir, `it kept running when ${pod} ended`, termFor(situation, heir));
  }
  const undecided = undecidedHeirs(situation, pod);
  if (undecided.length > 0) {
    const message = `waiting until ${undecided.join(', ')} answers or has stopped: replicas kept running when ${pod} ended, and may have more; to go on without, name a pod in the annotation ${choiceAnnotation}`;
    return waiting('PrimaryStarting', message);
  }
  const node = nodes.find((candidate) => candidate.pod === pod);
  if (node === undefined) return waiting('PrimaryStarting', `waiting for ${pod}, the last primary, to answer`);
  if (!node.failoverEligible) return lost(situation, node);
  return promoting(situation, node, why);
}
