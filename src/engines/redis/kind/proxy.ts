/** `spec.proxy`: HAProxy in front of the primary. */
import { computeRules, computeSchema } from '../../../api/compute.ts';
import { imageSchema } from '../../../api/image.ts';
import type { CelRule, StructuralSchema } from '../../../api/schema.ts';
import { proxyImage } from './released-image.ts';

/** Least memory limit that HAProxy starts with. */
const proxyMemory = '32Mi';

export const proxySchema = {
  type: 'object',
  description:
    'HAProxy in pods of its own, to which the Service NAME-primary leads. It asks the sentinels who is primary, so that clients reach a new primary while the operator is away. Needs mode Sentinel. When absent, NAME-primary leads to the primary itself.',
  properties: {
    replicas: { type: 'integer', description: 'Number of proxy pods.', minimum: 1, maximum: 10, default: 2 },
    image: imageSchema(proxyImage),
    maxClients: {
      type: 'integer',
      description: 'Connections of clients that each proxy pod accepts.',
      minimum: 10,
      maximum: 20_000,
      default: 2000,
    },
    resources: computeSchema('a proxy pod', { cpu: '50m', memory: '128Mi' }, proxyMemory),
  },
} as const satisfies StructuralSchema;

/** For `spec`. */
export const proxyRules: readonly CelRule[] = [
  {
    rule: "!has(self.proxy) || self.mode == 'Sentinel'",
    message: 'proxy needs mode Sentinel: it asks the sentinels who is primary',
    fieldPath: '.proxy',
  },
  ...computeRules('proxy.resources', proxyMemory).map(({ rule, ...rest }) => ({
    ...rest,
    rule: `!has(self.proxy) || (${rule})`,
  })),
];
