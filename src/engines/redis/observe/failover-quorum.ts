/**
 * Whether Sentinel can still elect a primary by itself, now that no pod has the address that it watches. Sentinels find each
 * other, and the replicas, through the nodes that they know. Those that have begun just before the primary ended may know none,
 * or one of them alone: a paused primary (`hand-over.sh`) spreads no word of theirs. It tells nobody anything any more, so
 * that remains so for ever, and no election begins: a sentinel counts only those that it knows.
 */
import { answering, type SentinelNode } from './observed.ts';
import { majorityOf, type Situation } from './situation.ts';
import type { WatchingSentinel } from './topology.ts';

interface Electors {
  /** Addresses of data nodes. */
  readonly alive: ReadonlySet<string | undefined>;
  /** Sentinels that are not heard, each of which may help any other. */
  readonly unheard: number;
}

/** One of them knows a replica that it may elect, and may know enough others for the quorum; also one who does not answer now. */
export function mayElect(situation: Situation): boolean {
  const { observed, sentinelSize, dataPods } = situation;
  const heard = answering(observed.sentinels).length;
  // What one knows that does not answer cannot be told.
  const unheard = Math.max(sentinelSize, observed.sentinels.length) - heard;
  return canElect(situation, { alive: new Set(dataPods.map((pod) => pod.status?.podIP)), unheard });
}

/** Whether the sentinels that answer now can elect a primary by themselves, without another sentinel coming back. */
export function mayElectNow(situation: Situation): boolean {
  return canElect(situation, { alive: new Set(situation.nodes.map(({ address }) => address)), unheard: 0 });
}

function canElect({ topology, observed, spec }: Situation, { alive, unheard }: Electors): boolean {
  const heard = answering(observed.sentinels);
  return topology.watching.some((sentinel) => {
    const hasCandidate = sentinel.view.replicas.some((r) => r.priority > 0 && alive.has(r.address));
    const others = heard.filter((other) => other !== sentinel && mayMeet(sentinel, other, alive));
    return hasCandidate && 1 + others.length + unheard >= votesNeeded(sentinel, spec.sentinel.quorum);
  });
}

/**
 * What Sentinel asks of who is to fail over: its quorum, and a majority of all sentinels that it has met, those that have gone
 * since among them. A quorum that the spec has raised may not have reached it yet.
 */
function votesNeeded({ view: { settings, peers } }: WatchingSentinel, wanted: number): number {
  return Math.max(Math.min(wanted, Number(settings.quorum ?? wanted)), majorityOf(1 + peers.length));
}

/** One knows the other, or both know a node that lives: they introduce themselves there. */
function mayMeet(one: WatchingSentinel, other: SentinelNode, alive: ReadonlySet<string | undefined>): boolean {
  const { view } = one;
  const isKnown = view.peers.some(({ address }) => address === other.address);
  if (isKnown || other.view === undefined) return isKnown;
  const theirs = other.view.replicas;
  return (
    other.view.peers.some(({ address }) => address === one.address) ||
    view.replicas.some((r) => alive.has(r.address) && theirs.some(({ address }) => address === r.address))
  );
}
