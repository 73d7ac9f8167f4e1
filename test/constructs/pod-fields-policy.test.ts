/** Who may tell other controllers something by a database. On a real API server: `test/e2e/exhaustive/pod-fields-policy.test.ts`. */
import { expect, test } from 'vitest';
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
