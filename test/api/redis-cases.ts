/**
 * RedisClusters that are accepted and refused, as a table: run offline through `validateCluster`, and on a real API
 * server by the end-to-end tests. Both must say the same, and fill in the same defaults.
 */

import type { StructuralSchema } from '../../src/api/schema.ts';
import { type Directive, isKnown, redisDirectives } from '../../src/engines/redis/kind/directives.ts';
import type { Case, Json } from './case.ts';
import { maintenanceCases } from './maintenance-cases.ts';
import { networkPolicyCases } from './network-policy-cases.ts';
import { accountCases, podCases, serviceCases } from './pod-cases.ts';
import { processCases } from './process-cases.ts';
import { createCases } from './redis-create-cases.ts';
import { engineCases } from './redis-engine-cases.ts';
import { redisImportCases } from './redis-import-cases.ts';
import { shardsCases } from './redis-shards-cases.ts';
import { redisTlsCases } from './redis-tls-cases.ts';
import { updateCases } from './redis-update-cases.ts';
import { userCases } from './redis-user-cases.ts';
import { databaseCases, place } from './target-cases.ts';

/** What a directive takes at its limits, and what lies just beyond them. */
function edges(schema: StructuralSchema): { readonly good: readonly unknown[]; readonly bad: readonly unknown[] } {
  switch (schema.type) {
    case 'boolean':
      return { good: [true, false], bad: ['yes', 1] };
    case 'integer': {
      const { minimum = 0, maximum = 0 } = schema;
      return { good: [minimum, maximum], bad: [minimum - 1, maximum + 1, `${maximum}`] };
    }
    default:
      if (schema.enum !== undefined) return { good: schema.enum, bad: ['', `${schema.enum[0]} `] };
      return schema.pattern?.includes('mb') === true
        ? { good: ['1mb', '200mb'], bad: ['0mb', '1', '1k', '-1mb', '100000000mb', 1] }
        : { good: ['', 'KEA', 'Kg$'], bad: ['Q', 'A'.repeat(17), 1] };
  }
}

/** The one bound that a rule of its own narrows, and a server that knows the directive. */
function contextOf(name: string, directive: Directive): Json {
  if (name === 'min-replicas-to-write') return { replicas: 9 };
  if (directive.mode !== undefined) return { mode: directive.mode };
  return isKnown(directive, { engine: 'Redis', version: '8.0' }) ? {} : { engine: 'Valkey', version: '8.1' };
}

const directives: readonly Case[] = Object.entries(redisDirectives).flatMap(([name, directive]) => {
  const { good, bad } = edges(directive.schema);
  const spec = (value: unknown): Json => ({ ...contextOf(name, directive), config: { [name]: value } });
  return [
    ...good.map((value) => ({ story: `${name} ${JSON.stringify(value)}`, spec: spec(value) })),
    ...bad.map((value) => ({
      story: `${name} ${JSON.stringify(value)}`,
      spec: spec(value),
      refused: `spec.config.${name}`,
    })),
  ];
});

const containers: readonly (readonly [path: string, spec: (resources: Json) => Json])[] = [
  ['spec.resources', (resources) => ({ resources })],
  ['spec.sentinel.resources', (resources) => ({ sentinel: { resources } })],
];

/** Each quantity of each container, with what is no quantity of ours. */
const quantities: readonly Case[] = containers.flatMap(([path, spec]) =>
  ['requests', 'limits'].flatMap((side) =>
    ['cpu', 'memory'].flatMap((resource) =>
      ['1 Gi', '-1', '1e3', `${'1'.repeat(12)}.123456789Mi`, '0.1Pi', true].map((value) => ({
        story: `${path}.${side}.${resource} ${value}`,
        spec: spec({ [side]: { [resource]: value } }),
        refused: `${path}.${side}.${resource}`,
      })),
    ),
  ),
);

const restores: readonly Case[] = [
  {
    story: 'a restore without volumes',
    spec: { storage: { ephemeral: true }, bootstrap: { restore: place } },
    refused: 'spec.bootstrap',
  },
];

const proxyCases: readonly Case[] = [
  { story: 'a proxy with bounds', spec: { proxy: { replicas: 10, maxClients: 20_000 } } },
  { story: 'a small proxy', spec: { proxy: { replicas: 1, maxClients: 10 } } },
  ...[0, 11].map((replicas) => ({
    story: `${replicas} proxy pods`,
    spec: { proxy: { replicas } },
    refused: 'spec.proxy.replicas',
  })),
  ...[9, 20_001].map((maxClients) => ({
    story: `a proxy for ${maxClients} clients`,
    spec: { proxy: { maxClients } },
    refused: 'spec.proxy.maxClients',
  })),
  {
    story: 'a proxy before a single node',
    spec: { mode: 'Standalone', replicas: 1, proxy: {} },
    refused: 'spec.proxy',
  },
];

export const redisCases: readonly Case[] = [
  ...createCases,
  ...updateCases,
  ...redisImportCases,
  ...engineCases,
  ...userCases,
  ...shardsCases,
  ...redisTlsCases,
  ...quantities,
  ...directives,
  // A cluster can also begin with a server elsewhere, so that what is missing is another field.
  ...databaseCases.filter(({ story }) => story !== 'a bootstrap from nothing'),
  ...restores,
  ...podCases,
  ...maintenanceCases,
  ...accountCases,
  ...processCases('monitoring'),
  ...processCases('proxy'),
  ...proxyCases,
  ...serviceCases('primary'),
  ...serviceCases('replicas'),
  ...networkPolicyCases,
  {
    story: 'a Service for the replicas of a single node',
    spec: { mode: 'Standalone', replicas: 1, access: { replicas: { type: 'NodePort' } } },
    refused: 'spec.access',
  },
];
