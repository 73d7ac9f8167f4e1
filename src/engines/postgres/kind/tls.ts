/** `spec.tls`: whose certificate the members show to clients. It does not decide who may log in with a certificate. */
import { sourceProperties } from '../../../api/certificate-source.ts';
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';

const { secretRef } = sourceProperties(
  'Secret with the certificate. It must be valid for server authentication, and for the names that clients with sslmode=verify-full use. ca.crt is the root CA that has signed it.',
);

export const postgresTlsSchema = {
  type: 'object',
  description:
    'Certificate that members show on port 5432. When absent, the operator issues one. Adding tls restarts the members, one at a time; later changes do not. It cannot be removed.',
  required: ['server'],
  properties: {
    server: {
      type: 'object',
      description:
        'Source of the certificate: secretRef or selfManaged. When its CA changes, members trust the next CA before any of them shows a certificate of it.',
      properties: {
        secretRef,
        selfManaged: { type: 'object', description: 'The certificate that the operator issues.', properties: {} },
      },
      'x-kubernetes-validations': [
        {
          rule: 'has(self.secretRef) != has(self.selfManaged)',
          message: 'must have exactly one of secretRef and selfManaged',
        },
      ],
    },
  },
} as const satisfies StructuralSchema;

/** On the spec: members would be left with a CA that nobody follows any more. */
export const postgresTlsRules: readonly CelRule[] = [
  {
    rule: '!has(oldSelf.tls) || has(self.tls)',
    message: 'tls cannot be removed: set tls.server.selfManaged for the certificate of the operator',
    fieldPath: '.tls',
  },
];
