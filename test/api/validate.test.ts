import { describe, expect, test } from 'vitest';
import { scheduleKind } from '../../src/api/backup-schedule.ts';
import type { KindDefinition } from '../../src/api/kind.ts';
import { apiVersionOf } from '../../src/api/object.ts';
import type { StructuralSchema } from '../../src/api/schema.ts';
import { validateCluster } from '../../src/api/validate.ts';
import type { Violation } from '../../src/api/violation.ts';
import { etcdKind } from '../../src/engines/etcd/kind/schema.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { type Case, formerOf, objectOf } from './case.ts';
import { kindCases } from './kind-cases.ts';

const apiVersion = 'clusterwright.dev/v1alpha1';

function verdictOf(row: Case, kind: KindDefinition) {
  return validateCluster(kind, objectOf(row, row.spec, kind.resource), {
    ...(row.old === undefined ? {} : { old: formerOf(row, kind.resource) }),
    ...(row.prunes === true ? { unknown: 'prune' } : {}),
  });
}

describe.each(kindCases)('each case of the table of $name', ({ kind, cases }) => {
  test('is large enough to mean something', () => {
    expect(cases.length).toBeGreaterThan(60);
    expect(cases.filter((row) => row.refused === undefined).length).toBeGreaterThan(10);
  });

  test.each(cases)('$story', (row) => {
    const verdict = verdictOf(row, kind);
    const faults = verdict.ok ? [] : verdict.violations.map((v) => v.path);
    if (row.refused === undefined) expect(faults).toEqual([]);
    else expect(faults).toContain(row.refused);
  });

  test('an update is accepted only from an object that was valid itself', () => {
    for (const row of cases) {
      if (row.old === undefined) continue;
      expect(verdictOf({ story: row.story, spec: row.old }, kind), row.story).toMatchObject({ ok: true });
    }
  });
});

function violationsOf(row: Case, kind: KindDefinition): readonly Violation[] {
  const verdict = verdictOf(row, kind);
  return verdict.ok ? [] : verdict.violations;
}

/** Every copy of the schema that lacks one CEL rule, with that rule and its place. */
function withoutEachRule(
  schema: StructuralSchema,
): { readonly rule: string; readonly text: string; readonly schema: StructuralSchema }[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const own = rules.map((rule) => ({
    rule: rule.rule,
    text: rule.rule,
    schema: { ...schema, 'x-kubernetes-validations': rules.filter((other) => other !== rule) },
  }));
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    withoutEachRule(child).map((mutant) => ({
      rule: `${name}: ${mutant.rule}`,
      text: mutant.text,
      schema: { ...schema, properties: { ...schema.properties, [name]: mutant.schema } },
    })),
  );
  const { items } = schema;
  const inItems =
    items === undefined
      ? []
      : withoutEachRule(items).map((mutant) => ({ ...mutant, schema: { ...schema, items: mutant.schema } }));
  return [...own, ...below, ...inItems];
}

describe.each(kindCases)('each CEL rule of $name', ({ kind, cases }) => {
  const refusals = cases
    .filter((row) => row.refused !== undefined)
    .map((row) => ({ row, texts: new Set(violationsOf(row, kind).map((violation) => violation.rule)) }));

  test.each(withoutEachRule(kind.schema))('is missed when it is taken out: $rule', ({ text, schema }) => {
    const mutant: KindDefinition = { ...kind, schema };
    // Without the rule, only what this rule alone refuses can be accepted.
    const candidates = refusals.filter(({ texts }) => texts.size === 1 && texts.has(text));
    expect(candidates.some(({ row }) => verdictOf(row, mutant).ok)).toBe(true);
  });
});

/** Bounds of strings, numbers, lists and maps. */
const bounds = ['pattern', 'enum', 'minimum', 'maximum', 'maxLength', 'maxItems', 'maxProperties', 'required'] as const;

function withoutEachBound(
  schema: StructuralSchema,
  path = '',
): { readonly bound: string; readonly schema: StructuralSchema }[] {
  const own = bounds.flatMap((bound) => {
    const { [bound]: value, ...rest } = schema;
    return value === undefined ? [] : [{ bound: `${path} ${bound}`, schema: rest }];
  });
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    name === 'status' || name === 'config'
      ? []
      : withoutEachBound(child, `${path}.${name}`).map((mutant) => ({
          bound: mutant.bound,
          schema: { ...schema, properties: { ...schema.properties, [name]: mutant.schema } },
        })),
  );
  const nested = (['items', 'additionalProperties'] as const).flatMap((key) => {
    const child = schema[key];
    return child === undefined
      ? []
      : withoutEachBound(child, `${path}[]`).map((mutant) => ({
          bound: mutant.bound,
          schema: { ...schema, [key]: mutant.schema },
        }));
  });
  return [...own, ...below, ...nested];
}

describe.each(kindCases)('each bound of the schema of $name', ({ kind, cases }) => {
  const refusals = cases.filter((row) => row.refused !== undefined);
  const before = new Map(refusals.map((row) => [row, faultsOf(row, kind)]));

  function faultsOf(row: Case, judged: KindDefinition): string {
    return violationsOf(row, judged)
      .map((v) => `${v.path} ${v.rule}`)
      .join('\n');
  }

  test.each(withoutEachBound(kind.schema))('is missed when it is taken out: $bound', ({ bound, schema }) => {
    const mutant: KindDefinition = { ...kind, schema };
    const keyword = bound.slice(bound.lastIndexOf(' ') + 1);
    // A keyword changes only the verdict of an object that breaks it somewhere.
    const candidates = refusals.filter((row) => before.get(row)?.includes(` ${keyword}`));
    expect(candidates.some((row) => faultsOf(row, mutant) !== before.get(row))).toBe(true);
  });
});

describe('a verdict', () => {
  test('names path, rule and reason of every fault, sorted', () => {
    const verdict = validateCluster(redisKind, {
      apiVersion,
      kind: 'RedisCluster',
      metadata: { name: 'Sample' },
      spec: { replicas: 12, storage: { sise: '1Gi' }, scheduling: { tolerations: [{ operator: 'x' }] }, mode: 'x' },
    });
    expect(verdict).toEqual({
      ok: false,
      violations: [
        {
          path: 'metadata.name',
          rule: 'pattern ^[a-z]([-a-z0-9]*[a-z0-9])?$',
          message: 'must be lower-case letters, digits and dashes, with a letter first and no dash last',
        },
        {
          path: 'spec.mode',
          rule: 'enum Standalone, Sentinel, Cluster',
          message: 'must be one of Standalone, Sentinel, Cluster',
        },
        { path: 'spec.replicas', rule: 'maximum 9', message: 'must be at most 9' },
        {
          path: 'spec.scheduling.tolerations[0].operator',
          rule: 'enum Equal, Exists',
          message: 'must be one of Equal, Exists',
        },
        { path: 'spec.storage.sise', rule: 'known field', message: 'unknown field' },
      ],
    });
  });

  test.each([
    ['a list', [], ''],
    ['nothing', undefined, ''],
    ['another kind', { apiVersion, kind: 'Redis', metadata: { name: 'a' }, spec: {} }, 'kind'],
    ['another group', { apiVersion: 'v1', kind: 'RedisCluster', metadata: { name: 'a' }, spec: {} }, 'apiVersion'],
    ['no metadata', { apiVersion, kind: 'RedisCluster', spec: {} }, 'metadata'],
    ['no name', { apiVersion, kind: 'RedisCluster', metadata: {}, spec: {} }, 'metadata.name'],
    [
      'a bad namespace',
      { apiVersion, kind: 'RedisCluster', metadata: { name: 'a', namespace: '../b' }, spec: {} },
      'metadata.namespace',
    ],
    [
      'labels that are a list',
      { apiVersion, kind: 'RedisCluster', metadata: { name: 'a', labels: [] }, spec: {} },
      'metadata.labels',
    ],
  ])('refuses %s', (_, object, path) => {
    const verdict = validateCluster(redisKind, object);
    expect(verdict.ok ? [] : verdict.violations.map((v) => v.path)).toEqual([path]);
  });

  test.each([
    [
      '0 3 * *',
      'must have five parts with one blank between them: minute, hour, day of the month, month, day of the week',
    ],
    ['60 3 * * *', 'the minute (part 1 of 5) must be * or numbers from 0 to 59'],
    ['0 3 32 * *', 'the day of the month (part 3 of 5) must be * or numbers from 1 to 31'],
    ['0 3 * * MON', 'the day of the week (part 5 of 5) must be * or numbers from 0 to 6, from Sunday'],
  ])('tells in words what is wrong with the schedule %j', (schedule, words) => {
    const { resource } = scheduleKind;
    const verdict = validateCluster(scheduleKind, {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: { name: 'nightly' },
      spec: { cluster: { kind: 'EtcdCluster', name: 'db' }, schedule, target: { claim: { name: 'backups' } } },
    });
    expect(verdict.ok ? [] : verdict.violations).toMatchObject([
      { path: 'spec.schedule', message: expect.stringContaining(words) },
    ]);
  });

  test.each<[string, KindDefinition, object, object | undefined, string]>([
    ['Redis', redisKind, { version: '8.0.2' }, undefined, 'must be major.minor, such as 8.0'],
    ['Redis', redisKind, { version: 'v8.0' }, { version: '7.2' }, 'supported are 7 and 8'],
    [
      'Redis',
      redisKind,
      { version: 'latest', config: { 'set-max-listpack-value': 32 } },
      undefined,
      'supported are 7 and 8',
    ],
    ['etcd', etcdKind, { version: '3.6' }, undefined, 'must be major.minor.patch, such as 3.6.16'],
    ['etcd', etcdKind, { version: 'v3.6.1' }, { version: '3.5.11' }, 'supported are 3.5, from 3.5.11 on, and 3.6'],
  ])('tells once and in words which version of %s is wanted', (_, kind, spec, old, words) => {
    const object = (content: object) => ({
      apiVersion,
      kind: kind.resource.kind,
      metadata: { name: 'a' },
      spec: content,
    });
    const verdict = validateCluster(kind, object(spec), old === undefined ? {} : { old: object(old) });
    expect(verdict.ok ? [] : verdict.violations).toMatchObject([
      { path: 'spec.version', message: expect.stringContaining(words) },
    ]);
  });

  test('leaves the input alone and shares nothing with it', () => {
    const object = {
      apiVersion,
      kind: 'RedisCluster',
      metadata: { name: 'a' },
      spec: { scheduling: { affinity: { podAffinity: { x: [1] } } } },
    };
    const copy = structuredClone(object);
    const verdict = validateCluster(redisKind, object);
    expect(object).toEqual(copy);
    expect(verdict.ok && (verdict.cluster.spec as typeof object.spec).scheduling.affinity.podAffinity.x).not.toBe(
      object.spec.scheduling.affinity.podAffinity.x,
    );
  });

  test.each([
    [16_000, []],
    [17_000, [{ path: 'spec.scheduling.affinity.podAffinity', message: expect.stringContaining('16384') }]],
  ])('bounds what the schema leaves open: %i characters', (length, violations) => {
    const spec = { scheduling: { affinity: { podAffinity: { x: 'y'.repeat(length) } } } };
    const verdict = validateCluster(redisKind, { apiVersion, kind: 'RedisCluster', metadata: { name: 'a' }, spec });
    expect(verdict.ok ? [] : verdict.violations).toMatchObject(violations);
  });

  test('gives a cluster without a namespace the one it is asked for', () => {
    const object = { apiVersion, kind: 'RedisCluster', metadata: { name: 'a' }, spec: {} };
    const named = validateCluster(redisKind, object, { namespace: 'b' });
    expect(named.ok && named.cluster.metadata.namespace).toBe('b');
  });

  test('keeps the status of an object that was read', () => {
    const status = { initialized: true, members: [] };
    const verdict = validateCluster(redisKind, {
      apiVersion,
      kind: 'RedisCluster',
      metadata: { name: 'a' },
      spec: {},
      status,
    });
    expect(verdict.ok && verdict.cluster.status).toEqual(status);
  });

  test('fills in no status: that is what the API server shows of an object, and nobody writes', () => {
    const verdict = validateCluster(redisKind, { apiVersion, kind: 'RedisCluster', metadata: { name: 'a' }, spec: {} });
    expect(verdict.ok && verdict.cluster).not.toHaveProperty('status');
  });

  test('a key named __proto__ reaches no prototype', () => {
    const spec = JSON.parse(
      '{"__proto__": {"replicas": 5}, "scheduling": {"nodeSelector": {"__proto__": "x"}}}',
    ) as object;
    const verdict = validateCluster(
      redisKind,
      { apiVersion, kind: 'RedisCluster', metadata: { name: 'a' }, spec },
      { unknown: 'prune' },
    );
    expect(verdict.ok ? [] : verdict.violations.map((v) => v.path)).toEqual(['spec.scheduling.nodeSelector']);
  });
});
