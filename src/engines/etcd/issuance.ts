/** What has to be made of the certificates that the operator looks after itself. Nothing else holds it up. */
import type { Cluster } from '../../api/cluster.ts';
import type { EtcdSpec } from '../../api/etcd.ts';
import { issuing, type Takers } from '../../plan/issuance.ts';
import { type ObjectStep, type Outcome, wait } from '../../plan/plan.ts';
import type { Upkeep } from '../engine.ts';
import { authorityWanted, issuedSecret, sides } from './certificates.ts';
import { troubles } from './health.ts';
import { authoritiesAnnotation } from './names.ts';
import type { EtcdObserved } from './observed.ts';
import { isOutdated, isUnsettled } from './outdated.ts';
import { memberPart } from './resources.ts';
import type { Situation } from './situation.ts';
import { observeCertificates } from './trust.ts';

export interface Issuance {
  readonly steps: readonly ObjectStep[];
  /** Why members could trust nobody who starts anew: whom they trust is nowhere to be found. */
  readonly lost?: string;
}

/** The Certificate tells of itself; its Secret is not watched. */
const recheckMs = 1000;

const nothingSeen = { authority: { digest: '' }, leaves: {} };

export function planIssuance(situation: Situation): Issuance {
  return issuanceOf(situation.cluster, situation.observed, takersIn(situation));
}

/**
 * Renewals, and a successor for an authority that ends or is gone. Nobody was asked what runs, so no authority is founded
 * and no step is taken that another one has to be everywhere before.
 */
export const etcdUpkeep: Upkeep<EtcdSpec> = {
  fields: ['tls'],
  async plan(cluster, io) {
    const seen = await observeCertificates(cluster, io);
    return issuanceOf(cluster, { ...seen, at: io.now() }, { areNone: false, areUpToDate: false }).steps;
  },
};

function issuanceOf(
  cluster: Cluster<EtcdSpec>,
  observed: Pick<EtcdObserved, 'certificates' | 'at'>,
  takers: Takers,
): Issuance {
  const part = memberPart(cluster);
  const found = sides.map((side): Issuance => {
    const wanted = authorityWanted(cluster, side);
    if (wanted === undefined) return { steps: [] };
    const steps = issuing(wanted, observed.certificates?.[side] ?? nothingSeen, takers, observed.at);
    if (steps === undefined) {
      const isGone = observed.certificates?.[side]?.authority.facts === undefined;
      return { steps: [], lost: isGone ? goneWords(wanted.secret, wanted.leaves) : foreignWords(wanted.secret) };
    }
    return {
      steps: steps.map(({ secret, issue, reason }) => {
        const { object } = issuedSecret(cluster, secret, part);
        return { type: 'issue', object, issue, reason };
      }),
    };
  });
  const lost = found.flatMap((one) => one.lost ?? []).join('; ');
  return { steps: found.flatMap(({ steps }) => steps), ...(lost === '' ? {} : { lost }) };
}

/** What cert-manager itself says of it, where it says anything. */
export function awaiting({ children }: Situation, names: readonly string[]): Outcome {
  const words = names.map((name) => {
    const { conditions = [] } = (children.get('Certificate', name)?.status ?? {}) as {
      readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
    };
    const said = conditions.find(({ type }) => type === 'Ready')?.message;
    return `cert-manager has yet to write Secret ${name}${said === undefined ? '' : ` (${said})`}`;
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

/** Whom everybody trusts follows from the pod that they started as: all of them are asked for, and all have to be well. */
function takersIn(situation: Situation): Takers {
  const { pods, sets, members, observed } = situation;
  if (pods.size === 0) return { areNone: true, areUpToDate: true };
  const areUpToDate =
    members !== undefined &&
    !isUnsettled(situation) &&
    troubles(situation, members).length === 0 &&
    members.every((member) => !isOutdated(situation, member)) &&
    [...sets.values()].every(
      ({ spec }) => spec?.template?.metadata?.annotations?.[authoritiesAnnotation] === observed.authorities,
    );
  return { areNone: false, areUpToDate };
}
