/**
 * X.509 by way of Node.js. It is apart from `facts.ts`, whose types are in the published package: old type definitions of Node.js do not
 * have that class.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';

/** Undefined for a text that is no certificate. */
export function certificateOf(pem: string | undefined): X509Certificate | undefined {
  if (pem === undefined) return undefined;
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** As `CertificateFacts`. */
export function factsOf(certificate: X509Certificate) {
  const names = (certificate.subjectAltName ?? '').split(', ').flatMap((name) => /^DNS:(.+)$/.exec(name)?.[1] ?? []);
  return { notBefore: Date.parse(certificate.validFrom), notAfter: Date.parse(certificate.validTo), names };
}

export function isSignedBy(certificate: X509Certificate, authority: X509Certificate | undefined): boolean {
  return authority !== undefined && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** False, too, for a text that is no key. */
export function isKeyOf(text: string | undefined, certificate: X509Certificate | undefined): boolean {
  if (text === undefined || certificate === undefined) return false;
  try {
    return certificate.checkPrivateKey(createPrivateKey(text));
  } catch {
    return false;
  }
}
