/** A Certificate of cert-manager (cert-manager.io/v1): who issues what, and the Secret that it is written to. */
import type { KubeObject, ObjectMeta } from '../api/object.ts';

export interface CertificateOptions {
  readonly metadata: ObjectMeta;
  /** Name of the Secret that cert-manager makes. */
  readonly secretName: string;
  readonly organisation: string;
  readonly dnsNames: readonly string[];
  readonly issuerRef: { readonly name: string; readonly kind: string; readonly group: string };
  readonly durationHours: number;
  readonly renewBeforeHours?: number | undefined;
}

/** As Go writes it: a defaulting webhook that reads and writes it again changes nothing. */
const goHours = (hours: number): string => `${hours}h0m0s`;

/** Without a common name, which some servers take for the name of a user. */
export function certificate(options: CertificateOptions): KubeObject {
  const { metadata, secretName, organisation, dnsNames, issuerRef, durationHours, renewBeforeHours } = options;
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata,
    spec: {
      secretName,
      issuerRef,
      duration: goHours(durationHours),
      ...(renewBeforeHours === undefined ? {} : { renewBefore: goHours(renewBeforeHours) }),
      subject: { organizations: [organisation] },
      dnsNames,
      usages: ['digital signature', 'server auth', 'client auth'],
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
    },
  };
}
