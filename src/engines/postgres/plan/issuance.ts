/** What has to be made of the certificates of a cluster. */
import type { Cluster } from '../../../api/cluster.ts';
import { type Issuing, issuing, type Takers } from '../../../plan/issuance.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { authoritiesAnnotation } from '../names.ts';
import type { PostgresObserved } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { authorityWanted, issuedSecret, sides } from '../resources/certificates.ts';
import { memberPart } from '../resources/resources.ts';
import { memberProblems } from './health.ts';
import { isOutdated, isUnsettled } from './outdated.ts';
import { willResume } from './resumption.ts';

export interface Issuance {
  readonly steps: readonly ObjectStep[];
  /** Why members could trust nobody who starts anew. */
  readonly lost?: string;
}

const wayOut = 'or set spec.instances to 0 and then back, with which the members stop and trust another CA';

const nothingSeen = { authority: { digest: '' }, leaves: {} };

export function planIssuance(situation: Situation): Issuance {
  return issuanceOf(situation.cluster, situation.observed, takersIn(situation));
}

/**
 * Where nobody was asked what runs: renewals, and a successor for a CA that ends. No CA is founded, and no step is taken that another one has
 * to be everywhere before.
 */
export function renewals(
  cluster: Cluster<PostgresSpec>,
  observed: Pick<PostgresObserved, 'certificates' | 'at'>,
): readonly ObjectStep[] {
  return issuanceOf(cluster, observed, { areNone: false, areUpToDate: false }).steps;
}

function issuanceOf(
  cluster: Cluster<PostgresSpec>,
  observed: Pick<PostgresObserved, 'certificates' | 'at'>,
  takers: Takers,
): Issuance {
  const part = memberPart(cluster);
  const stepOf = ({ secret, issue, reason }: Issuing): ObjectStep => {
    const { object } = issuedSecret(cluster, secret, part);
    return { type: 'issue', object, issue, reason };
  };
  const found = sides.map((side): Issuance => {
    const wanted = authorityWanted(cluster, side);
    const steps = issuing(wanted, observed.certificates?.[side] ?? nothingSeen, takers, observed.at);
    if (steps !== undefined) return { steps: steps.map(stepOf) };
    const names = [wanted, ...wanted.leaves].map(({ secret }) => secret).join(', ');
    return { steps: [], lost: `of the Secrets ${names} too few are left to make certificates that the members trust` };
  });
  const lost = found.flatMap((one) => one.lost ?? []).join('; ');
  const steps = found.flatMap((one) => one.steps);
  return { steps, ...(lost === '' ? {} : { lost: `${lost}: restore them, ${wayOut}` }) };
}

/**
 * The operator has no certificate to ask the members with, and nothing is left that could sign one that they trust. A CA that follows is trusted
 * only after they have restarted, one at a time and each of them well, which nobody can tell.
 */
export function unaskableMembers({ pods, observed }: Situation): string | undefined {
  const { credentialsProblem } = observed;
  if (credentialsProblem === undefined || pods.size === 0) return undefined;
  return `${credentialsProblem}, and no other one can be made that the members trust: they go on as they are, and nobody can ask them; restore the Secret and that of its CA, ${wayOut}`;
}

/** Whom everybody trusts follows from the pod that they started as: all of them are asked for, and all have to be well. */
function takersIn(situation: Situation): Takers {
  const { pods, sets, roster, observed } = situation;
  const areNone = pods.size === 0 && [...sets.values()].every(({ spec }) => spec?.replicas === 0);
  const areWritten = [...sets.values()].every(
    ({ spec }) => spec?.template?.metadata?.annotations?.[authoritiesAnnotation] === observed.authorities,
  );
  const areWell =
    memberProblems(situation).length === 0 && [...roster.keys()].every((index) => !isOutdated(situation, index));
  // Until Kubernetes has taken up a template, no pod is seen as an older one.
  const areUpToDate = areNone || (areWritten && !isUnsettled(situation) && areWell);
  return { areNone, areUpToDate, willResume: willResume(situation) };
}
