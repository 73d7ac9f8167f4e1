/** Where the data of a cluster lives. What would lose or strand data on a change is refused here. */
import { quantityPattern } from './quantity.ts';
import type { StructuralSchema } from './schema.ts';

export const storageSchema = {
  type: 'object',
  description: 'The volume of each data node.',
  default: {},
  properties: {
    size: {
      type: 'string',
      description: 'Size of the volume as a Kubernetes quantity. It can grow, never shrink.',
      default: '1Gi',
      pattern: quantityPattern,
      maxLength: 20,
      'x-kubernetes-validations': [
        {
          rule: "quantity(self).compareTo(quantity('128Mi')) >= 0",
          message: 'storage must have at least 128Mi',
        },
        {
          rule: 'quantity(self).compareTo(quantity(oldSelf)) >= 0',
          message: 'storage cannot shrink',
        },
      ],
    },
    storageClassName: {
      type: 'string',
      description: 'StorageClass of the volume. The default class of the Kubernetes cluster when absent. Immutable.',
      pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
      maxLength: 253,
    },
    ephemeral: {
      type: 'boolean',
      description: 'Keep data in the pod only: all of it is lost when the last pod goes. Immutable.',
      default: false,
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'storage.ephemeral is immutable' }],
    },
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)',
      message: 'storage.storageClassName is immutable',
    },
    {
      rule: '!(self.ephemeral && has(self.storageClassName))',
      message: 'storage.storageClassName has no meaning with storage.ephemeral',
    },
  ],
} as const satisfies StructuralSchema;
