/** `spec.tls`: whose certificate the members show to clients. It does not decide who may log in with a certificate. */
import { oneSource, sourceProperties } from '../../../api/certificate-source.ts';
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';

const { secretRef, certManager } = sourceProperties(
  'Secret with the certificate that members show. It must be valid for server authentication. For clients with sslmode=verify-full it must be valid for the names by which they connect, such as NAME-primary.NAMESPACE.svc. ca.crt must have the root CA that has signed it.',
);

export const postgresTlsSchema = {
  type: 'object',
  description:
    'Certificate that the members show on port 5432. When absent, the operator issues one. Adding it restarts the members once, one at a time. It can be changed later without a restart, and it cannot be removed: name tls.server.selfManaged instead.',
  required: ['server'],
  properties: {
    server: {
      type: 'object',
      description:
        'Source of the certificate: exactly one of secretRef, certManager and selfManaged. It can be changed at any time: members trust the next CA before anybody shows a certificate of it. Client certificates are always those of a CA of the operator.',
      properties: {
        secretRef,
        certManager,
        selfManaged: {
          type: 'object',
          description: 'The certificate that the operator issues, as without tls.',
          properties: {},
        },
      },
      'x-kubernetes-validations': [oneSource],
    },
  },
} as const satisfies StructuralSchema;

/** On the spec: those who run would be left with a CA that nobody follows any more. */
export const postgresTlsRules: readonly CelRule[] = [
  {
    rule: '!has(oldSelf.tls) || has(self.tls)',
    message: 'tls cannot be removed: name tls.server.selfManaged for the certificate of the operator',
    fieldPath: '.tls',
  },
];
