/**
 * The primary is known: bring every process in line with it. Nothing here interrupts anybody, so one pass may repair
 * many processes; what Sentinel is about to do itself is left to it.
 */
import type { ActStep } from '../../../plan/plan.ts';
import type { RedisAction, Target } from '../action.ts';
import { isFenced, requiredReplicas } from '../names.ts';
import { answering, type DataNode, hasAll } from '../observe/observed.ts';
import { majorityOf, type Situation } from '../observe/situation.ts';
import type { WatchingSentinel } from '../observe/topology.ts';
import { sentinelSettings } from '../resources/config.ts';
import { hasFence } from '../resources/fence.ts';
import { settingsToChange, settingsToHold } from '../resources/settings.ts';
import { planLogins, watchesAsCluster } from './introduce.ts';
import { commonLimit, maxmemoryWithin } from './memory.ts';
import { ownReplicas } from './other-replicas.ts';

type Act = ActStep<RedisAction>;

export function target(node: Target): Target {
  return { pod: node.pod, address: node.address };
}

/** Makes the node primary beside those that are replicas as far as was seen. `term`: see the action. */
export function promotion({ nodes }: Situation, node: DataNode, term?: number): RedisAction {
  const others = nodes.filter(({ pod, role }) => pod !== node.pod && role === 'replica').map(target);
  return { type: 'redis.promote', node: target(node), others, ...(term === undefined ? {} : { term }) };
}

/** Everybody watches and follows the primary, with the settings of the spec. Empty when all is in line. */
export function planRepairs(situation: Situation, primary: DataNode): Act[] {
  if (awaitsSentinels(situation, primary)) return planLogins(situation, primary);
  return [
    ...planLogins(situation, primary),
    ...watchSteps(situation, primary),
    ...followSteps(situation, primary),
    ...tuneSteps(situation, primary),
  ];
}

/**
 * A single node has got sentinels, and its pod does not see them yet. If its process ended, it would start again as primary beside one that they
 * had elected. So nobody watches or follows it before.
 */
export function awaitsSentinels({ topology, spec }: Situation, primary: DataNode): boolean {
  return spec.mode === 'Sentinel' && topology.watching.length === 0 && primary.asksSentinels !== true;
}

function watchSteps(situation: Situation, primary: DataNode): Act[] {
  const { observed, topology, dataPods } = situation;
  const addresses = new Set(dataPods.map((pod) => pod.status?.podIP));
  const knowing = topology.watching.filter((s) => s.view.primary === primary.address);
  const epochs = new Set(knowing.map((s) => s.view.epoch));
  return answering(observed.sentinels).flatMap((sentinel): Act[] => {
    const { view } = sentinel;
    if (view?.primary === primary.address || view?.failingOver === true) return [];
    // Sentinels that name different living nodes come to agree by themselves, on the newer view. Two failovers that were
    // asked for at once have the same epoch: then neither side gives in.
    const isTied = view !== undefined && epochs.has(view.epoch);
    const willAgree = topology.failingOver || (epochs.size > 0 && !isTied);
    if (view !== undefined && willAgree && addresses.has(view.primary)) return [];
    return [
      {
        type: 'act',
        action: {
          type: 'redis.monitor',
          sentinel: target(sentinel),
          primary: primary.address,
          ...(view === undefined ? {} : { instead: view.primary }),
          identity: watchesAsCluster(situation, sentinel),
        },
        summary: `tell ${sentinel.pod} to watch ${primary.pod}`,
      },
    ];
  });
}

/**
 * A node that follows nobody has nothing to lose. Others lose what they have beyond the primary, so they are told only
 * where a majority of the sentinels can confirm it (safety rule R4). None of them is told while the sentinels may be about
 * to elect another.
 */
function followSteps(situation: Situation, primary: DataNode): Act[] {
  const { nodes, topology, spec, dataPods } = situation;
  const { watching, failingOver } = topology;
  // A primary that is being stopped hands over: whoever claims to be primary beside it is its successor.
  const leaving = dataPods.find((pod) => pod.metadata.name === primary.pod)?.metadata.deletionTimestamp !== undefined;
  if (leaving) return [];
  if (failingOver || watching.some((s) => s.view.primary !== primary.address)) return [];
  if (mayBeReplaced(situation)) return [];
  const confirmed = watching.length >= majorityOf(spec.sentinel.replicas);
  const assigned = (node: DataNode): boolean => node.role === 'primary' || node.follows !== undefined;
  return nodes.flatMap((node): Act[] =>
    node.address === primary.address || node.follows === primary.address || (assigned(node) && !confirmed)
      ? []
      : [
          {
            type: 'act',
            action: { type: 'redis.follow', node: target(node), from: node.role, primary: primary.address },
            summary: `make ${node.pod} a replica of ${primary.pod}`,
          },
        ],
  );
}

/**
 * Whether those sentinels that may want another primary are a quorum. A node that follows acknowledges writes from then
 * on, and as long as the sentinels do not know it they may elect one that lacks them. One that watches nobody has no vote;
 * one that is silent has, whatever its pod looks like from here: the node itself cannot tell either, and would leave again.
 */
function mayBeReplaced({ observed, sentinelSize, spec }: Situation): boolean {
  const content = answering(observed.sentinels).filter(({ view }) => view?.seesPrimary !== false).length;
  return sentinelSize - content >= spec.sentinel.quorum;
}

export function configureSteps(situation: Pick<Situation, 'cluster' | 'nodes' | 'dataPods'>): Act[] {
  const { cluster, nodes, dataPods } = situation;
  const limit = commonLimit(cluster, dataPods);
  const wanted = settingsToHold(cluster, limit);
  return nodes.flatMap((node): Act[] => {
    const maxmemory = maxmemoryWithin(limit, wanted.maxmemory ?? '0', node.settings.maxmemory);
    const fitting = {
      ...wanted,
      maxmemory,
      [requiredReplicas]: requiredReplicasOf(situation, node, wanted[requiredReplicas]),
    };
    const settings = settingsToChange(fitting, node.settings) as Record<string, string>;
    const names = Object.keys(settings);
    return names.length === 0
      ? []
      : [
          {
            type: 'act',
            action: { type: 'redis.configure', node: target(node), settings },
            summary: `set ${names.map((name) => `${name} ${settings[name]}`).join(', ')} on ${node.pod}`,
          },
        ];
  });
}

/**
 * A primary refuses every write while it has fewer replicas than this. So the number rises with the replicas that are in sync, and not
 * before: new nodes take a while to come. It never falls below what the primary has been told, since that may be cut off from its replicas.
 * Of a fenced primary its pod decides, where there is a fence.
 */
function requiredReplicasOf(situation: Pick<Situation, 'cluster' | 'dataPods'>, node: DataNode, wanted = '0'): string {
  const { role, settings } = node;
  if (role === 'replica') return wanted;
  if (isFenced(settings) && hasFence(situation.cluster)) return settings[requiredReplicas] ?? wanted;
  const inSync = ownReplicas(situation, node).length;
  return String(Math.min(Number(wanted), Math.max(Number(settings[requiredReplicas] ?? 0), inSync)));
}

function tuneSteps(situation: Situation, primary: DataNode): Act[] {
  const { cluster, topology, observed } = situation;
  const wanted = sentinelSettings(cluster);
  return topology.watching.flatMap((sentinel): Act[] => {
    const actual = sentinel.view.settings;
    const fitting = Object.entries({ ...wanted, quorum: quorumOf(sentinel, situation) });
    const settings = Object.fromEntries(fitting.filter(([name, value]) => actual[name] !== value));
    // One that lacks the password reaches nobody; one that was just reset has not tried yet.
    const isShutOut = sentinel.view.primaryDown && !sentinel.view.authenticated;
    const inOrder = Object.keys(settings).length === 0 && !isShutOut;
    if (inOrder || sentinel.view.primary !== primary.address) return [];
    return [
      {
        type: 'act',
        action: {
          type: 'redis.tuneSentinel',
          sentinel: target(sentinel),
          identity: hasAll(sentinel, 'identity') && observed.identity === undefined,
          settings,
        },
        summary: `set ${wordsOf(settings)} on ${sentinel.pod}`,
      },
    ];
  });
}

/**
 * A larger quorum counts once the sentinel knows all that there are to be. New ones find the others through the primary: where that ends
 * before they run, nobody would ever hear of them, and those of before could elect nobody once one of them is away. More than half of
 * those that it knows have to agree in any case.
 */
function quorumOf({ view }: WatchingSentinel, { spec: { sentinel } }: Situation): string {
  const known = 1 + view.peers.filter(({ down }) => !down).length;
  const told = Number(view.settings.quorum ?? sentinel.quorum);
  const least = Math.min(sentinel.quorum, Math.max(told, majorityOf(known)));
  return String(known >= sentinel.replicas ? sentinel.quorum : least);
}

function wordsOf(settings: Readonly<Record<string, string>>): string {
  const words = Object.entries(settings).map((entry) => entry.join(' '));
  return words.length === 0 ? 'the password' : words.join(', ');
}

/**
 * Sentinels never forget a replica or a peer by themselves, and a peer that is gone still counts as a voter. A reset
 * blinds a sentinel for about two seconds, so one is reset at a time, while a majority of the others sees everything.
 */
export function planForgetting(situation: Situation, primary: DataNode): Act | undefined {
  const { topology, spec } = situation;
  const { watching } = topology;
  if (topology.failingOver || watching.some((s) => s.view.primary !== primary.address)) return undefined;
  const stale = watching.find((sentinel) => remembersTheDead(sentinel, situation, primary));
  if (stale === undefined) return undefined;
  const seeing = watching.filter((sentinel) => sentinel !== stale && seesEverybody(sentinel, situation, primary));
  if (seeing.length + 1 < majorityOf(spec.sentinel.replicas) || seeing.length + 1 < watching.length) return undefined;
  return {
    type: 'act',
    action: { type: 'redis.forget', sentinel: target(stale) },
    summary: `make ${stale.pod} forget members that are gone`,
  };
}

/** A server from elsewhere that copies from the primary is none of them: the primary would tell the sentinel of it again at once. */
function remembersTheDead(
  { view }: WatchingSentinel,
  { dataPods, sentinelPods }: Situation,
  { replicas: copying }: DataNode,
): boolean {
  const data = new Set(dataPods.map((pod) => pod.status?.podIP));
  const peers = new Set(sentinelPods.map((pod) => pod.status?.podIP));
  return (
    view.replicas.some(({ address, down }) => down && !data.has(address) && !copying.includes(address)) ||
    view.peers.some((peer) => peer.down && !peers.has(peer.address))
  );
}

/** Whether a sentinel knows every replica and every peer that lives. */
export function seesEverybody(sentinel: WatchingSentinel, situation: Situation, primary: DataNode): boolean {
  const { view } = sentinel;
  const replicas = new Set(view.replicas.map((replica) => replica.address));
  const peers = new Set(view.peers.map((peer) => peer.address));
  return (
    view.primary === primary.address &&
    situation.nodes.every((node) => node.address === primary.address || replicas.has(node.address)) &&
    answering(situation.observed.sentinels).every((peer) => peer.pod === sentinel.pod || peers.has(peer.address))
  );
}
