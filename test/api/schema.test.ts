import { describe, expect, test } from 'vitest';
import { schemaViolations } from '../../src/api/check.ts';
import { customResourceDefinition } from '../../src/api/crd.ts';
import type { StructuralSchema } from '../../src/api/schema.ts';
import { celName } from '../../src/api/schema.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { type RedisSpec, type RedisSpecInput, redisKind } from '../../src/engines/redis/kind/schema.ts';
import { kindCases } from './kind-cases.ts';
import { structuralFaults } from './structural.ts';

describe('the schema', () => {
  test.each(kindCases)('of $name is structural, bounded, and describes every field', ({ kind }) => {
    expect(structuralFaults(kind.schema)).toEqual([]);
  });

  test.each(kindCases)('of $name tells a resource that nobody has looked at from one that is ready', ({ kind }) => {
    const { status } = kind.schema.properties ?? {};
    expect(status?.default).toEqual({ observedGeneration: -1 });
    expect(status === undefined ? undefined : schemaViolations(status, status.default)).toEqual([]);
    expect(kind.schema.required).not.toContain('status');
  });

  test.each<[string, object, string]>([
    [
      'additionalProperties: false',
      { type: 'object', description: 'd', properties: {}, additionalProperties: false },
      'exclude each other',
    ],
    ['a reference', { type: 'object', description: 'd', properties: {}, $ref: '#/x' }, 'keyword $ref'],
    ['no type', { description: 'd', properties: {} }, 'a type, or int-or-string'],
    [
      'a list of type map without keys',
      {
        type: 'object',
        description: 'd',
        properties: {
          a: {
            type: 'array',
            description: 'd',
            maxItems: 1,
            'x-kubernetes-list-type': 'map',
            items: { type: 'string', description: 'd', maxLength: 1 },
          },
        },
      },
      'map keys',
    ],
    [
      'a string without a bound',
      { type: 'object', description: 'd', properties: { a: { type: 'string', description: 'd' } } },
      'string without a bound',
    ],
    [
      'a field without a description',
      { type: 'object', description: 'd', properties: { a: { type: 'boolean' } } },
      '.a: no description',
    ],
    [
      'a pattern that is open',
      {
        type: 'object',
        description: 'd',
        properties: { a: { type: 'string', description: 'd', maxLength: 9, pattern: 'a' } },
      },
      'anchored',
    ],
  ])('would be faulted for %s', (_, schema, fault) => {
    expect(structuralFaults(schema as StructuralSchema).join('\n')).toContain(fault);
  });

  // The API server refuses more than 262,144 bytes of annotations, and a client-side apply keeps the whole object in one of them. Half of it leaves
  // room for annotations of others, and a kind that grows fails here long before it cannot be installed. PostgresCluster, the largest, has 89 kB.
  test.each(kindCases)(
    'of $name fits what a client-side apply could carry, so that any tool can install it',
    ({ kind }) => {
      expect(JSON.stringify(customResourceDefinition(kind)).length).toBeLessThan(262_144 / 2);
    },
  );
});

describe('the types read off the schema', () => {
  test('refuse what the schema refuses', () => {
    const inputs: readonly RedisSpecInput[] = [
      {},
      { replicas: 5, config: { maxmemory: '1mb', 'maxmemory-policy': 'allkeys-lru' } },
      {
        resources: { limits: { memory: 268_435_456 } },
        scheduling: { tolerations: [{ key: 'a' }], nodeSelector: { a: 'b' } },
      },
      // @ts-expect-error a mistyped field
      { replica: 3 },
      // @ts-expect-error a mistyped field further down
      { scheduling: { tolerations: [{ keey: 'a' }] } },
      // @ts-expect-error a directive that is not on the list
      { config: { dir: '/' } },
      // @ts-expect-error a value that is not in the enum
      { mode: 'Cluser' },
      // @ts-expect-error a required field left out
      { auth: { secretRef: {} } },
      // @ts-expect-error text for a number
      { replicas: '3' },
    ];
    const verdicts = inputs.map((spec) =>
      validateCluster(redisKind, {
        apiVersion: 'clusterwright.dev/v1alpha1',
        kind: 'RedisCluster',
        metadata: { name: 'a' },
        spec,
      }),
    );
    expect(verdicts.map((verdict) => verdict.ok)).toEqual(inputs.map((_, i) => i < 3));
  });

  test('know which fields are always there', () => {
    const read = (spec: RedisSpec): readonly [number, string, boolean] => [
      spec.sentinel.quorum,
      spec.storage.size,
      spec.paused,
    ];
    // @ts-expect-error an optional field
    const image = (spec: RedisSpec): string => spec.image;
    expect([read.length, image.length]).toEqual([1, 1]);
  });
});

test('CEL spells names that are no identifiers', () => {
  expect(['appendfsync', 'repl-timeout', 'a__b'].map(celName)).toEqual([
    'appendfsync',
    'repl__dash__timeout',
    'a__underscores__b',
  ]);
});
