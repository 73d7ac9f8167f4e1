/** Who may tell other controllers something by a database. On a real API server: `test/e2e/exhaustive/pod-fields-policy.test.ts`. */
import { Environment } from '@marcbachmann/cel-js';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { podFieldsPolicy } from '../../src/constructs/pod-fields-policy.ts';
import { handlers } from '../support/handlers.ts';
import { manifestsOf } from './manifests.ts';

interface Policy {
  readonly matchConditions: readonly { readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}

const [policy] = manifestsOf((chart) => podFieldsPolicy(chart, 'a', handlers)) as readonly KubeObject[];
const { matchConditions, validations } = (policy as KubeObject).spec as Policy;

test.each(['primary', 'replicas', 'pooler', 'clients'])(
  'setting annotations of the Service access.%s needs the permission to create Services',
  (service) => {
    const field = `size(object.spec.access.${service}.annotations) > 0`;
    const [, ofServices] = validations;
    expect(matchConditions[0]?.expression).toContain(field);
    expect(ofServices?.expression).toContain(field);
    expect(ofServices?.expression).toContain("resource('services')");
  },
);

test.each(['labels', 'annotations', 'serviceAccountName'])(
  'setting pods.%s needs the permission to create pods',
  (name) => {
    const [ofPods] = validations;
    expect(matchConditions[0]?.expression).toContain(`has(object.spec.pods.${name})`);
    expect(ofPods?.expression).toContain(`has(object.spec.pods.${name})`);
    expect(ofPods?.expression).toContain("resource('pods')");
  },
);

/** Which permissions a change of the spec needs. `before`: undefined for a new resource. */
function permissions(before: object | undefined, now: object): string[] {
  const granted = (isAllowed: boolean): string => `'x' == '${isAllowed ? 'x' : 'y'}'`;
  const environment = new Environment().registerVariable('object', 'dyn').registerVariable('oldObject', 'dyn');
  const context = {
    object: { metadata: { namespace: 'a' }, spec: now },
    oldObject: before === undefined ? null : { metadata: { namespace: 'a' }, spec: before },
  };
  const isTrue = (expression: string): unknown => environment.evaluate(expression, context);
  const needed = validations.flatMap(({ expression }) => {
    const authorized = /authorizer.*resource\('([a-z]+)'\).*allowed\(\)/.exec(expression);
    if (authorized === null) throw new Error(expression);
    expect(isTrue(expression.replace(authorized[0], granted(true)))).toBe(true);
    return isTrue(expression.replace(authorized[0], granted(false))) === true ? [] : [authorized[1] ?? ''];
  });
  expect(isTrue(matchConditions[0]?.expression ?? '')).toBe(needed.length > 0);
  return needed;
}

describe('a change of the spec needs the permission to create', () => {
  const access = (annotations: object) => ({ access: { clients: { type: 'ClusterIP', annotations }, names: [] } });
  const issuer = { certManager: { issuerRef: { name: 'platform' } } };
  const named = (client: object, ...names: string[]) => ({ access: { names }, tls: { client } });

  test.each<readonly [needed: string[], before: object | undefined, now: object]>([
    [[], undefined, {}],
    [[], {}, {}],
    ...['labels', 'annotations'].flatMap((field): (readonly [string[], object | undefined, object])[] => {
      const [one, another] = [{ pods: { uid: 1, [field]: { a: 'x' } } }, { pods: { uid: 1, [field]: { a: 'y' } } }];
      return [
        [['pods'], undefined, one],
        [['pods'], {}, one],
        [['pods'], one, another],
        [['pods'], one, { pods: { uid: 1, [field]: { a: 'x', b: 'x' } } }],
        [['pods'], one, { pods: { uid: 1, [field]: {} } }],
        [['pods'], one, { pods: { uid: 1 } }],
        [['pods'], one, {}],
        [[], one, { ...one, replicas: 5 }],
        [[], undefined, { pods: { [field]: {} } }],
        [[], { pods: { [field]: {} } }, { pods: {} }],
      ];
    }),
    [['pods'], { pods: { serviceAccountName: 'a' } }, { pods: {} }],
    [[], undefined, access({})],
    [['services'], undefined, access({ a: 'x' })],
    [['services'], access({ a: 'x' }), access({})],
    [['services'], access({ a: 'x' }), {}],
    [[], access({ a: 'x' }), access({ a: 'x' })],
    [['networkpolicies'], {}, { networkPolicy: {} }],
    [['networkpolicies'], { networkPolicy: {} }, {}],
    [['certificates'], undefined, named(issuer, 'vault.example.com')],
    [['certificates'], named(issuer), named(issuer, 'vault.example.com')],
    [['certificates'], named(issuer, 'a.example.com'), named(issuer, 'a.example.com', 'vault.example.com')],
    [['certificates'], named(issuer, 'a.example.com'), named(issuer)],
    [['certificates'], named(issuer, 'a.example.com'), { tls: { client: issuer } }],
    [['certificates'], named({ selfManaged: {} }, 'a.example.com'), named(issuer, 'a.example.com')],
    [[], named(issuer, 'a.example.com'), { ...named(issuer, 'a.example.com'), replicas: 5 }],
    [[], undefined, named(issuer)],
    [[], undefined, named({ selfManaged: {} }, 'vault.example.com')],
    [[], undefined, { access: { names: ['db.example.com'] }, tls: { server: {} } }],
  ])('%j: from %j to %j', (needed, before, now) => {
    expect(permissions(before, now)).toEqual(needed);
  });
});
