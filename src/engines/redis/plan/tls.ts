/**
 * TLS on servers that run, beside plaintext. They accept it as soon as their pods have the certificate. When the spec asks for it no more, each
 * goes on accepting it until no client has been connected with it to any of them for ten minutes.
 *
 * Since when that is so is in the condition `PortUnused`. If it is lost, the time begins anew.
 */
import type { Condition, DesiredCondition } from '../../../api/condition.ts';
import type { SpecWarning } from '../../../engine/spec-warnings.ts';
import { type ActStep, type Outcome, wait } from '../../../plan/plan.ts';
import { outdatedPods } from '../../../plan/rollout.ts';
import type { RedisAction } from '../action.ts';
import { redisNames, tlsPort } from '../names.ts';
import { readEveryMs } from '../observe/certificates.ts';
import type { DataNode } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { mountsCertificate } from './held-template.ts';
import { awaitedCertificate, doesShow, hasRead, isCopyUnderWay } from './issuance.ts';
import { target } from './repair.ts';

type Act = ActStep<RedisAction>;

/** How often to look again while kubelets bring the certificate to the pods. */
const underWayMs = 5_000;
/** For so long nobody has to have been connected to a port before it is closed. */
const unusedMs = 600_000;
/** Between two looks at who is connected. */
const peersMs = 12_000;

/** They interrupt nobody, so all nodes are told at once. */
export function tlsSteps(situation: Situation): Act[] {
  if (situation.spec.tls !== undefined) return securingSteps(situation);
  const closing = closingSteps(situation);
  // Those that still accept TLS get a renewed certificate.
  return closing.length > 0 ? closing : securingSteps({ ...situation, nodes: openNodes(situation) });
}

export function securingSteps({ observed, nodes, cluster }: Situation): Act[] {
  const { copy } = observed.certificates ?? {};
  if (copy === undefined) return [];
  const { certificate } = redisNames(cluster.metadata.name);
  return nodes
    .filter((node) => node.tls !== undefined && !hasRead(node, copy.digest))
    .map((node) => ({
      type: 'act',
      action: { type: 'redis.secure', node: target(node), digest: copy.digest },
      summary: `have ${node.pod} accept TLS with the certificate in Secret ${certificate}`,
    }));
}

function closingSteps(situation: Situation): Act[] {
  if (!isOver(situation)) return [];
  return openNodes(situation).map((node) => ({
    type: 'act',
    action: { type: 'redis.closeTls', node: target(node) },
    summary: `close the TLS port of ${node.pod}`,
  }));
}

/** What is under way; undefined where nothing is. Nothing else waits for it. */
export function untilSecured(situation: Situation): Outcome | undefined {
  if (situation.spec.tls === undefined) return undefined;
  const awaited = awaitedCertificate(situation);
  if (awaited !== undefined) return awaited;
  const [why] = situation.nodes.flatMap((node) => whyNotSecured(situation, node) ?? []);
  return why === undefined ? undefined : wait('SecuringConnections', why, underWayMs);
}

/** Whether clients with TLS may be refused. Not where servers have yet to show a renewed certificate. */
export function isUnsecured(situation: Situation): boolean {
  const { spec, observed, nodes } = situation;
  if (spec.tls === undefined || observed.certificates === undefined) return false;
  const { copy, unread } = observed.certificates;
  if (copy === undefined && unread === undefined) return true;
  return nodes.some(({ tls }) => tls?.port !== tlsPort);
}

/** What clients with TLS meet, though nothing is under way: a certificate that has expired, for one. */
export function tlsProblems(situation: Situation): string[] {
  const { spec, observed, nodes } = situation;
  const { digest } = observed.certificates?.copy ?? {};
  if (spec.tls === undefined) return [];
  return nodes.flatMap((node) => {
    const isRefused = hasRead(node, digest) && node.shown !== undefined && 'why' in node.shown;
    return isRefused ? (whyNotSecured(situation, node) ?? []) : [];
  });
}

/**
 * Why nobody is interrupted who could be spared: a node accepts no TLS, though others do, and its pod has all that it takes. If they restarted
 * one after the other, all of them could come to lack it.
 */
export function untilRegained(situation: Situation): Outcome | undefined {
  const { spec, observed, nodes, dataPods, children, cluster } = situation;
  const { copy } = observed.certificates ?? {};
  const set = children.statefulSet(redisNames(cluster.metadata.name).data);
  if (spec.tls === undefined || copy === undefined || set === undefined || !mountsCertificate(set)) return undefined;
  const accepts = ({ tls, shown }: DataNode): boolean =>
    tls?.port === tlsPort && (shown === undefined || 'fingerprint' in shown);
  // Those restart to get it.
  const outdated = outdatedPods(set, dataPods).map(({ metadata }) => metadata.name);
  const lost = nodes.filter((node) => node.tls !== undefined && !accepts(node) && !outdated.includes(node.pod));
  const [why] = nodes.some(accepts) ? lost.flatMap((node) => whyNotSecured(situation, node) ?? []) : [];
  return why === undefined ? undefined : wait('SecuringConnections', why, underWayMs);
}

function whyNotSecured(situation: Situation, node: DataNode): string | undefined {
  const { copy } = situation.observed.certificates ?? {};
  if (copy === undefined) return undefined;
  const set = situation.children.statefulSet(redisNames(situation.cluster.metadata.name).data);
  if (set !== undefined && !mountsCertificate(set))
    return `${node.pod} has no volume for the certificate before it restarts`;
  if (node.tls === undefined) return `${node.pod} does not know TLS: its image was built without`;
  if (!hasRead(node, copy.digest)) {
    return node.tls.staged === copy.digest
      ? `${node.pod} has the certificate and does not show it yet: if this lasts, its server refuses the certificate, and the log of the server says why`
      : `${node.pod} waits for its kubelet to mount the certificate, which takes up to two minutes`;
  }
  if (doesShow(situation, node)) return undefined;
  const why = node.shown !== undefined && 'why' in node.shown ? node.shown.why : 'it shows another certificate';
  return `${node.pod} does not accept TLS as it should: ${why}`;
}

/** How long a cluster at rest is left alone; undefined where nothing of TLS has to be looked at. */
export function tlsRecheckMs(situation: Situation): number | undefined {
  if (situation.spec.tls === undefined) return openNodes(situation).length === 0 ? undefined : peersMs;
  return isCopyUnderWay(situation) ? underWayMs : readEveryMs;
}

function openNodes({ nodes }: Pick<Situation, 'nodes'>): DataNode[] {
  return nodes.filter(({ tls }) => tls?.port === tlsPort);
}

const isUnused = ({ peers }: DataNode): boolean => peers !== undefined && 'connected' in peers && peers.connected === 0;

/** Every node has been asked, and none of those that accept TLS has a client with it. */
function isUnusedNow(situation: Situation): boolean {
  const open = openNodes(situation);
  const isHeard = situation.nodes.length === situation.dataPods.length;
  return situation.spec.tls === undefined && open.length > 0 && isHeard && open.every(isUnused);
}

function standing({ cluster }: Situation): Condition | undefined {
  return cluster.status?.conditions?.find(({ type, status }) => type === 'PortUnused' && status === 'True');
}

/** When it was seen last that nobody is connected, to the minute: in the condition, or nobody would know after a restart of the operator. */
const seenAt = ({ observed }: Situation): string =>
  new Date(Math.floor((observed.at ?? 0) / 60_000) * 60_000).toISOString();

/** For longer nobody has looked. */
const gapMs = 180_000;

function isInterrupted(situation: Situation): boolean {
  const [, last] = / seen at (\S+);/.exec(standing(situation)?.message ?? '') ?? [];
  return last !== undefined && (situation.observed.at ?? 0) - Date.parse(last) > gapMs;
}

function isOver(situation: Situation): boolean {
  const { lastTransitionTime } = standing(situation) ?? {};
  if (lastTransitionTime === undefined || !isUnusedNow(situation) || isInterrupted(situation)) return false;
  return (situation.observed.at ?? 0) >= Date.parse(lastTransitionTime) + unusedMs;
}

/** After a gap it is taken back for one look, so that the time begins anew. */
export function portClaims(situation: Situation): DesiredCondition[] {
  if (!isUnusedNow(situation) || isInterrupted(situation)) return [];
  const message = `no client is connected with TLS, last seen at ${seenAt(situation)}; port ${tlsPort} is closed when this has been so for ten minutes`;
  return [{ type: 'PortUnused', status: 'True', reason: 'NoTLSClients', message }];
}

/** Nobody is told to go: the port stays open for those who use it. */
export function portWarnings(situation: Situation): SpecWarning[] {
  if (situation.spec.tls !== undefined) return [];
  const words = openNodes(situation).flatMap(({ pod, peers }) => {
    if (peers === undefined || ('connected' in peers && peers.connected === 0)) return [];
    return 'unknown' in peers ? [`${pod} (${peers.unknown})`] : [pod];
  });
  if (words.length === 0) return [];
  const message = `clients are connected with TLS, or may be, to ${words.join(', ')}, which the spec does not ask for: port ${tlsPort} stays open until none has been for ten minutes`;
  return [{ reason: 'TLSInUse', message }];
}
