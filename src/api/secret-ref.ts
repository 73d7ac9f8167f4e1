/** A reference to a Secret of the cluster's own namespace: there is no field for another one. */
import type { StructuralSchema } from './schema.ts';

export const secretRefSchema = {
  type: 'object',
  description: 'A Secret in the namespace of the cluster.',
  required: ['name'],
  properties: {
    name: {
      type: 'string',
      description: 'Name of the Secret.',
      pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
      maxLength: 253,
    },
    key: {
      type: 'string',
      description: 'Key in the Secret that holds the password.',
      default: 'password',
      pattern: '^[-_A-Za-z0-9][-._A-Za-z0-9]*$',
      maxLength: 253,
    },
  },
} as const satisfies StructuralSchema;
