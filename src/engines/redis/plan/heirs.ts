/**
 * The replicas that kept running when the primary ended. What they hold, the primary may lack, though it is back: with the power, a machine
 * loses what was not flushed yet, a second of the append-only file. Sentinel elects among them, where it can; this is about where it cannot.
 */
import type { DataNode, KnownReplica, SentinelView } from '../observe/observed.ts';
import { claimOf, dataPodNames, type Situation } from '../observe/situation.ts';
import type { WatchingSentinel } from '../observe/topology.ts';
import { dynamicSettings } from '../resources/settings.ts';
import { addressOf } from './record.ts';

/** Those that may be elected; none where one still has the link, and so says that the primary lives, or is being stopped. */
export function heirsOf(situation: Situation, former: string, isBack: boolean): readonly DataNode[] {
  const left = leftBy(situation, former, isBack);
  const leaving = leavingIn(situation);
  return left.some(({ pod }) => leaving.has(pod)) ? [] : left.filter(({ failoverEligible }) => failoverEligible);
}

/**
 * Who followed the primary that ended; nobody where one still has the link. `isBack`: the primary answers at another address than `former`, so
 * links to that are none any more.
 */
function leftBy({ nodes }: Situation, former: string, isBack: boolean): readonly DataNode[] {
  const left = nodes.filter(({ follows }) => follows === former);
  return !isBack && left.some(({ linkUp }) => linkUp) ? [] : left;
}

/** Names of the data pods that are being stopped. */
function leavingIn({ dataPods }: Situation): ReadonlySet<string> {
  return new Set(
    dataPods.flatMap(({ metadata: { name, deletionTimestamp } }) => (deletionTimestamp === undefined ? [] : name)),
  );
}

/**
 * Whom to wait for where some kept running: who is being stopped, however long that takes, and who runs and does not answer. The last primary,
 * which is back, may have less than they. A pod that does not run has nothing that kept running. Names of pods.
 */
export function undecidedHeirs(situation: Situation, lastPrimary: string): readonly string[] {
  const { cluster, dataSize, nodes } = situation;
  const former = movedFrom(situation, lastPrimary);
  const left = nodes.filter(({ follows, failoverEligible }) => failoverEligible && follows === former);
  if (former === undefined || left.length === 0) return [];
  const leaving = leavingIn(situation);
  const silent = dataPodNames(cluster, dataSize).filter(
    (name) => name !== lastPrimary && isRunning(situation, name) && !nodes.some(({ pod }) => pod === name),
  );
  return [...left.flatMap(({ pod }) => (leaving.has(pod) ? [pod] : [])), ...silent];
}

function isRunning({ dataPods }: Situation, name: string): boolean {
  return dataPods.some(({ metadata, status }) => metadata.name === name && status?.phase === 'Running');
}

/**
 * It kept running, and has yet to load its first copy. Or it was added, and has not run yet, or has run only since nobody is
 * primary, with nothing to copy from: where it runs would have been written down. One with a term has had a link, and so a copy.
 */
function neverHadData(situation: Situation, name: string, former: string): boolean {
  const node = situation.nodes.find(({ pod }) => pod === name);
  const isBlank = node?.empty === true && !node.failoverEligible && node.term === undefined;
  if (isBlank && node.follows === former) return true;
  if (addressOf(claimOf(situation.children, name)) !== undefined) return false;
  return node === undefined ? !isRunning(situation, name) : isBlank;
}

/** The address that the last primary had; undefined where a pod has it still. */
function movedFrom({ children, dataPods }: Situation, lastPrimary: string): string | undefined {
  const former = addressOf(claimOf(children, lastPrimary));
  return dataPods.some((pod) => pod.status?.podIP === former) ? undefined : former;
}

/** A sentinel that would elect if it had enough others to agree with: it takes the primary for down, and could elect each of the heirs. */
export function loneElector(situation: Situation, named: string, isBack: boolean): WatchingSentinel | undefined {
  const heirs = heirsOf(situation, named, isBack);
  if (heirs.length === 0) return undefined;
  return situation.topology.watching.find(
    ({ view }) =>
      view.primary === named &&
      view.primaryDown &&
      heirs.every(({ address }) => view.replicas.some((r) => r.address === address && mayInherit(r, view))),
  );
}

function mayInherit(replica: KnownReplica, view: SentinelView): boolean {
  return replica.priority > 0 && !replica.down && !isPassedOver(replica, view);
}

/** As Sentinel has it: one that was without its primary for long before that went down may lack much. */
export function isPassedOver({ unlinkedMs = 0 }: KnownReplica, { settings }: SentinelView): boolean {
  const [downMs = 0, downAfterMs = 0] = ['s-down-time', 'down-after-milliseconds'].map((name) =>
    Number(settings[name] ?? 0),
  );
  return unlinkedMs > downMs + 10 * downAfterMs;
}

/**
 * No sentinel remembers: the one with the most, where all but the last primary kept running, those apart that never had data. It cannot have
 * taken writes for long without one of them; of fewer nodes nobody can tell. So one that is being stopped counts as long as it answers; it is
 * not made primary itself.
 */
export function heirOf(situation: Situation, lastPrimary: string): DataNode | undefined {
  const { cluster, dataSize, nodes } = situation;
  const former = movedFrom(situation, lastPrimary);
  if (former === undefined || Number(dynamicSettings(cluster)['min-replicas-to-write'] ?? 0) === 0) return undefined;
  const isBack = nodes.some(({ pod, follows }) => pod === lastPrimary && follows === undefined);
  const heirs = leftBy(situation, former, isBack).filter(({ failoverEligible }) => failoverEligible);
  const others = dataPodNames(cluster, dataSize).filter(
    (pod) => pod !== lastPrimary && !neverHadData(situation, pod, former),
  );
  if (!others.every((name) => heirs.some(({ pod }) => pod === name))) return undefined;
  const leaving = leavingIn(situation);
  const most = Math.max(...heirs.map(({ offset }) => offset));
  return heirs.find(({ pod, offset }) => offset === most && !leaving.has(pod));
}
