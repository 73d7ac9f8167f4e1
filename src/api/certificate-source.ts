/**
 * Where the certificates of a kind of connection come from: a Secret that somebody brings, cert-manager, or the operator
 * itself. Exactly one of them.
 */
import type { CelRule, StructuralSchema } from './schema.ts';

/** Whole hours: `2160h`. */
const hoursPattern = '^[1-9][0-9]{0,5}h$';

/** Days of 24 hours: ninety of them. */
const usualLeaf = '2160h';
/** Ten years. */
const usualAuthority = '87600h';
const longestAuthority = '219000h';

const count = (self: string): string => `int(${self}.replace('h', ''))`;

const hoursSchema = <const Default extends string>(description: string, fallback: Default) =>
  ({ type: 'string', description, default: fallback, pattern: hoursPattern, maxLength: 7 }) as const;

const boundedHoursSchema = <const Default extends string>(description: string, fallback: Default, most: string) =>
  ({
    ...hoursSchema(`${description} In hours, from 1h to ${most}.`, fallback),
    'x-kubernetes-validations': [
      { rule: `${count('self')} <= ${most.slice(0, -1)}`, message: `must be at most ${most}` },
    ],
  }) as const satisfies StructuralSchema;

/** Of a text that the schema has let through. */
export function hoursOf(text: string): number {
  return Number(text.slice(0, -1));
}

const namePattern = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$';

/** `description`: what the certificate has to be for. */
const secretSource = (description: string) =>
  ({
    type: 'object',
    description,
    required: ['name'],
    properties: {
      name: {
        type: 'string',
        description: 'Name of the Secret, with the keys tls.crt, tls.key and ca.crt as cert-manager writes them.',
        pattern: namePattern,
        maxLength: 253,
      },
    },
  }) as const satisfies StructuralSchema;

const certManagerSource = {
  type: 'object',
  description: 'A certificate from cert-manager, which must be installed. The operator creates a Certificate for it.',
  required: ['issuerRef'],
  properties: {
    issuerRef: {
      type: 'object',
      description:
        'Issuer of the certificate. It must write its CA into ca.crt of the Secret, as CA and Vault issuers do.',
      required: ['name'],
      properties: {
        name: { type: 'string', description: 'Name of the issuer.', pattern: namePattern, maxLength: 253 },
        kind: {
          type: 'string',
          description: 'Issuer in the same namespace, or ClusterIssuer. Another group has other kinds.',
          default: 'Issuer',
          pattern: '^[A-Z][A-Za-z0-9]*$',
          maxLength: 63,
        },
        group: {
          type: 'string',
          description: 'API group of the issuer.',
          default: 'cert-manager.io',
          pattern: namePattern,
          maxLength: 253,
        },
      },
      'x-kubernetes-validations': [
        {
          rule: "self.group != 'cert-manager.io' || self.kind == 'Issuer' || self.kind == 'ClusterIssuer'",
          message: 'kind must be Issuer or ClusterIssuer in the group cert-manager.io',
          fieldPath: '.kind',
        },
      ],
    },
    duration: boundedHoursSchema('Lifetime of a certificate.', usualLeaf, '87600h'),
    renewBefore: {
      type: 'string',
      description:
        'How long before its expiry a certificate is renewed, in hours and less than duration. When absent, a third of duration.',
      pattern: hoursPattern,
      maxLength: 7,
    },
  },
  'x-kubernetes-validations': [
    {
      rule: `!has(self.renewBefore) || ${count('self.renewBefore')} < ${count('self.duration')}`,
      message: 'renewBefore must be less than duration',
      fieldPath: '.renewBefore',
    },
  ],
} as const satisfies StructuralSchema;

const selfManagedSource = (restart: string) =>
  ({
    type: 'object',
    description: 'Certificates that the operator issues and renews, with a separate CA for these connections.',
    properties: {
      duration: hoursSchema(
        'Lifetime of a certificate, in hours. The operator renews it after two thirds of that time, without a restart.',
        usualLeaf,
      ),
      authorityDuration: boundedHoursSchema(
        `Lifetime of the CA, at least eight times duration. After two thirds of that time, the operator replaces the CA, ${restart}.`,
        usualAuthority,
        longestAuthority,
      ),
    },
    'x-kubernetes-validations': [
      {
        rule: `${count('self.authorityDuration')} >= 8 * ${count('self.duration')}`,
        message: 'authorityDuration must be at least eight times duration',
        fieldPath: '.authorityDuration',
      },
    ],
  }) as const satisfies StructuralSchema;

/**
 * `secret`: what a Secret that somebody brings has to hold. `restart`: what another CA means for those who run. Default: that they restart.
 */
export const sourceProperties = (secret: string, restart = 'and the members restart') =>
  ({
    secretRef: secretSource(secret),
    certManager: certManagerSource,
    selfManaged: selfManagedSource(restart),
  }) as const satisfies Readonly<Record<string, StructuralSchema>>;

const sources = ['secretRef', 'certManager', 'selfManaged'] as const;

/** On the node that holds the sources. */
export const oneSource = {
  rule: `${sources.map((source) => `(has(self.${source}) ? 1 : 0)`).join(' + ')} == 1`,
  message: 'must have exactly one of secretRef, certManager and selfManaged',
} as const satisfies CelRule;

/**
 * On the parent of a node `side` that holds the sources: another source means another authority, which those who run do
 * not trust.
 */
export const sameSource = <const Side extends string>(side: Side) =>
  ({
    rule: [
      `!has(self.${side}) || !has(oldSelf.${side})`,
      [
        ...sources.map((source) => `has(self.${side}.${source}) == has(oldSelf.${side}.${source})`),
        `(!has(self.${side}.certManager) || !has(oldSelf.${side}.certManager) || self.${side}.certManager.issuerRef == oldSelf.${side}.certManager.issuerRef)`,
      ].join(' && '),
    ]
      .map((part) => `(${part})`)
      .join(' || '),
    message: `tls.${side} cannot go over to another source or issuer`,
    fieldPath: `.${side}`,
  }) as const satisfies CelRule;
