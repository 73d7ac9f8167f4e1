/** `bootstrap`: what a new cluster begins with. Beside a backup, a Redis or Valkey that runs elsewhere. */
import { bootstrapSchema as sharedSchema } from '../../../api/bootstrap.ts';
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';
import { secretRefSchema } from '../../../api/secret-ref.ts';

const importFromSchema = {
  type: 'object',
  description:
    'Start with a copy of a Redis or Valkey that runs elsewhere. The first node copies all of its data, and follows it until a person sets the annotation clusterwright.dev/cut-over. The other nodes and the sentinels start after that. The connection is not encrypted.',
  required: ['host'],
  properties: {
    host: {
      type: 'string',
      description:
        'Host name or address of the primary. A name without a dot is a Service in the namespace of the cluster.',
      pattern: '^[A-Za-z0-9]([-A-Za-z0-9._:]*[A-Za-z0-9])?$',
      maxLength: 253,
    },
    port: { type: 'integer', description: 'Port of the primary.', minimum: 1, maximum: 65_535, default: 6379 },
    user: {
      type: 'string',
      description: 'ACL user at the source. When absent, the user default.',
      pattern: '^[^\\x00-\\x20]+$',
      maxLength: 128,
    },
    password: { ...secretRefSchema, description: 'Its password. When absent, the source asks for none.' },
  },
} as const satisfies StructuralSchema;

const shared = sharedSchema({});

export const redisBootstrapSchema = {
  type: 'object',
  description: shared.description,
  properties: { restore: shared.properties.restore, importFrom: importFromSchema },
} as const satisfies StructuralSchema;

/** On `spec`, as those that all kinds share. */
export const redisBootstrapRules = [
  {
    rule: '!has(self.bootstrap) || has(self.bootstrap.restore) != has(self.bootstrap.importFrom)',
    message: 'bootstrap needs exactly one of restore and importFrom',
    fieldPath: '.bootstrap',
  },
  {
    rule: '!has(self.bootstrap) || !has(self.bootstrap.importFrom) || !has(self.bootstrap.importFrom.user) || has(self.bootstrap.importFrom.password)',
    message: 'bootstrap.importFrom.user needs a password',
    fieldPath: '.bootstrap.importFrom',
  },
] as const satisfies readonly CelRule[];
