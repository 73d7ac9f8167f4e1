/** Where pods may run. Nothing here reaches into what a pod is: no template, account, command or environment. */
import { labelName, labelValue } from './label-name.ts';
import type { StructuralSchema } from './schema.ts';

const anyTerms = (rules: string) =>
  ({
    type: 'object',
    description: `${rules} At most 16,384 characters as JSON.`,
    // Kubernetes knows two. How long they are is checked outside of the API server: see `longestOpenValue`.
    maxProperties: 16,
    'x-kubernetes-preserve-unknown-fields': true,
  }) as const;

export const schedulingSchema = {
  type: 'object',
  description: 'On which nodes the pods may run.',
  default: {},
  properties: {
    nodeSelector: {
      type: 'object',
      description: 'Labels that a node must have.',
      additionalProperties: { type: 'string', description: 'Value of the label.', pattern: labelValue, maxLength: 63 },
      maxProperties: 16,
      'x-kubernetes-validations': [
        { rule: `self.all(k, k.matches('${labelName}'))`, message: 'keys of nodeSelector must be label names' },
      ],
    },
    tolerations: {
      type: 'array',
      description: 'Tolerations of the pods.',
      maxItems: 16,
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        description: 'One toleration.',
        properties: {
          key: { type: 'string', description: 'Key of the taint. When empty, all keys.', maxLength: 317 },
          operator: {
            type: 'string',
            description: 'How key and value are compared. When absent, Equal.',
            enum: ['Equal', 'Exists'],
          },
          value: { type: 'string', description: 'Value of the taint.', pattern: labelValue, maxLength: 63 },
          effect: {
            type: 'string',
            description: 'Effect of the taint. When absent, all effects.',
            enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'],
          },
          tolerationSeconds: {
            type: 'integer',
            description: 'How long a NoExecute taint is tolerated, in seconds. When absent, without a limit.',
            minimum: 0,
            maximum: 2_147_483_647,
          },
        },
        'x-kubernetes-validations': [
          {
            rule:
              "has(self.key) && self.key != '' ? self.key.matches('" +
              labelName +
              "') : has(self.operator) && self.operator == 'Exists'",
            message: 'key must be a label name, or be empty with operator Exists',
          },
          {
            rule: "!(has(self.operator) && self.operator == 'Exists' && has(self.value) && self.value != '')",
            message: 'operator Exists takes no value',
          },
          {
            rule: "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
            message: 'tolerationSeconds needs effect NoExecute',
          },
        ],
      },
    },
    affinity: {
      type: 'object',
      description: 'Affinity rules of the pods, in addition to the spreading over nodes.',
      properties: {
        nodeAffinity: anyTerms('Node affinity, in the format of a pod spec.'),
        podAffinity: anyTerms('Pod affinity, in the format of a pod spec.'),
        podAntiAffinity: anyTerms('Pod anti-affinity, in the format of a pod spec.'),
      },
    },
    topologySpread: {
      type: 'string',
      description:
        'Whether pods of one role may share a node if no other node is available. With Preferred they may. With Required they stay Pending.',
      enum: ['Preferred', 'Required'],
      default: 'Preferred',
    },
    zoneSpread: {
      type: 'string',
      description:
        'Whether pods of one role are spread over the zones of the nodes, too. With Preferred, a zone may have more of them if there is no other node. With Required, pods stay Pending then. When absent, zones do not matter.',
      enum: ['Preferred', 'Required'],
    },
    priorityClassName: {
      type: 'string',
      description: 'PriorityClass of the pods.',
      pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
      maxLength: 253,
    },
  },
} as const satisfies StructuralSchema;
