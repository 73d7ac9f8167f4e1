/** What stands beside the members, in each kind that has it: an image, and CPU and memory. Both start with 32Mi. */
import type { Case, Json } from './case.ts';

export function processCases(field: 'pooler' | 'monitoring' | 'proxy'): readonly Case[] {
  const accepted = (process: Json): Case => {
    const spec = { [field]: process };
    return { story: JSON.stringify(spec).slice(0, 90), spec };
  };
  const refusal = (process: Json, at: string): Case => ({ ...accepted(process), refused: `spec.${field}.${at}` });
  return [
    accepted({}),
    accepted({ resources: { requests: { cpu: 1, memory: '32Mi' }, limits: { cpu: 1, memory: '32Mi' } } }),
    ...['requests', 'limits'].flatMap((kind) =>
      ['cpu', 'memory'].flatMap((resource) =>
        ['much', `1.${'0'.repeat(19)}Gi`].map((amount) =>
          refusal({ resources: { [kind]: { [resource]: amount } } }, `resources.${kind}.${resource}`),
        ),
      ),
    ),
    refusal({ resources: { limits: { memory: '31Mi' } } }, 'resources.limits.memory'),
    refusal({ resources: { requests: { memory: '65Mi' }, limits: { memory: '64Mi' } } }, 'resources.requests'),
    refusal({ resources: { requests: { cpu: 2 }, limits: { cpu: 1 } } }, 'resources.requests'),
    accepted({ image: 'registry.example.com:5000/tool:1.2' }),
    refusal({ image: 'tool' }, 'image'),
    refusal({ image: `${'a'.repeat(500)}:1` }, 'image'),
    refusal({ enabled: true }, 'enabled'),
  ];
}
