/** `spec.access`: Services for clients outside of the Kubernetes cluster. */
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';

const hostName = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?([.][a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$';
const addressRange = '^[0-9a-fA-F.:]+/[0-9]{1,3}$';

const serviceSchema = (to: string) =>
  ({
    type: 'object',
    description: `Service for clients outside that leads to ${to}.`,
    required: ['type'],
    properties: {
      type: { type: 'string', description: 'Type of the Service.', enum: ['LoadBalancer', 'NodePort'] },
      annotations: {
        type: 'object',
        description: 'Annotations of the Service, for the controller of load balancers or DNS names.',
        default: {},
        maxProperties: 32,
        additionalProperties: { type: 'string', description: 'Value of the annotation.', maxLength: 1024 },
      },
      nodePort: {
        type: 'integer',
        description: 'Port on the nodes. When absent, Kubernetes chooses one.',
        minimum: 1,
        maximum: 65_535,
      },
      loadBalancerClass: {
        type: 'string',
        description: 'Which controller makes the load balancer. When absent, the default one.',
        maxLength: 253,
      },
      sourceRanges: {
        type: 'array',
        description: 'Address ranges that the load balancer accepts, for example 10.0.0.0/8. When empty, all.',
        default: [],
        maxItems: 64,
        items: { type: 'string', description: 'An address range.', pattern: addressRange, maxLength: 43 },
        'x-kubernetes-list-type': 'set',
      },
    },
    'x-kubernetes-validations': [
      {
        rule: "self.type == 'LoadBalancer' || size(self.sourceRanges) == 0",
        message: 'sourceRanges is only for a LoadBalancer: Kubernetes limits nobody at the port of a node',
        fieldPath: '.sourceRanges',
      },
    ],
  }) as const satisfies StructuralSchema;

export const accessSchema = {
  type: 'object',
  description: 'Access from outside of the Kubernetes cluster. The Services inside stay as they are.',
  properties: {
    primary: serviceSchema('the primary'),
    replicas: serviceSchema('the standbys'),
    pooler: serviceSchema('the pooler'),
    names: {
      type: 'array',
      description: 'DNS names by which clients outside connect. They are added to the certificates.',
      default: [],
      maxItems: 16,
      items: { type: 'string', description: 'A DNS name.', pattern: hostName, maxLength: 253 },
      'x-kubernetes-list-type': 'set',
    },
  },
} as const satisfies StructuralSchema;

export const accessRules: readonly CelRule[] = [
  {
    rule: '!has(self.access) || !has(self.access.pooler) || has(self.pooler)',
    message: 'access.pooler needs a pooler',
    fieldPath: '.access',
  },
];
