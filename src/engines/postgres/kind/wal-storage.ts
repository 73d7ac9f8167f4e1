/** A volume of its own for the write-ahead log of each instance. */
import { quantityPattern } from '../../../api/quantity.ts';
import type { StructuralSchema } from '../../../api/schema.ts';

/** PostgreSQL keeps up to 64Mi for standbys and 64Mi to the next checkpoint, and needs room beyond them. */
const leastSize = '256Mi';

export const walStorageSchema = {
  type: 'object',
  description:
    'A separate volume for the write-ahead log (pg_wal) of each instance. When absent, the log is on the volume of `storage`. It can be neither added to nor removed from an existing cluster.',
  required: ['size'],
  properties: {
    size: {
      type: 'string',
      description:
        'Size of the volume as a Kubernetes quantity. It can grow if the StorageClass allows volume expansion, and never shrinks, as with `storage.size`.',
      pattern: quantityPattern,
      maxLength: 20,
      'x-kubernetes-validations': [
        {
          rule: `quantity(self).compareTo(quantity('${leastSize}')) >= 0`,
          message: `walStorage must have at least ${leastSize}`,
        },
      ],
    },
    storageClassName: {
      type: 'string',
      description: 'StorageClass of the volume. When absent, the default class of the Kubernetes cluster. Immutable.',
      pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
      maxLength: 253,
    },
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)',
      message: 'walStorage.storageClassName is immutable',
    },
  ],
} as const satisfies StructuralSchema;

/** On the spec: the claims of a StatefulSet are immutable. */
export const walStorageRules = [
  {
    rule: 'has(self.walStorage) == has(oldSelf.walStorage)',
    message:
      'walStorage can be neither added to nor removed from an existing cluster: restore a backup into a new cluster that has it',
    fieldPath: '.walStorage',
  },
] as const;

/** On the whole object, as `storageRules`. */
export const walSizeRules = [
  {
    rule: '!has(self.spec.walStorage) || !has(oldSelf.spec.walStorage) || quantity(self.spec.walStorage.size).compareTo(quantity(oldSelf.spec.walStorage.size)) >= 0 || (has(oldSelf.status) && has(oldSelf.status.walStorage) && has(oldSelf.status.walStorage.minimumSize) && quantity(self.spec.walStorage.size).compareTo(quantity(oldSelf.status.walStorage.minimumSize)) >= 0)',
    message:
      'walStorage cannot shrink: walStorage.size can be lowered only to what the volumes have, which is status.walStorage.minimumSize',
    fieldPath: '.spec.walStorage.size',
  },
] as const;
