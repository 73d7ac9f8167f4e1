/**
 * From a Secret with certificates to the one that takes its place. An issue says what is to be made, and holds no key;
 * the keys are made when it is carried out, and go from there into the Secret and nowhere else.
 */
import {
  type Issued,
  type LeafRequest,
  type Life,
  makeAuthority,
  makeLeaf,
  type Randomness,
  systemRandomness,
} from './certificate.ts';
import { type CopyPart, copied } from './copied.ts';
import { authorityKeys, certificatesIn, digestOf, leafKeys, type Values } from './facts.ts';
import { certificateOf, isKeyOf, isSignedBy } from './x509.ts';

/** `seen`: the digest of the Secret as it was when this was decided. */
export type Issue = { readonly seen: string } & (
  | { readonly what: 'authority'; readonly name: string; readonly hours: number }
  /** The authority's Secret is gone: those that a leaf trusts are trusted on, and a successor is made. */
  | { readonly what: 'authority-again'; readonly name: string; readonly hours: number; readonly from: string }
  /** A successor comes beside the authority: trusted, and not signing yet. */
  | { readonly what: 'successor'; readonly name: string; readonly hours: number }
  /** The successor signs from now on; the one before is trusted on. */
  | { readonly what: 'succession' }
  /** Only the authority that signs is trusted from now on. */
  | { readonly what: 'retirement' }
  /** `authority`: name of its Secret. Without `renew` the certificate stays, and who is trusted beside it follows. */
  | ({
      readonly what: 'leaf';
      readonly authority: string;
      readonly hours: number;
      readonly renew: boolean;
    } & LeafRequest)
  /** A certificate that somebody else has made. `from`: name of its Secret, `source`: the digest of that as it was seen. */
  | { readonly what: 'copy'; readonly part: CopyPart; readonly from: string; readonly source: string }
);

/** Name of the Secret that an issue is made from, besides its own. */
export function sourceOf(issue: Issue): string | undefined {
  if (issue.what === 'leaf') return issue.authority;
  return issue.what === 'authority-again' || issue.what === 'copy' ? issue.from : undefined;
}

export interface Material {
  /** Of the Secret itself; undefined where there is none. */
  readonly own: Values | undefined;
  /** Of the one that `sourceOf` names. */
  readonly source: Values | undefined;
}

const hourMs = 3_600_000;
/**
 * A certificate is valid from so long before it is made: a process whose clock is behind the operator's would refuse it
 * otherwise. A day; a twentieth of a short life, since it is renewed after two thirds of it.
 */
const backMs = 24 * hourMs;
const leastBackMs = 5 * 60_000;

function lifeOf(now: number, hours: number): Life {
  const back = Math.min(backMs, Math.max(leastBackMs, (hours * hourMs) / 20));
  return { from: now - back, to: now + hours * hourMs };
}

/** When a certificate of ours was made, in milliseconds: it is valid from some time before. */
export function madeAt({ notBefore, notAfter }: { readonly notBefore: number; readonly notAfter: number }): number {
  return notBefore + Math.min(backMs, Math.max(leastBackMs, (notAfter - notBefore) / 21));
}

/** All values of the new Secret. `now` in milliseconds. Throws where there is nothing to make it from. */
export function issued(
  issue: Issue,
  { own = {}, source = {} }: Material,
  now: number,
  random: Randomness = systemRandomness,
): Values {
  const { certificate, key, nextCertificate, nextKey, previous } = authorityKeys;
  const changed = (generation: number): Values => ({
    [authorityKeys.generation]: String(generation),
    [authorityKeys.changed]: new Date(now).toISOString(),
  });
  const grown = Number(own.generation ?? 1) + 1;
  const present = { [certificate]: own[certificate] ?? '', [key]: own[key] ?? '' };
  switch (issue.what) {
    case 'authority': {
      const made = makeAuthority(issue.name, lifeOf(now, issue.hours), random);
      return { [certificate]: made.certificate, [key]: made.key, ...changed(1) };
    }
    case 'authority-again': {
      const [signer, ...others] = trustedBy(source);
      const made = makeAuthority(issue.name, lifeOf(now, issue.hours), random);
      return {
        [certificate]: signer,
        [nextCertificate]: made.certificate,
        [nextKey]: made.key,
        ...(others.length === 0 ? {} : { [previous]: others.join('') }),
        ...changed(Number(source.generation ?? 1) + 1),
      };
    }
    case 'successor': {
      const made = makeAuthority(issue.name, lifeOf(now, issue.hours), random);
      const kept = own[previous] === undefined ? {} : { [previous]: own[previous] };
      return { ...present, ...kept, [nextCertificate]: made.certificate, [nextKey]: made.key, ...changed(grown) };
    }
    case 'succession': {
      const [next, itsKey] = [own[nextCertificate], own[nextKey]];
      if (next === undefined || itsKey === undefined) throw new Error('there is no successor');
      const before = `${own[certificate] ?? ''}${own[previous] ?? ''}`;
      return { [certificate]: next, [key]: itsKey, [previous]: before, ...changed(grown) };
    }
    case 'retirement':
      return { ...present, ...changed(grown) };
    case 'leaf': {
      const authority = authorityIn(source);
      const leaf = issue.renew
        ? renewed(issue, authority, now, random)
        : { [leafKeys.certificate]: own['tls.crt'] ?? '', [leafKeys.key]: own['tls.key'] ?? '' };
      const trusted = [source[certificate], source[nextCertificate], source[previous]];
      return {
        ...leaf,
        [leafKeys.trusted]: trusted.filter((text) => text !== undefined).join(''),
        [leafKeys.generation]: source.generation ?? '1',
      };
    }
    case 'copy':
      if (digestOf(source) !== issue.source) throw new Error(`Secret ${issue.from} is not as it was`);
      return copied(issue.part, source, own, now);
    default:
      return issue satisfies never;
  }
}

function renewed(issue: Extract<Issue, { what: 'leaf' }>, authority: Issued, now: number, random: Randomness): Values {
  if (authority.key === '') throw new Error(`the key of the authority in Secret ${issue.authority} is gone`);
  if (!isKeyOf(authority.key, certificateOf(authority.certificate)))
    throw new Error(`the key in Secret ${issue.authority} is not that of its certificate`);
  const made = makeLeaf(issue, lifeOf(now, issue.hours), authority, random);
  return { [leafKeys.certificate]: made.certificate, [leafKeys.key]: made.key };
}

function authorityIn(values: Values): Issued {
  const certificate = values[authorityKeys.certificate];
  if (certificate === undefined) throw new Error('there is no authority');
  return { certificate, key: values[authorityKeys.key] ?? '' };
}

/** The one that has signed the leaf first: it can sign nothing more, and has to be trusted as long as the leaf is shown. */
function trustedBy(leaf: Values): [string, ...string[]] {
  const shown = certificateOf(leaf[leafKeys.certificate]);
  const trusted = certificatesIn(leaf[leafKeys.trusted] ?? '');
  const signer = trusted.find((text) => shown !== undefined && isSignedBy(shown, certificateOf(text)));
  if (signer === undefined) throw new Error('nobody knows any more who has signed the certificate');
  return [signer, ...trusted.filter((text) => text !== signer)];
}
