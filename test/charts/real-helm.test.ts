/** The chart rendered by Helm itself, and compared with what the constructs synthesize. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { helmChart } from '../../src/charts/helm/chart.ts';
import { Crds } from '../../src/constructs/crds.ts';
import { Operator, type OperatorProps } from '../../src/constructs/operator.ts';
import { writeFiles } from '../../src/system/write-files.ts';
import { findObject, manifestsOf } from '../constructs/manifests.ts';
import { hasHelm, helm, helmBinary, rendered } from '../support/helm.ts';

const release = 'databases';

const idOf = ({ kind, metadata: { namespace = '', name } }: KubeObject): string => `${kind} ${namespace} ${name}`;
const sorted = (objects: readonly KubeObject[]): KubeObject[] =>
  [...objects].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));

const isCrd = ({ kind }: KubeObject): boolean => kind === 'CustomResourceDefinition';
const isCheck = ({ kind }: KubeObject): boolean => kind === 'Pod';
const isOfOperator = (object: KubeObject): boolean => !isCrd(object) && !isCheck(object);

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

interface Case {
  readonly values: object;
  readonly props: OperatorProps;
  readonly namespace?: string;
}

/** What a release in `databases` is, with the values of the chart. */
const usual: OperatorProps = {
  namespace: release,
  createNamespace: false,
  watch: { namespaces: [release] },
  clusterScopedName: `clusterwright-${release}`,
};

const cases: Readonly<Record<string, Case>> = {
  'the values of the chart': { values: {}, props: {} },
  'all namespaces': { values: { watch: { all: true } }, props: { watch: { all: true } } },
  'some namespaces, in any order': {
    values: { watch: { namespaces: ['shop', 'bank'] } },
    props: { watch: { namespaces: ['shop', 'bank'] } },
  },
  'the namespace of the manifests': {
    namespace: 'clusterwright-system',
    values: { watch: { all: true } },
    props: { namespace: 'clusterwright-system', watch: { all: true }, clusterScopedName: 'clusterwright' },
  },
  'no dry runs, all namespaces': {
    values: { dryRuns: false, watch: { all: true } },
    props: { dryRuns: false, watch: { all: true } },
  },
  'no dry runs, some namespaces': {
    values: { dryRuns: false, watch: { namespaces: ['a', 'b'] } },
    props: { dryRuns: false, watch: { namespaces: ['a', 'b'] } },
  },
  'no roles of users': { values: { extendUserRoles: false }, props: { extendUserRoles: false } },
  'an image by tag': {
    values: { image: { repository: 'r.example:5000/team/clusterwright', tag: '1.2.3-rc.1', pullPolicy: 'Always' } },
    props: { image: 'r.example:5000/team/clusterwright:1.2.3-rc.1', imagePullPolicy: 'Always' },
  },
  'an image by digest': {
    values: { image: { repository: 'r.example/clusterwright', tag: 'ignored', digest } },
    props: { image: `r.example/clusterwright@${digest}` },
  },
  'the image of the operator in a registry of its own': {
    values: { imageRegistry: 'r.example:5000/mirror' },
    props: { imageRegistry: 'r.example:5000/mirror' },
  },
  'a registry beside a named image': {
    values: { imageRegistry: 'r.example/mirror', image: { repository: 'other.example/clusterwright', tag: '2' } },
    props: { imageRegistry: 'r.example/mirror', image: 'other.example/clusterwright:2' },
  },
  'some resources': {
    values: { resourceSelector: 'tier in (blue, green),!old', imageRegistry: 'r.example', watch: { all: true } },
    props: { resourceSelector: 'tier in (blue, green),!old', imageRegistry: 'r.example', watch: { all: true } },
  },
  'everything that a company sets': {
    values: {
      imagePullSecrets: [{ name: 'registry' }, { name: 'mirror' }],
      replicas: 3,
      apiServerPorts: [8443],
      logLevel: 'debug',
      resources: { requests: { cpu: 1, memory: '128Mi' }, limits: { memory: '1Gi' } },
      nodeSelector: { 'kubernetes.io/arch': 'amd64', pool: 'true' },
      tolerations: [
        { key: 'dedicated', operator: 'Equal', value: 'yes', effect: 'NoSchedule' },
        { operator: 'Exists' },
      ],
      priorityClassName: 'system-cluster-critical',
      labels: { team: 'on', 'app.kubernetes.io/name': 'not this', cost: '1' },
      annotations: { 'a.example/b': '{{ no template }} "quoted"', 'argocd.argoproj.io/sync-wave': '9' },
      clusterScopedName: 'second',
    },
    props: {
      imagePullSecrets: [{ name: 'registry' }, { name: 'mirror' }],
      replicas: 3,
      apiServerPorts: [8443],
      logLevel: 'debug',
      resources: { cpu: '1', memory: '128Mi', memoryLimit: '1Gi' },
      nodeSelector: { 'kubernetes.io/arch': 'amd64', pool: 'true' },
      tolerations: [
        { key: 'dedicated', operator: 'Equal', value: 'yes', effect: 'NoSchedule' },
        { operator: 'Exists' },
      ],
      priorityClassName: 'system-cluster-critical',
      labels: { team: 'on', 'app.kubernetes.io/name': 'not this', cost: '1' },
      annotations: { 'a.example/b': '{{ no template }} "quoted"', 'argocd.argoproj.io/sync-wave': '9' },
      clusterScopedName: 'second',
    },
  },
};

const refused: readonly (readonly [object, string])[] = [
  [{ replica: 3 }, 'replica'],
  [{ replicas: 0 }, '/replicas'],
  [{ logLevel: 'loud' }, '/logLevel'],
  [{ image: { digest: 'sha256:1' } }, '/image/digest'],
  [{ resourceSelector: 'tier=blue env=a' }, '/resourceSelector'],
  [{ resourceSelector: 'tier > 1' }, '/resourceSelector'],
  [{ imageRegistry: 'mirror' }, '/imageRegistry'],
  [{ imageRegistry: 'https://r.example' }, '/imageRegistry'],
  [{ imagePullSecrets: ['registry'] }, '/imagePullSecrets/0'],
  [{ watch: { all: true, namespaces: ['shop'] } }, 'exclude each other'],
  [{ watch: { namespaces: ['*'] } }, '/watch/namespaces/0'],
  [{ watch: { namespaces: [''] } }, '/watch/namespaces/0'],
  [{ labels: { 'app.kubernetes.io/managed-by': 'clusterwright' } }, '/labels/'],
];

if (!hasHelm) console.log(`no ${helmBinary}: the tests of the chart that need Helm are skipped`);

describe.skipIf(!hasHelm)('Helm', () => {
  const chart = mkdtempSync(join(tmpdir(), 'clusterwright-chart-'));
  beforeAll(() => writeFiles(chart, helmChart()));
  afterAll(() => rmSync(chart, { recursive: true }));

  test.each(Object.keys(cases))('renders the objects of the construct: %s', (name) => {
    const { values, props, namespace = release } = cases[name] ?? { values: {}, props: {} };
    const objects = rendered(chart, namespace, values).filter(isOfOperator);
    const expected = manifestsOf((scope) => void new Operator(scope, 'operator', { ...usual, ...props }));
    expect(sorted(objects)).toEqual(sorted(expected));
  });

  test('renders the CRDs of the construct, which it never deletes, unless they are not wanted', () => {
    const crds = manifestsOf((scope) => void new Crds(scope, 'crds'));
    const kept = crds.map(({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, annotations: { ...metadata.annotations, 'helm.sh/resource-policy': 'keep' } },
    }));
    expect(sorted(rendered(chart, release, {}).filter(isCrd))).toEqual(sorted(kept as KubeObject[]));
    expect(rendered(chart, release, { crds: { install: false } }).filter(isCrd)).toEqual([]);
  });

  test('renders a check that runs the image of the operator where the operator runs, and is not one of its pods', () => {
    const values = cases['everything that a company sets']?.values ?? {};
    const objects = rendered(chart, release, values);
    const check = findObject(objects, 'Pod', 'clusterwright-check');
    const { template } = findObject(objects, 'Deployment', 'clusterwright').spec as { template: KubeObject };
    const [ours, operators] = [check.spec, template.spec] as Record<string, unknown>[];
    for (const field of ['imagePullSecrets', 'nodeSelector', 'tolerations', 'priorityClassName', 'securityContext']) {
      expect(ours?.[field]).toEqual(operators?.[field]);
    }
    expect(check.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'test', 'a.example/b': expect.anything() });
    expect(check.metadata.labels?.['app.kubernetes.io/component']).toBe('check');
    expect(template.metadata.labels?.['app.kubernetes.io/component']).toBe('operator');
  });

  test.each(refused)('refuses %j', (values, place) => {
    expect(() => rendered(chart, release, values)).toThrow(place);
  });

  test('takes the chart as one of its dependencies gives it', () => {
    expect(() => rendered(chart, release, { global: { imageRegistry: 'r.example' } })).not.toThrow();
  });

  test('finds no fault in the chart', () => {
    const { ok, stdout } = helm(['lint', '--strict', chart]);
    expect(stdout).toContain('0 chart(s) failed');
    expect(ok).toBe(true);
  });
});
