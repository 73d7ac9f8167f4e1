/** Who may connect to the pods of a cluster. Absent: everybody whom no other NetworkPolicy keeps away. */
import { addressRange } from './external-service.ts';
import { labelName, labelValue } from './label-name.ts';
import type { StructuralSchema } from './schema.ts';

const selectorSchema = <const Description extends string>(description: Description) =>
  ({
    type: 'object',
    description,
    properties: {
      matchLabels: {
        type: 'object',
        description: 'Labels that it must have.',
        maxProperties: 4,
        additionalProperties: {
          type: 'string',
          description: 'Value of the label.',
          pattern: labelValue,
          maxLength: 63,
        },
        'x-kubernetes-validations': [
          { rule: `self.all(k, k.matches('${labelName}'))`, message: 'keys of matchLabels must be label names' },
        ],
      },
    },
  }) as const;

const peerSchema = {
  type: 'object',
  description:
    'Pods by namespaceSelector, podSelector or both, or addresses by ipBlock. Without namespaceSelector, pods of the namespace of the cluster.',
  properties: {
    namespaceSelector: selectorSchema('Selects namespaces. When empty, all namespaces.'),
    podSelector: selectorSchema('Selects pods. When empty, all pods.'),
    ipBlock: {
      type: 'object',
      description: 'Addresses outside of the Kubernetes cluster.',
      required: ['cidr'],
      properties: {
        cidr: {
          type: 'string',
          description: 'Address range, for example 10.0.0.0/8.',
          pattern: addressRange,
          maxLength: 43,
        },
        except: {
          type: 'array',
          description: 'Address ranges inside of cidr that may not connect.',
          maxItems: 8,
          items: { type: 'string', description: 'An address range.', pattern: addressRange, maxLength: 43 },
          'x-kubernetes-list-type': 'set',
        },
      },
    },
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.ipBlock) != (has(self.namespaceSelector) || has(self.podSelector))',
      message: 'name either ipBlock, or namespaceSelector, podSelector or both',
    },
  ],
} as const satisfies StructuralSchema;

export const networkPolicySchema = {
  type: 'object',
  description:
    'Limits who may connect to the pods of the cluster, by a NetworkPolicy. The pods of the cluster, its Jobs and the operator may connect to all ports. When absent, there is no NetworkPolicy.',
  properties: {
    clients: {
      type: 'array',
      description: 'Who may connect to the ports for clients. When empty, nobody. When absent, pods of the namespace.',
      default: [{ podSelector: {} }],
      maxItems: 16,
      items: peerSchema,
      'x-kubernetes-list-type': 'atomic',
    },
    metrics: {
      type: 'array',
      description:
        'Who may connect to the ports with metrics. When empty, nobody. When absent, pods of all namespaces.',
      default: [{ namespaceSelector: {} }],
      maxItems: 4,
      items: peerSchema,
      'x-kubernetes-list-type': 'atomic',
    },
  },
} as const satisfies StructuralSchema;
