/** What `dist/argocd/` has Argo CD say and do, in the Lua that Argo CD runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { backupKind } from '../../src/api/backup.ts';
import { mergeConditions } from '../../src/api/condition.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { unobservedStatus } from '../../src/api/observed-generation.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { actionTime } from '../../src/charts/argocd/action-examples.ts';
import type { StatusReport } from '../../src/engine/engine.ts';
import { etcdClaims, postgresClaims, redisClaims } from '../support/generated-situations.ts';
import { handlers } from '../support/handlers.ts';
import { kstatusOf } from '../support/kstatus.ts';
import { answersOf, argocdProgram, isCompiled } from './programs.ts';

const root = join(import.meta.dirname, '../../dist/argocd/resource_customizations/clusterwright.dev');
const kinds = readdirSync(root);
const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8');
const objectIn = (...path: readonly string[]): KubeObject => parse(read(...path)) as KubeObject;

interface Answer {
  readonly returned?: unknown;
  readonly error?: string;
}

function ran(scripts: readonly (readonly [script: string, object: object])[]): readonly unknown[] {
  const now = Date.parse(actionTime) / 1000;
  const questions = scripts.map(([script, object]) => ({ script, object, now }));
  return answersOf<Answer>(argocdProgram, questions).map(({ returned, error }) => error ?? returned);
}

interface HealthTests {
  readonly tests: readonly { readonly inputPath: string; readonly healthStatus: object }[];
}

interface ActionTests {
  readonly discoveryTests: readonly {
    readonly inputPath: string;
    readonly result: readonly { readonly name: string }[];
  }[];
  readonly actionTests: readonly {
    readonly action: string;
    readonly inputPath: string;
    readonly expectedOutputPath: string;
  }[];
}

const withActions = kinds.filter((kind) => readdirSync(join(root, kind)).includes('actions'));

describe.skipIf(!isCompiled(argocdProgram))('Argo CD', () => {
  test.each(kinds)('%s: has the health that its tests say', (kind) => {
    const { tests } = parse(read(kind, 'health_test.yaml')) as HealthTests;
    const script = read(kind, 'health.lua');
    const said = ran(tests.map(({ inputPath }) => [script, objectIn(kind, inputPath)]));
    expect(said).toEqual(tests.map(({ healthStatus }) => healthStatus));
    expect(tests.length).toBeGreaterThan(4);
  });

  test.each(withActions)('%s: offers the actions that its tests say', (kind) => {
    const { discoveryTests } = parse(read(kind, 'actions', 'action_test.yaml')) as ActionTests;
    const script = read(kind, 'actions', 'discovery.lua');
    const said = ran(discoveryTests.map(({ inputPath }) => [script, objectIn(kind, 'actions', inputPath)]));
    expect(said).toEqual(
      discoveryTests.map(({ result }) => Object.fromEntries(result.map(({ name, ...offer }) => [name, offer]))),
    );
  });

  test.each(withActions)('%s: does what its tests say, and the API accepts it', (kind) => {
    const { actionTests } = parse(read(kind, 'actions', 'action_test.yaml')) as ActionTests;
    const said = ran(
      actionTests.map(({ action, inputPath }) => [
        read(kind, 'actions', action, 'action.lua'),
        objectIn(kind, 'actions', inputPath),
      ]),
    );
    actionTests.forEach(({ action, expectedOutputPath }, i) => {
      const wanted = objectIn(kind, 'actions', expectedOutputPath);
      expect(said[i]).toEqual(action === 'back-up' ? [{ operation: 'create', resource: wanted }] : wanted);
      const handler = handlers.find((each) => each.kind.resource.kind === wanted.kind);
      const verdict = handler === undefined ? undefined : validateCluster(handler.kind, wanted);
      expect(verdict).toMatchObject({ ok: true });
    });
  });

  test('a Backup of a cluster with a long name has a shorter one', () => {
    const script = read('RedisCluster', 'actions', 'back-up', 'action.lua');
    const running = objectIn('RedisCluster', 'actions', 'testdata/running.yaml');
    const named = (name: string): KubeObject => ({ ...running, metadata: { ...running.metadata, name } });
    const said = ran([25, 26, 40].map((length) => [script, named('a'.repeat(length))]));
    const made = said.map((list) => (list as readonly [{ readonly resource: KubeObject }])[0].resource);
    expect(made.map(({ metadata }) => metadata.name)).toEqual([
      `${'a'.repeat(25)}-20300601120000`,
      'backup-20300601120000',
      'backup-20300601120000',
    ]);
    expect(made.map((backup) => validateCluster(backupKind, backup).ok)).toEqual([true, true, true]);
  });

  test('no Backup is made where there is no target', () => {
    const script = read('EtcdCluster', 'actions', 'back-up', 'action.lua');
    const [said] = ran([[script, objectIn('EtcdCluster', 'actions', 'testdata/no-target.yaml')]]);
    expect(said).toContain('spec.backup names no target');
  });

  test('one that no operator has looked at is not healthy, with a default of the status and without', () => {
    const object = objectIn('PostgresCluster', 'testdata/ready.yaml');
    const [script, { status: _, ...written }] = [read('PostgresCluster', 'health.lua'), object];
    const said = ran([
      [script, written],
      [script, { ...object, status: unobservedStatus }],
      [script, { ...object, status: { observedGeneration: 2 } }],
    ]);
    const message = 'Waiting for the operator to observe the resource';
    expect(said).toEqual(Array.from({ length: 3 }, () => ({ status: 'Progressing', message })));
  });

  test.each<[string, string, fc.Arbitrary<StatusReport>]>([
    ['RedisCluster', 'Redis', redisClaims],
    ['EtcdCluster', 'etcd', etcdClaims],
    ['PostgresCluster', 'PostgreSQL', postgresClaims],
  ])('says of a %s what Flux says', (kind, _, claims) => {
    const script = read(kind, 'health.lua');
    const example = objectIn(kind, 'testdata', 'ready.yaml');
    const objects = fc.sample(claims, { numRuns: 150, seed: 29 }).map(({ phase, conditions }) => ({
      ...example,
      status: { observedGeneration: 2, phase, conditions: mergeConditions([], conditions, 2, actionTime) },
    }));
    const said = ran(objects.map((object) => [script, object])) as readonly { readonly status: string }[];
    const both = new Set(said.map(({ status }, i) => `${kstatusOf(objects[i] ?? example)} ${status}`));
    // A database that repairs itself is in progress to Flux, and Degraded to people who look at it.
    const agreeing = ['Current Healthy', 'InProgress Progressing', 'InProgress Degraded', 'Failed Degraded'];
    expect([...both].filter((words) => !agreeing.includes(words))).toEqual([]);
    expect(both.size).toBe(agreeing.length);
  });
});
