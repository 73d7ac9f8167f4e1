/** A Service beside those that a kind always has, for clients that these do not suit. The others stay as they are. */
import { labelName } from './label-name.ts';
import type { StructuralSchema } from './schema.ts';

const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const range4 = `(${octet}[.]){3}${octet}/(3[0-2]|[12]?[0-9])`;
const range6 = '[0-9a-fA-F:]*:[0-9a-fA-F:.]*/(12[0-8]|1[01][0-9]|[1-9]?[0-9])';
/** Whether the groups of an IPv6 address are in order, the API server says. */
export const addressRange = `^(${range4}|${range6})$`;
const hostName = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?([.][a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$';

const only = (type: string, field: string, why = '') => ({
  rule: `self.type == '${type}' || !has(self.${field})`,
  message: `${field} is only for a ${type}${why}`,
  fieldPath: `.${field}`,
});

export const externalServiceSchema = (to: string) =>
  ({
    type: 'object',
    description: `Additional Service that leads to ${to}.`,
    required: ['type'],
    properties: {
      type: {
        type: 'string',
        description:
          'Type of the Service. A ClusterIP is for clients in the Kubernetes cluster, with settings of its own.',
        enum: ['ClusterIP', 'LoadBalancer', 'NodePort'],
      },
      annotations: {
        type: 'object',
        description: 'Annotations of the Service, for the controller of load balancers or DNS names.',
        default: {},
        maxProperties: 32,
        additionalProperties: { type: 'string', description: 'Value of the annotation.', maxLength: 1024 },
        'x-kubernetes-validations': [
          {
            rule: `self.all(k, k.matches('${labelName}'))`,
            message: 'keys of annotations must be annotation names',
          },
        ],
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
      externalTrafficPolicy: {
        type: 'string',
        description:
          'With Local, a node passes connections from outside only to pods on itself, and the pods see the address of the client. When absent, Cluster.',
        enum: ['Cluster', 'Local'],
      },
      trafficDistribution: {
        type: 'string',
        description: 'Which pods connections prefer. When absent, none.',
        enum: ['PreferClose', 'PreferSameZone', 'PreferSameNode'],
      },
      ipFamilyPolicy: {
        type: 'string',
        description: 'Whether the Service has an IPv4 address, an IPv6 address or both. When absent, SingleStack.',
        enum: ['SingleStack', 'PreferDualStack', 'RequireDualStack'],
      },
      ipFamilies: {
        type: 'array',
        description:
          'The IP families, the first one first. When absent, Kubernetes chooses. The first one is immutable.',
        minItems: 1,
        maxItems: 2,
        items: { type: 'string', description: 'An IP family.', enum: ['IPv4', 'IPv6'] },
        'x-kubernetes-list-type': 'atomic',
      },
      appProtocol: {
        type: 'string',
        description:
          'Protocol of the port, for a service mesh or a gateway, for example tcp. When absent, none is named.',
        pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$',
        maxLength: 253,
      },
    },
    'x-kubernetes-validations': [
      {
        rule: "self.type == 'LoadBalancer' || size(self.sourceRanges) == 0",
        message: 'sourceRanges is only for a LoadBalancer: Kubernetes limits nobody at the port of a node',
        fieldPath: '.sourceRanges',
      },
      only('LoadBalancer', 'loadBalancerClass'),
      {
        rule: "self.type != 'ClusterIP' || !has(self.nodePort)",
        message: 'a Service of type ClusterIP has no nodePort',
        fieldPath: '.nodePort',
      },
      {
        rule: "self.type != 'ClusterIP' || !has(self.externalTrafficPolicy)",
        message: 'a Service of type ClusterIP takes no externalTrafficPolicy: nothing reaches it from outside',
        fieldPath: '.externalTrafficPolicy',
      },
    ],
  }) as const satisfies StructuralSchema;

export const externalNamesSchema = {
  type: 'array',
  description: 'DNS names by which clients outside connect. They are added to the certificates.',
  default: [],
  maxItems: 16,
  items: { type: 'string', description: 'A DNS name.', pattern: hostName, maxLength: 253 },
  'x-kubernetes-list-type': 'set',
} as const satisfies StructuralSchema;
