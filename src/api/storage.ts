/** Where the data of a cluster lives. What would lose or strand data on a change is refused here. */
import { quantityPattern } from './quantity.ts';
import type { StructuralSchema } from './schema.ts';

const sizeSchema = <const Default extends string>(initially: Default) =>
  ({
    type: 'string',
    description:
      'Size of the volume as a Kubernetes quantity. It can grow if the StorageClass allows volume expansion. Volumes never shrink, but a size that no volume was expanded to can be lowered again to status.storage.minimumSize.',
    default: initially,
    pattern: quantityPattern,
    maxLength: 20,
    'x-kubernetes-validations': [
      {
        rule: "quantity(self).compareTo(quantity('128Mi')) >= 0",
        message: 'storage must have at least 128Mi',
      },
    ],
  }) as const satisfies StructuralSchema;

/**
 * Of the whole object: what the volumes have stands in the status. A write of the status changes no spec, so it never breaks
 * this rule.
 */
export const storageRules = [
  {
    rule: 'quantity(self.spec.storage.size).compareTo(quantity(oldSelf.spec.storage.size)) >= 0 || (has(oldSelf.status) && has(oldSelf.status.storage) && has(oldSelf.status.storage.minimumSize) && quantity(self.spec.storage.size).compareTo(quantity(oldSelf.status.storage.minimumSize)) >= 0)',
    message:
      'storage cannot shrink: storage.size can be lowered only to what the volumes have, which is status.storage.minimumSize',
    fieldPath: '.spec.storage.size',
  },
] as const;

const storageClassName = {
  type: 'string',
  description: 'StorageClass of the volume. When absent, the default class of the Kubernetes cluster. Immutable.',
  pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
  maxLength: 253,
} as const satisfies StructuralSchema;

const classIsImmutable = {
  rule: 'has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)',
  message: 'storage.storageClassName is immutable',
} as const;

/** A volume for each member, always: for a database whose members must remember what they have promised. */
export const volumeSchema = {
  type: 'object',
  description: 'The volume of each member.',
  default: {},
  properties: { size: sizeSchema('1Gi'), storageClassName },
  'x-kubernetes-validations': [classIsImmutable],
} as const satisfies StructuralSchema;

/** A volume for each data node, or none where all of the data may be lost. */
export const storageSchema = {
  type: 'object',
  description: 'The volume of each pod that holds data.',
  default: {},
  properties: {
    // Four times the data that the default memory limit allows, and more.
    size: sizeSchema('2Gi'),
    storageClassName,
    ephemeral: {
      type: 'boolean',
      description: 'Keep the data in the pods only. All data is lost when the last pod is deleted. Immutable.',
      default: false,
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'storage.ephemeral is immutable' }],
    },
  },
  'x-kubernetes-validations': [
    classIsImmutable,
    {
      rule: '!(self.ephemeral && has(self.storageClassName))',
      message: 'storage.storageClassName has no meaning with storage.ephemeral',
    },
  ],
} as const satisfies StructuralSchema;
