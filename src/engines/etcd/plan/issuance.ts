/** What has to be made of the certificates that the operator looks after itself. Nothing else holds it up. */
import type { Cluster } from '../../../api/cluster.ts';
import type { DesiredCondition } from '../../../api/condition.ts';
import type { CopySeen } from '../../../certificates/copied.ts';
import type { Maintenance } from '../../../engine/engine.ts';
import { type Copying, type CopyTakers, copying } from '../../../plan/copying.ts';
import { type Issuing, issuing, type Takers } from '../../../plan/issuance.ts';
import { type ObjectStep, type Outcome, wait } from '../../../plan/plan.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { authoritiesAnnotation, etcdNames, sides } from '../names.ts';
import { observeCertificates } from '../observe/certificates.ts';
import type { EtcdObserved } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { authorityWanted, copyWanted, issuedSecret } from '../resources/certificates.ts';
import { memberPart } from '../resources/resources.ts';
import { memberProblems } from './health.ts';
import { isOutdated, isUnsettled } from './outdated.ts';

export interface Issuance {
  readonly steps: readonly ObjectStep[];
  /** Why members could trust nobody who starts anew: whom they trust is nowhere to be found. */
  readonly lost?: string;
}

/** The Certificate tells of itself; its Secret is not watched. */
const recheckMs = 1000;

const nothingSeen = { authority: { digest: '' }, leaves: {} };
const noCopySeen: CopySeen = { source: { digest: '' }, copy: { digest: '' } };

export function planIssuance(situation: Situation): Issuance {
  return issuanceOf(situation.cluster, situation.observed, takersIn(situation), copyTakersIn(situation));
}

/** Why the members do not show what cert-manager has made. */
export function heldBack(situation: Situation): DesiredCondition[] {
  const held = copyingIn(situation.cluster, situation.observed, copyTakersIn(situation)).flatMap((one) =>
    // Whoever has none at all waits for it, and says so.
    one.state === 'held' && situation.observed.awaited === undefined ? [one] : [],
  );
  const [first] = held;
  if (first === undefined) return [];
  const message = held.map((one) => one.message).join('; ');
  return [{ type: 'CertificateHeldBack', status: 'True', reason: first.reason, message }];
}

/**
 * Renewals, and a successor for an authority that ends or is gone. Nobody was asked what runs, so no authority is founded
 * and no step is taken that another one has to be everywhere before.
 */
export const etcdMaintenance: Maintenance<EtcdSpec> = {
  fields: ['access', 'tls'],
  async plan(cluster, io) {
    const seen = await observeCertificates(cluster, io);
    const unknown = { areNone: false, areUpToDate: false };
    return issuanceOf(cluster, { ...seen, at: io.now() }, unknown, { ...unknown, trustSource: false }).steps;
  },
};

function issuanceOf(
  cluster: Cluster<EtcdSpec>,
  observed: Pick<EtcdObserved, 'certificates' | 'copies' | 'at'>,
  takers: Takers,
  copyTakers: CopyTakers,
): Issuance {
  const part = memberPart(cluster);
  const stepOf = ({ secret, issue, reason }: Issuing): ObjectStep => {
    const { object } = issuedSecret(cluster, secret, part);
    return { type: 'issue', object, issue, reason };
  };
  const found = sides.map((side): Issuance => {
    const wanted = authorityWanted(cluster, side);
    if (wanted === undefined) return { steps: [] };
    const steps = issuing(wanted, observed.certificates?.[side] ?? nothingSeen, takers, observed.at);
    if (steps === undefined) {
      const isGone = observed.certificates?.[side]?.authority.facts === undefined;
      return { steps: [], lost: isGone ? goneWords(wanted.secret, wanted.leaves) : foreignWords(wanted.secret) };
    }
    return { steps: steps.map(stepOf) };
  });
  for (const one of copyingIn(cluster, observed, copyTakers)) {
    if (one.state === 'due') found.push({ steps: [stepOf(one)] });
    if (one.state === 'lost') found.push({ steps: [], lost: one.message });
  }
  const lost = found.flatMap((one) => one.lost ?? []).join('; ');
  return { steps: found.flatMap(({ steps }) => steps), ...(lost === '' ? {} : { lost }) };
}

function copyingIn(
  cluster: Cluster<EtcdSpec>,
  observed: Pick<EtcdObserved, 'copies' | 'at'>,
  takers: CopyTakers,
): Copying[] {
  return sides.flatMap((side) => {
    const wanted = copyWanted(cluster, side);
    const seen = observed.copies?.[side] ?? noCopySeen;
    return wanted === undefined ? [] : [copying(wanted, seen, takers, observed.at)];
  });
}

/** What cert-manager itself says of it, where it says anything. */
export function awaiting({ cluster, children, observed }: Situation, names: readonly string[]): Outcome {
  const words = names.map((name) => {
    const side = sides.find((one) => etcdNames(cluster.metadata.name).certificates[one] === name) ?? 'client';
    const { source } = observed.copies?.[side] ?? {};
    const from = etcdNames(cluster.metadata.name).sources[side];
    if (source !== undefined && source.fault === undefined) return `Secret ${name} is made from ${from}`;
    if (source !== undefined && source.digest !== '') return `Secret ${from} ${source.fault}`;
    const { conditions = [] } = (children.get('Certificate', name)?.status ?? {}) as {
      readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
    };
    const said = conditions.find(({ type }) => type === 'Ready')?.message;
    return `cert-manager has yet to write Secret ${from}${said === undefined ? '' : ` (${said})`}`;
  });
  return wait('AwaitingCertificates', words.join('; '), recheckMs);
}

function foreignWords(authority: string): string {
  return `Secret ${authority} holds an authority that the members do not trust, and a key that is not its own: bring back the one that has signed their certificates, or stop all members with replicas 0`;
}

function goneWords(authority: string, leaves: readonly { readonly secret: string }[]): string {
  const names = [authority, ...leaves.map(({ secret }) => secret)].join(', ');
  return `the Secrets ${names} are gone, and nobody can make certificates that the members trust: bring one of them back, or stop all members with replicas 0`;
}

/**
 * Whom everybody trusts follows from the pod that they started as: all of them are asked for, and all have to be well. A pod
 * that is away for a moment comes back with what it finds, and others may come before it.
 */
function takersIn(situation: Situation): Takers {
  const { pods, sets, members } = situation;
  const areNone = pods.size === 0 && [...sets.values()].every(({ spec }) => spec?.replicas === 0);
  const areUpToDate =
    members !== undefined &&
    !isUnsettled(situation) &&
    memberProblems(situation, members).length === 0 &&
    members.every((member) => !isOutdated(situation, member)) &&
    areWritten(situation);
  return { areNone, areUpToDate: areNone || areUpToDate };
}

/** Whether every template names the authorities of now. */
function areWritten({ sets, observed }: Situation): boolean {
  return [...sets.values()].every(
    ({ spec }) => spec?.template?.metadata?.annotations?.[authoritiesAnnotation] === observed.authorities,
  );
}

function copyTakersIn(situation: Situation): CopyTakers {
  const trustSource = situation.cluster.status?.initialized !== true || areWritten(situation);
  return { ...takersIn(situation), trustSource };
}
