/** CPU and memory of a container: only these two, because nothing else can be promised on every node. */
import { quantityPattern } from './quantity.ts';
import type { CelRule, StructuralSchema } from './schema.ts';

const quantity = (description: string) =>
  ({
    description,
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern: quantityPattern,
    maxLength: 20,
  }) as const;

/**
 * The memory limit always exists: a database without one takes its neighbours down. Its request is the limit where none
 * is given, as in Kubernetes itself. There is no default CPU limit: throttling a database shows as failed health checks.
 */
export const computeSchema = <const Cpu extends string, const Memory extends string>(
  of: string,
  defaults: { readonly cpu: Cpu; readonly memory: Memory },
  minimumMemory: string,
) =>
  ({
    type: 'object',
    description: `CPU and memory of ${of}.`,
    default: {},
    properties: {
      requests: {
        type: 'object',
        description: 'Requested CPU and memory.',
        default: {},
        properties: {
          cpu: { ...quantity('CPU, for example 500m.'), default: defaults.cpu },
          memory: quantity('Memory, for example 512Mi. When absent, the memory limit.'),
        },
      },
      limits: {
        type: 'object',
        description: 'Limits of CPU and memory.',
        default: {},
        properties: {
          cpu: quantity('CPU, for example 2. When absent, there is no limit.'),
          memory: { ...quantity(`Memory, at least ${minimumMemory}.`), default: defaults.memory },
        },
      },
    },
  }) as const satisfies StructuralSchema;

/** The rules about such a field, for the `spec` that holds it at `path`. */
export function computeRules(path: string, minimumMemory: string): readonly CelRule[] {
  const at = `self.${path}`;
  const atMost = (resource: 'cpu' | 'memory'): CelRule => ({
    rule: `!has(${at}.requests.${resource}) || !has(${at}.limits.${resource}) || quantity(string(${at}.requests.${resource})).compareTo(quantity(string(${at}.limits.${resource}))) <= 0`,
    message: `${path}.requests.${resource} must not exceed ${path}.limits.${resource}`,
    fieldPath: `.${path}.requests`,
  });
  return [
    atMost('cpu'),
    atMost('memory'),
    {
      rule: `quantity(string(${at}.limits.memory)).compareTo(quantity('${minimumMemory}')) >= 0`,
      message: `${path}.limits.memory must be at least ${minimumMemory}`,
      fieldPath: `.${path}.limits.memory`,
    },
  ];
}
