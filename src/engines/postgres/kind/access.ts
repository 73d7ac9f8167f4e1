/** `spec.access`: Services beside those that every cluster has. */
import { externalNamesSchema, externalServiceSchema } from '../../../api/external-service.ts';
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';

export const accessSchema = {
  type: 'object',
  description: 'Access from outside of the Kubernetes cluster. The Services inside stay as they are.',
  properties: {
    primary: externalServiceSchema('the primary'),
    replicas: externalServiceSchema('the standbys'),
    pooler: externalServiceSchema('the pooler'),
    names: externalNamesSchema,
  },
} as const satisfies StructuralSchema;

export const accessRules: readonly CelRule[] = [
  {
    rule: '!has(self.access) || !has(self.access.pooler) || has(self.pooler)',
    message: 'access.pooler needs a pooler',
    fieldPath: '.access',
  },
];
