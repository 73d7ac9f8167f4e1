/** Who may connect to the pods of a cluster. Absent: everybody whom no other NetworkPolicy keeps away. */
import { addressRange } from './external-service.ts';
import { labelName, labelValue } from './label-name.ts';
import type { StructuralSchema } from './schema.ts';

const requirementSchema = {
  type: 'object',
  description: 'A condition on one label.',
  required: ['key', 'operator'],
  properties: {
    key: { type: 'string', description: 'Name of the label.', pattern: labelName, maxLength: 317 },
    operator: {
      type: 'string',
      description:
        'In: the label has one of the values. NotIn: it has none of them, or is absent. Exists and DoesNotExist: the label is there, or is not.',
      enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
    },
    values: {
      type: 'array',
      description: 'Values for In and NotIn.',
      maxItems: 8,
      items: { type: 'string', description: 'A value of the label.', pattern: labelValue, maxLength: 63 },
      'x-kubernetes-list-type': 'atomic',
    },
  },
  'x-kubernetes-validations': [
    {
      rule: "(self.operator == 'In' || self.operator == 'NotIn') == (has(self.values) && size(self.values) > 0)",
      message: 'In and NotIn need values, Exists and DoesNotExist take none',
      fieldPath: '.values',
    },
  ],
} as const satisfies StructuralSchema;

/**
 * The API server drops fields that the schema does not know, and labels without a value, of clients that do not ask for a refusal. So a selector
 * without conditions is no selector for everything: it may be what is left of another one. Where the API server sees the null, it refuses that
 * too.
 */
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
          nullable: true,
        },
        'x-kubernetes-validations': [
          { rule: 'self.all(k, type(self[k]) == string)', message: 'labels of matchLabels must have values' },
          { rule: `self.all(k, k.matches('${labelName}'))`, message: 'keys of matchLabels must be label names' },
        ],
      },
      matchExpressions: {
        type: 'array',
        description: 'Conditions on its labels. All of them must be true.',
        minItems: 1,
        maxItems: 2,
        items: requirementSchema,
        'x-kubernetes-list-type': 'atomic',
      },
    },
    'x-kubernetes-validations': [
      {
        rule: 'has(self.matchLabels) ? size(self.matchLabels) > 0 : has(self.matchExpressions)',
        message: 'name labels, expressions or both; for all pods, write the field all instead of selectors',
      },
    ],
  }) as const;

const peerSchema = {
  type: 'object',
  description:
    'Pods by namespaceSelector, podSelector or both, or by all, or addresses by ipBlock. Without namespaceSelector, pods of the namespace of the cluster.',
  properties: {
    all: {
      type: 'string',
      description: 'All pods: of the namespace of the cluster, or of all namespaces.',
      enum: ['Namespace', 'AllNamespaces'],
    },
    namespaceSelector: selectorSchema('Selects namespaces. Without podSelector, all pods in them.'),
    podSelector: selectorSchema('Selects pods.'),
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
      rule: '(has(self.ipBlock) ? 1 : 0) + (has(self.all) ? 1 : 0) + (has(self.namespaceSelector) || has(self.podSelector) ? 1 : 0) == 1',
      message: 'name either all, or ipBlock, or namespaceSelector, podSelector or both',
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
      default: [{ all: 'Namespace' }],
      maxItems: 16,
      items: peerSchema,
      'x-kubernetes-list-type': 'atomic',
    },
    metrics: {
      type: 'array',
      description:
        'Who may connect to the ports with metrics. When empty, nobody. When absent, pods of all namespaces.',
      default: [{ all: 'AllNamespaces' }],
      maxItems: 4,
      items: peerSchema,
      'x-kubernetes-list-type': 'atomic',
    },
  },
} as const satisfies StructuralSchema;
