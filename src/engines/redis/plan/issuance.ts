/**
 * What has to be made of the certificates of a cluster: that of the operator's own CA, where the spec asks for it, and the copy that servers show.
 * The steps of the copy are those of `plan/copying.ts`. No step takes a restart: a server reads all files anew when it is told.
 */
import { shortened } from '../../../api/bounds.ts';
import type { Cluster } from '../../../api/cluster.ts';
import type { DesiredCondition } from '../../../api/condition.ts';
import { certificates } from '../../../api/resource.ts';
import type { SpecWarning } from '../../../engine/spec-warnings.ts';
import { type Copying, type CopyTakers, copying } from '../../../plan/copying.ts';
import { type Issuing, issuing } from '../../../plan/issuance.ts';
import { ownerOf } from '../../../plan/objects.ts';
import { blocked, type ObjectStep, type Outcome, wait } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { redisNames, tlsPort } from '../names.ts';
import type { CertificatesSeen } from '../observe/certificates.ts';
import type { DataNode } from '../observe/observed.ts';
import { withServedTls } from '../observe/served-tls.ts';
import type { Situation } from '../observe/situation.ts';
import {
  authorityWanted,
  certificateMayFail,
  copyWanted,
  issuedSecret,
  patienceMs,
  trustedIn,
  trustedSince,
} from '../resources/certificates.ts';
import { childrenWithOpenPort } from './open-port.ts';

type Seen = Pick<Situation, 'cluster' | 'children' | 'observed' | 'nodes' | 'dataPods' | 'dataSize'>;

/** Secrets are not watched. */
const issuingMs = 1_000;
const missingMs = 5_000;
const unusableMs = 30_000;

/** Only the copy follows the operator's own CA, and it has steps of its own. So nobody has to be waited for. */
const nobody = { areNone: true, areUpToDate: true } as const;

export function issuanceSteps(seen: Seen): ObjectStep[] {
  const { cluster, children, observed } = seen;
  // What a new cluster begins with is shown only where the spec asks for it.
  const isKnown = cluster.spec.tls !== undefined || observed.certificates !== undefined;
  const served = isKnown ? withServedTls(cluster, children) : cluster;
  return [...stepsOf(served, observed.certificates, takersIn(seen), observed.at), ...unusedRequests(seen)];
}

/** What cert-manager is not asked for any more, or it would renew it for ever. The Secret that it has written stays. */
function unusedRequests(seen: Seen): ObjectStep[] {
  const { cluster, children } = seen;
  const live = children.get('Certificate', redisNames(cluster.metadata.name).issued);
  if (live === undefined || live.metadata.deletionTimestamp !== undefined) return [];
  if (childrenWithOpenPort(seen).some(({ object }) => object.kind === live.kind)) return [];
  const { uid } = cluster.metadata;
  const ref = uid !== undefined && ownerOf(live) === uid ? refOf(live, certificates) : undefined;
  const reason = 'the spec does not ask for it any more';
  return ref === undefined ? [] : [{ type: 'delete', ref, reason, ...certificateMayFail }];
}

/** Renewals, where nobody was asked what runs. A copy is made where there is none, and gets another CA only beside the one before. */
export function renewals(cluster: Cluster<RedisSpec>, seen: CertificatesSeen | undefined, now: number): ObjectStep[] {
  return stepsOf(cluster, seen, { areNone: false, areUpToDate: false, trustSource: true }, now);
}

function stepsOf(
  cluster: Cluster<RedisSpec>,
  seen: CertificatesSeen | undefined,
  takers: CopyTakers,
  now = 0,
): ObjectStep[] {
  if (seen?.unread !== undefined) return [];
  const own = authorityWanted(cluster);
  // Where nobody has looked, as in an offline plan, what a new cluster begins with is shown.
  const nothing = { authority: { digest: '' }, leaves: {} };
  const made = own === undefined ? [] : (issuing(own, seen?.own ?? nothing, nobody, now) ?? []);
  const copy = copyingOf(cluster, seen ?? nothingSeen, takers, now);
  const due = copy?.state === 'due' ? [copy] : [];
  return [...made, ...due].map(({ secret, issue, reason }: Issuing) => ({
    type: 'issue',
    object: issuedSecret(cluster, secret).object,
    issue,
    reason,
    ...certificateMayFail,
  }));
}

const nothingSeen: CertificatesSeen = { source: { source: { digest: '' }, copy: { digest: '' } } };

/** Undefined where the spec asks for no TLS, and where nobody has looked. */
function copyingOf(
  cluster: Cluster<RedisSpec>,
  seen: CertificatesSeen | undefined,
  takers: CopyTakers,
  now: number,
): Copying | undefined {
  const wanted = copyWanted(cluster);
  return wanted === undefined || seen === undefined || seen.unread !== undefined
    ? undefined
    : copying(wanted, seen.source, takers, now);
}

const copyingIn = (seen: Seen): Copying | undefined =>
  copyingOf(
    withServedTls(seen.cluster, seen.children),
    seen.observed.certificates,
    takersIn(seen),
    seen.observed.at ?? 0,
  );

/**
 * Servers do not check each other: none of them can be cut off by a copy that is made anew with another CA. Clients can, whether or not a server
 * runs: so a copy that is there never skips a step.
 */
function takersIn(seen: Seen): CopyTakers {
  const { nodes, dataPods, dataSize, observed } = seen;
  const { copy } = observed.certificates ?? {};
  const isHeard = nodes.length === dataPods.length;
  return {
    areNone: false,
    areUpToDate:
      isKnownToClients(seen) &&
      isHeard &&
      nodes.length >= dataSize &&
      nodes.every((node) => hasRead(node, copy?.digest) && doesShow(seen, node)),
    trustSource: true,
  };
}

/** Clients can have read the CAs of the copy: their ConfigMap has had them for long enough. It may have been written long after the copy. */
function isKnownToClients({ cluster, children, observed }: Seen): boolean {
  const live = children.get('ConfigMap', redisNames(cluster.metadata.name).serverCa);
  const { copy } = observed.certificates ?? {};
  if (live === undefined || copy === undefined || trustedIn(live) !== copy.trusted) return false;
  const now = observed.at ?? 0;
  const since = trustedSince(live, now);
  return since !== undefined && now >= since + patienceMs;
}

/** It accepts TLS, with the files of this digest. */
export function hasRead({ tls }: DataNode, digest: string | undefined): boolean {
  return tls?.port === tlsPort && tls.digest !== undefined && tls.digest === digest;
}

/** Seen in a handshake, with the CAs of the copy. */
export function doesShow({ observed }: Pick<Situation, 'observed'>, { shown }: DataNode): boolean {
  const { copy } = observed.certificates ?? {};
  return shown !== undefined && 'fingerprint' in shown && shown.fingerprint === copy?.fingerprint;
}

/** Why servers have no certificate yet; undefined where there is one. */
export function awaitedCertificate(seen: Seen): Outcome | undefined {
  const { certificates } = seen.observed;
  if (seen.cluster.spec.tls === undefined || certificates === undefined || certificates.copy !== undefined)
    return undefined;
  if (certificates.unread !== undefined) return wait('AwaitingCertificates', certificates.unread, missingMs);
  const step = copyingIn(seen);
  if (step?.state !== 'held') return wait('IssuingCertificates', 'the certificate of the servers is made', issuingMs);
  return certificates.source.source.digest === ''
    ? wait('AwaitingCertificates', `${step.message}${saidByCertManager(seen)}`, missingMs)
    : blocked('CertificateUnusable', step.message, unusableMs);
}

/** What cert-manager itself says of a certificate that it has yet to issue. */
function saidByCertManager({ cluster, children }: Seen): string {
  if (cluster.spec.tls?.server.certManager === undefined) return '';
  const { issued } = redisNames(cluster.metadata.name);
  const { conditions = [] } = (children.get('Certificate', issued)?.status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
  };
  const said = conditions.find(({ type }) => type === 'Ready')?.message;
  return said === undefined ? '' : `: cert-manager says of Certificate ${issued}: ${shortened(said, 200)}`;
}

/** Whether the copy is about to follow its source. */
export function isCopyUnderWay(seen: Seen): boolean {
  const step = copyingIn(seen);
  return step?.state === 'due' || (step?.state === 'held' && step.reason === 'NotTrustedYet');
}

/** Why servers do not show what the source says. */
export function heldBackCertificate(seen: Seen): DesiredCondition[] {
  const { copy, unread } = seen.observed.certificates ?? {};
  if (unread !== undefined) return [{ type: 'CertificateHeldBack', status: 'True', reason: 'Unread', message: unread }];
  const step = copyingIn(seen);
  if (step?.state !== 'held' || copy === undefined) return [];
  return [{ type: 'CertificateHeldBack', status: 'True', reason: step.reason, message: step.message }];
}

export function certificateWarnings({ cluster, observed }: Pick<Situation, 'cluster' | 'observed'>): SpecWarning[] {
  const { missingName } = observed.certificates?.copy ?? {};
  if (missingName === undefined) return [];
  const from = copyWanted(cluster)?.from ?? '';
  const message = `the certificate that servers show, of Secret ${from}, is not valid for ${missingName}: clients that connect by that name and check it refuse it`;
  return [{ reason: 'CertificateNames', message }];
}
