/**
 * `spec.tls`: the certificate that servers show, and whether they accept plaintext beside TLS. Who may log in is not decided by certificates,
 * but by passwords, as without TLS.
 */
import { oneSource, sourceProperties } from '../../../api/certificate-source.ts';
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';

export const tlsSchema = {
  type: 'object',
  description:
    'TLS for clients, on port 6380 of the nodes and of the Services for them. It can be added and removed on a running cluster, without a restart of pods that were created since the operator supports it; older pods restart once, one at a time.',
  required: ['server'],
  properties: {
    mode: {
      type: 'string',
      description:
        'Optional: servers also accept plaintext, on port 6379. Sentinel, replication and backups use plaintext.',
      enum: ['Optional'],
      default: 'Optional',
    },
    server: {
      type: 'object',
      description:
        'Source of the certificate that servers show, with exactly one of secretRef, certManager and selfManaged. It can change: servers trust the next CA before any of them shows a certificate of it.',
      properties: sourceProperties(
        'Secret with the certificate of the servers. It must be valid for server authentication, and for the name NAME-primary.NAMESPACE.svc. ca.crt is the root CA that has signed it.',
        'without a restart',
      ),
      'x-kubernetes-validations': [oneSource],
    },
  },
} as const satisfies StructuralSchema;

/** On `spec`. */
export const tlsRules: readonly CelRule[] = [
  {
    rule: "!has(self.tls) || self.mode != 'Cluster'",
    message: 'mode Cluster has no TLS yet: nodes tell clients the port without TLS',
    fieldPath: '.tls',
  },
];
