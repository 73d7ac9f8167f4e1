/**
 * A Secret of `secretRef` whose CA was replaced, without both in it for a while. Every member shows the new certificate as
 * soon as its kubelet has brought it, and only one that restarts trusts it: it would be cut off from the others. So nobody
 * is restarted for it, and connections that stand go on.
 *
 * Whom the members trust is not in the Secret any more. So each StatefulSet carries which CAs its template was written for.
 */
import type { DesiredCondition } from '../../../api/condition.ts';
import { casAnnotation, type Side, sides } from '../names.ts';
import type { EtcdObserved } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';

/** For the StatefulSet: undefined where nobody brings certificates, or they cannot be read now. */
export function casIn(given: EtcdObserved['given']): string | undefined {
  const known = sides.flatMap((side) => (given?.[side] === undefined ? [] : [`${side}=${given[side].cas.join(',')}`]));
  return known.length === 0 ? undefined : known.join(';');
}

function readCas(text: string, side: Side): readonly string[] | undefined {
  const found = text.split(';').find((part) => part.startsWith(`${side}=`));
  return found?.slice(side.length + 1).split(',');
}

/** Sides whose certificate no CA has signed that the members have been told to trust. */
export function replacedCas({ sets, pods, observed }: Situation): Side[] {
  if (pods.size === 0) return [];
  return sides.filter((side) => {
    const given = observed.given?.[side];
    // Where nobody can tell who has signed it, nothing is known to be wrong.
    if (given === undefined || given.signers.length === 0) return false;
    return [...sets.values()].some(({ metadata }) => {
      const known = readCas(metadata.annotations?.[casAnnotation] ?? '', side);
      return known !== undefined && !given.signers.some((signer) => known.includes(signer));
    });
  });
}

export function replacedCaClaims(situation: Situation): DesiredCondition[] {
  const { tls } = situation.spec;
  const names = replacedCas(situation).map((side) => tls[side]?.secretRef?.name ?? '');
  if (names.length === 0) return [];
  const message = `${[...new Set(names)].map((name) => `the certificate in Secret ${name} is of a CA that the members do not trust`).join('; ')}: no member restarts for it; put the former tls.crt and tls.key back, with both CAs in ca.crt, or stop all members with replicas 0`;
  return [{ type: 'CertificateHeldBack', status: 'True', reason: 'NotTrusted', message }];
}
