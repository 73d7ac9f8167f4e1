/**
 * What Secrets with certificates say, without the keys: enough to decide on, and fit to be shown. A text that is no
 * certificate is no fact, as if it were not there.
 */
import { createHash } from 'node:crypto';
import { certificateOf, factsOf, isKeyOf, isSignedBy } from './x509.ts';

export type Values = Readonly<Record<string, string>>;

/** Keys of an authority's Secret. `next` is trusted and does not sign yet, `previous` is trusted and does not sign any more. */
export const authorityKeys = {
  certificate: 'tls.crt',
  key: 'tls.key',
  nextCertificate: 'next.crt',
  nextKey: 'next.key',
  previous: 'previous.crt',
  generation: 'generation',
  changed: 'changed',
} as const;

/** Keys of a Secret that is shown: as cert-manager writes them, and what they rest on. */
export const leafKeys = {
  certificate: 'tls.crt',
  key: 'tls.key',
  trusted: 'ca.crt',
  generation: 'generation',
} as const;

export interface CertificateFacts {
  /** Milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** DNS names, as they stand in it. */
  readonly names: readonly string[];
}

export interface AuthorityFacts {
  readonly present: CertificateFacts;
  /** Its very own, or nobody would believe what it signs. Without it, it is trusted and can sign nothing. */
  readonly hasKey: boolean;
  /** With its key. */
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
  /** Grows whenever there is somebody else to trust. */
  readonly generation: number;
  /** When it last grew: milliseconds. */
  readonly changed: number;
}

export interface LeafFacts {
  readonly certificate: CertificateFacts;
  /** Signed by the authority that signs now. */
  readonly isCurrent: boolean;
  /** Signed by any of those that stand in the authority's Secret. */
  readonly isTrusted: boolean;
  /** Of the authorities that stand beside it. */
  readonly generation: number;
}

/** A Secret as it was seen. */
export interface Seen<Facts> {
  /** Of everything in it that is no key; empty where there is none. */
  readonly digest: string;
  readonly facts?: Facts;
}

/** Compared before a Secret is changed: nobody changes what they have not seen. */
export function digestOf(values: Values | undefined): string {
  if (values === undefined) return '';
  const open = Object.entries(values).filter(([key]) => !key.endsWith('.key'));
  return createHash('sha256')
    .update(JSON.stringify(open.sort(([a], [b]) => (a < b ? -1 : 1))))
    .digest('hex')
    .slice(0, 16);
}

/** The certificates of a file with several, each as its own text. */
export function certificatesIn(pem: string): string[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? []).map(
    (text) => `${text.trimEnd()}\n`,
  );
}

const generationIn = (values: Values): number => Number(values.generation ?? '') || 1;

export function authoritySeen(values: Values | undefined): Seen<AuthorityFacts> {
  const digest = digestOf(values);
  const present = certificateOf(values?.[authorityKeys.certificate]);
  if (values === undefined || present === undefined) return { digest };
  const notBefore = Date.parse(present.validFrom);
  return {
    digest,
    facts: {
      present: factsOf(present),
      hasKey: isKeyOf(values[authorityKeys.key], present),
      hasNext: isKeyOf(values[authorityKeys.nextKey], certificateOf(values[authorityKeys.nextCertificate])),
      hasPrevious: values[authorityKeys.previous] !== undefined,
      generation: generationIn(values),
      changed: Date.parse(values[authorityKeys.changed] ?? '') || notBefore,
    },
  };
}

/** A Secret has room for two thousand, and each costs time in which nobody else is served. */
const mostAuthorities = 64;

/** `authority`: the values of its Secret. */
export function leafSeen(values: Values | undefined, authority: Values | undefined): Seen<LeafFacts> {
  const digest = digestOf(values);
  const certificate = certificateOf(values?.[leafKeys.certificate]);
  if (values === undefined || certificate === undefined || (values[leafKeys.key] ?? '') === '') return { digest };
  if (values[leafKeys.trusted] === undefined) return { digest };
  const isCurrent = isSignedBy(certificate, certificateOf(authority?.[authorityKeys.certificate]));
  const texts = [authority?.[authorityKeys.nextCertificate], authority?.[authorityKeys.previous]];
  const others = texts.flatMap((text = '') => certificatesIn(text)).slice(0, mostAuthorities);
  return {
    digest,
    facts: {
      certificate: factsOf(certificate),
      isCurrent,
      isTrusted: isCurrent || others.some((text) => isSignedBy(certificate, certificateOf(text))),
      generation: generationIn(values),
    },
  };
}

/** The last third of its life is for those who come late. `now` in milliseconds. */
export function isDue({ notBefore, notAfter }: CertificateFacts, now: number): boolean {
  return now >= notBefore + ((notAfter - notBefore) * 2) / 3;
}
