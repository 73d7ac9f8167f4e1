/**
 * TLS on servers that run, beside plaintext. They accept it as soon as their pods have the certificate. When the spec asks for it no more, each
 * goes on accepting it until no client has been connected with it to any of them for ten minutes.
 *
 * Since when that is so is in the condition `PortUnused`. If it is lost, the time begins anew.
 */
import type { DesiredCondition } from '../../../api/condition.ts';
import type { SpecWarning } from '../../../engine/spec-warnings.ts';
import { type ActStep, type Outcome, wait } from '../../../plan/plan.ts';
import type { RedisAction } from '../action.ts';
import { redisNames, tlsPort } from '../names.ts';
import { readEveryMs } from '../observe/certificates.ts';
import type { DataNode } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
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
  return situation.spec.tls === undefined ? closingSteps(situation) : securingSteps(situation);
}

function securingSteps({ observed, nodes, cluster }: Situation): Act[] {
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
    summary: `have ${node.pod} accept no TLS any more`,
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
  if (observed.certificates.copy === undefined) return true;
  return nodes.some(({ tls, shown }) => tls?.port !== tlsPort || (shown !== undefined && 'why' in shown));
}

function whyNotSecured(situation: Situation, node: DataNode): string | undefined {
  const { copy } = situation.observed.certificates ?? {};
  if (copy === undefined) return undefined;
  if (node.tls === undefined) return `${node.pod} does not know TLS: its image was built without`;
  if (!hasRead(node, copy.digest)) {
    return `${node.pod} has yet to read the certificate, which its kubelet brings within two minutes`;
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

function isOver(situation: Situation): boolean {
  const { cluster, observed } = situation;
  const standing = cluster.status?.conditions?.find(({ type, status }) => type === 'PortUnused' && status === 'True');
  if (standing === undefined || !isUnusedNow(situation)) return false;
  return (observed.at ?? 0) >= Date.parse(standing.lastTransitionTime) + unusedMs;
}

export function portClaims(situation: Situation): DesiredCondition[] {
  if (!isUnusedNow(situation)) return [];
  const message = `no client is connected with TLS; port ${tlsPort} is closed when this has been so for ten minutes`;
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
  const message = `clients are connected with TLS to ${words.join(', ')}, which the spec does not ask for: port ${tlsPort} stays open until none has been for ten minutes`;
  return [{ reason: 'TLSInUse', message }];
}
