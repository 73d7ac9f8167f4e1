/** The operator's objects, which are constructs of cdk8s-plus with fields that these have no property for. */
import { Construct } from 'constructs';
import { expect, test } from 'vitest';
import { Operator, type OperatorProps } from '../../src/constructs/operator.ts';
import { manifestsOf } from './manifests.ts';

/** With every setting that has a field of its own. */
const props: OperatorProps = {
  resources: { cpu: '1', memory: '1Gi', memoryLimit: '2Gi' },
  apiServerPorts: [8443],
  imagePullSecrets: [{ name: 'registry' }],
  nodeSelector: { tier: 'platform' },
  tolerations: [{ key: 'platform', operator: 'Exists', tolerationSeconds: 30 }],
  priorityClassName: 'platform',
  labels: { team: 'platform' },
  annotations: { note: 'ours' },
};

/** JSON pointers to what would be null in YAML. */
function nulls(value: unknown, at: string): readonly string[] {
  if (value === null || value === undefined) return [at];
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, each]) => nulls(each, `${at}/${key}`));
}

test('no number and no quantity is lost on the way', () => {
  const objects = manifestsOf((chart) => void new Operator(chart, 'operator', props));
  expect(objects.flatMap((object) => nulls(object, object.kind))).toEqual([]);
  const withoutNumber = /"ports":\[(?:\{[^}]*\},)*\{"protocol":"[A-Z]+"\}/;
  expect(objects.filter((object) => withoutNumber.test(JSON.stringify(object)))).toEqual([]);
});

test('the place of the construct in an app changes nothing', () => {
  const outside = manifestsOf((chart) => void new Operator(chart, 'operator', props));
  const inside = manifestsOf((chart) => void new Operator(new Construct(chart, 'platform'), 'controller', props));
  expect(inside).toEqual(outside);
  expect(JSON.stringify(outside)).not.toContain('cdk8s.io/');
});
