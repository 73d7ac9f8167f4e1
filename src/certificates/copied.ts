/**
 * A certificate that somebody else makes, cert-manager for one, and the copy of it that the members are given. The source
 * may change from one CA to another at any moment. The copy does so in steps, so that nobody shows a certificate that
 * others have yet to trust.
 *
 * The CAs in a copy are in an order that tells whose certificate is shown: its own comes first. So the text changes with
 * every step that each member has to start with, and is the source's own where only those of the source are trusted.
 */
import type { X509Certificate } from 'node:crypto';
import { type CertificateFacts, certificatesIn, digestOf, leafKeys, type Values } from './facts.ts';
import { certificateOf, factsOf, isKeyOf, isSignedBy } from './x509.ts';

/** What of the source goes into the copy. */
export type CopyPart =
  /** Everything: nobody runs who trusts anything else. */
  | 'all'
  /** The certificate. Its CA is the one that has signed the certificate before. */
  | 'renewal'
  /** The CAs that are not trusted yet, beside those that are. */
  | 'next-ca'
  /** The certificate, of another CA, which everybody trusts by now. */
  | 'certificate'
  /** Only the CAs of the source are trusted from now on. */
  | 'ca';

/** Besides those of `leafKeys`: when a CA came or went last. */
const changedKey = 'changed';

export interface CopyFacts {
  /** That is shown. */
  readonly certificate: CertificateFacts;
  /** When nobody believes it any more, at the latest: milliseconds. */
  readonly end: number;
  /** It is the source's, with its own key. */
  readonly isCurrent: boolean;
  /** One CA, which the members trust, has signed both. */
  readonly isSameCa: boolean;
  /** The source's CAs stand in the copy. */
  readonly hasNextCa: boolean;
  /** The CA of the certificate that is shown comes first. */
  readonly isOrdered: boolean;
  /** CAs stand in the copy that the source does not have any more. */
  readonly hasOtherCa: boolean;
  /** When a CA came or went last: milliseconds. Absent where none ever did. */
  readonly changed?: number;
}

export interface CopySeen {
  /** `fault`: why nothing can be taken from it. */
  readonly source: { readonly digest: string; readonly fault?: string };
  /** Without `facts` where there is no certificate in it. */
  readonly copy: { readonly digest: string; readonly facts?: CopyFacts };
}

/**
 * Each is compared with each, and a signature costs time in which nobody else is served: a Secret has room for two thousand
 * certificates. No chain is as long; a bundle of CAs may be, and a copy may hold those of two sources.
 */
interface Bounds {
  readonly chain: number;
  readonly trusted: number;
}
const sourceBounds: Bounds = { chain: 10, trusted: 32 };
const copyBounds: Bounds = { chain: 10, trusted: 64 };

interface Shown {
  readonly leaf: X509Certificate;
  /** The leaf and what its file has beside it. */
  readonly chain: readonly X509Certificate[];
  /** PEM texts. */
  readonly trusted: readonly string[];
}

/** Counted before anything is read of them. */
function isTooMuch(values: Values, { chain, trusted }: Bounds): boolean {
  const count = (key: string): number => certificatesIn(values[key] ?? '').length;
  return count(leafKeys.certificate) > chain || count(leafKeys.trusted) > trusted;
}

function shownIn(values: Values): Shown | undefined {
  const chain = certificatesIn(values[leafKeys.certificate] ?? '').flatMap((text) => certificateOf(text) ?? []);
  const trusted = certificatesIn(values[leafKeys.trusted] ?? '').filter((text) => certificateOf(text) !== undefined);
  const [leaf] = chain;
  return leaf === undefined || trusted.length === 0 ? undefined : { leaf, chain, trusted };
}

const numberOf = (text: string): string => certificateOf(text)?.fingerprint256 ?? '';

/** Those of the CAs that vouch for the first certificate of a chain. One that is trusted itself needs nobody else. */
function signers(chain: readonly X509Certificate[], trusted: readonly string[]): string[] {
  const reached = new Set(chain.slice(0, 1));
  for (const certificate of reached) {
    for (const other of chain) if (isSignedBy(certificate, other)) reached.add(other);
  }
  const vouches = (text: string): boolean => {
    const ca = certificateOf(text);
    return [...reached].some((one) => one.fingerprint256 === ca?.fingerprint256 || isSignedBy(one, ca));
  };
  return trusted.filter(vouches);
}

function faultOf(values: Values | undefined, shown: Shown | undefined): string | undefined {
  if (values === undefined) return 'is not there';
  if (isTooMuch(values, sourceBounds))
    return `has more than ${sourceBounds.chain} certificates in tls.crt, or more than ${sourceBounds.trusted} in ca.crt`;
  if (shown === undefined) return 'has no certificates in tls.crt and ca.crt';
  if (!isKeyOf(values[leafKeys.key], shown.leaf)) return 'has a tls.key that is not the one of its tls.crt';
  return signers(shown.chain, shown.trusted).length === 0 ? 'has a ca.crt that has not signed its tls.crt' : undefined;
}

export function copySeen(source: Values | undefined, copy: Values | undefined): CopySeen {
  const wanted = source === undefined || isTooMuch(source, sourceBounds) ? undefined : shownIn(source);
  const fault = faultOf(source, wanted);
  const shown = copy === undefined || isTooMuch(copy, copyBounds) ? undefined : shownIn(copy);
  const digest = digestOf(copy);
  return {
    source: {
      digest: digestOf(source),
      ...(fault === undefined ? {} : { fault }),
    },
    copy:
      shown === undefined || (copy?.[leafKeys.key] ?? '') === ''
        ? { digest }
        : { digest, facts: compared(shown, wanted ?? shown, copy) },
  };
}

function compared(shown: Shown, wanted: Shown, copy: Values = {}): CopyFacts {
  const certificate = factsOf(shown.leaf);
  const own = signers(shown.chain, shown.trusted);
  const theirs = signers(wanted.chain, shown.trusted);
  const had = shown.trusted.map(numberOf);
  const wants = wanted.trusted.map(numberOf);
  const lives = own.flatMap((text) => certificateOf(text) ?? []).map((ca) => factsOf(ca).notAfter);
  const at = Date.parse(copy[changedKey] ?? '');
  return {
    certificate,
    end: Math.min(certificate.notAfter, Math.max(...lives, 0) || certificate.notAfter),
    isCurrent: shown.leaf.fingerprint256 === wanted.leaf.fingerprint256 && isKeyOf(copy[leafKeys.key], shown.leaf),
    isSameCa: theirs.some((text) => own.includes(text)),
    hasNextCa: wants.every((number) => had.includes(number)),
    isOrdered: own.includes(shown.trusted[0] ?? ''),
    hasOtherCa: had.some((number) => !wants.includes(number)),
    ...(Number.isNaN(at) ? {} : { changed: at }),
  };
}

/** By the first digits of their fingerprints: those that are to be trusted, and those that have signed what is shown. */
export function casOf(
  values: Values,
): { readonly cas: readonly string[]; readonly signers: readonly string[] } | undefined {
  const shown = isTooMuch(values, sourceBounds) ? undefined : shownIn(values);
  if (shown === undefined) return undefined;
  const short = (text: string): string => numberOf(text).replaceAll(':', '').slice(0, 16).toLowerCase();
  return { cas: shown.trusted.map(short), signers: signers(shown.chain, shown.trusted).map(short) };
}

/** All values of the copy. Throws where the source cannot be taken. `now` in milliseconds. */
export function copied(part: CopyPart, source: Values, copy: Values, now: number): Values {
  const wanted = shownIn(source);
  if (wanted === undefined) throw new Error('there is no certificate to take');
  const { certificate, key, trusted } = leafKeys;
  const pick = (values: Values, ...keys: readonly string[]): Values =>
    Object.fromEntries(keys.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));
  const changed = { [changedKey]: new Date(now).toISOString() };
  const had = certificatesIn(copy[trusted] ?? '');
  const missing = wanted.trusted.filter((text) => !had.map(numberOf).includes(numberOf(text)));
  const ordered = (shown: Values, all: readonly string[]): Values => {
    const first = signers(shownIn({ ...shown, [trusted]: all.join('') })?.chain ?? [], all);
    return { [trusted]: [...first, ...all.filter((text) => !first.includes(text))].join('') };
  };
  switch (part) {
    case 'all':
      return pick(source, certificate, key, trusted);
    case 'renewal':
      return { ...pick(source, certificate, key), ...pick(copy, trusted, changedKey) };
    case 'next-ca':
      return { ...pick(copy, certificate, key), ...ordered(copy, [...had, ...missing]), ...changed };
    case 'certificate':
      return { ...pick(source, certificate, key), ...ordered(source, had), ...changed };
    case 'ca':
      return { ...pick(copy, certificate, key), ...pick(source, trusted), ...changed };
    default:
      return part satisfies never;
  }
}
