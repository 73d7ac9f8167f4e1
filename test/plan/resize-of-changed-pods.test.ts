/** Webhooks give new pods other resources than their template has. A resize changes what the template has changed, and nothing else. */
import { describe, expect, it } from 'vitest';
import type { Template } from '../../src/plan/container-resources.ts';
import { formerRevisions, resizeOf } from '../../src/plan/resize.ts';
import type { Pod, StatefulSet } from '../../src/resources/children.ts';
import type { Requirements } from '../../src/resources/resize.ts';

const now = Date.parse('2026-11-28T12:00:00Z');
const labels = { app: 'db' };

const template = (cpu: string, memory: string): Template => ({
  metadata: { labels },
  spec: { containers: [{ name: 'db', image: 'db:1', resources: { limits: { cpu, memory } } }] },
});

const both = (cpu: string, memory: string): Requirements => ({ requests: { cpu, memory }, limits: { cpu, memory } });

interface Shape {
  readonly has: Requirements;
  readonly told?: Requirements;
  readonly label?: string;
  readonly mark?: string;
}

const pod = ({ has, told, label = 'a', mark }: Shape): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'db-0',
    labels: { ...labels, 'controller-revision-hash': label },
    ...(mark === undefined ? {} : { annotations: { 'clusterwright.dev/resize': mark } }),
  },
  spec: { containers: [{ name: 'db', resources: has }] },
  status: { phase: 'Running', containerStatuses: [{ name: 'db', ...(told === undefined ? {} : { resources: told }) }] },
});

const templates: Readonly<Record<string, Template>> = {
  a: template('1', '1Gi'),
  b: template('1', '512Mi'),
  c: template('2', '1Gi'),
};

const resizes = (shape: Shape, target: string) => {
  const set: StatefulSet = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', generation: 1 },
    spec: { selector: { matchLabels: labels }, template: templates[target] as Template },
    status: { observedGeneration: 1, updateRevision: target },
  };
  return resizeOf(pod(shape), set, { template: (revision) => templates[revision], refusal: () => undefined, now });
};
const time = '2026-11-28T11:59:00.000Z';

describe('a change of CPU alone', () => {
  it('leaves more memory where somebody has given it to the pod', () => {
    expect(resizes({ has: both('1', '4Gi') }, 'c')).toMatchObject({
      state: 'due',
      containers: [{ resources: both('2', '4Gi') }],
      changes: [
        { path: 'spec.containers[db].resources.requests.cpu' },
        { path: 'spec.containers[db].resources.limits.cpu' },
      ],
    });
  });

  it('is done when the kubelet has what the pod asks for', () => {
    const mark = `c ${time}`;
    const has = both('2', '4Gi');
    expect(resizes({ has, told: both('1', '4Gi'), mark }, 'c')?.state).toBe('underway');
    expect(resizes({ has, told: has, mark }, 'c')).toEqual({ state: 'done', revision: 'c' });
  });
});

describe('a change of memory alone', () => {
  it('gives no CPU limit to a pod that a policy keeps from having one', () => {
    const has: Requirements = { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '1Gi' } };
    const resources = { requests: { cpu: '1', memory: '512Mi' }, limits: { memory: '512Mi' } };
    expect(resizes({ has }, 'b')).toHaveProperty('containers', [
      { list: 'containers', index: 0, name: 'db', resources },
    ]);
  });
});

describe('a template that changes again before the pod has the resources', () => {
  it('is remembered with those before it', () => {
    const shape: Shape = { has: both('1', '512Mi'), mark: `b ${time}` };
    expect(resizes(shape, 'c')).toMatchObject({
      mark: 'c,b 2026-11-28T12:00:00.000Z',
      containers: [{ resources: both('2', '1Gi') }],
    });
  });

  it('has the pod get all of it where only the mark was written', () => {
    const shape: Shape = { has: both('1', '512Mi'), mark: `c,b ${time}` };
    expect(resizes(shape, 'c')).toMatchObject({ state: 'due', containers: [{ resources: both('2', '1Gi') }] });
  });

  it('leaves what somebody has given to the pod, where it goes back to the first one', () => {
    const shape: Shape = { has: both('4', '512Mi'), mark: `b ${time}` };
    expect(resizes(shape, 'a')).toMatchObject({
      mark: 'a,b 2026-11-28T12:00:00.000Z',
      containers: [{ resources: both('4', '1Gi') }],
    });
    expect(resizes({ ...shape, has: both('4', '1Gi'), told: both('4', '1Gi'), mark: `a,b ${time}` }, 'a')?.state).toBe(
      'done',
    );
  });
});

it('what others have written there asks for few templates', () => {
  const mark = `${Array.from({ length: 100 }, (_, index) => `x${index},`).join(',')} ${time}`;
  expect(formerRevisions(pod({ has: both('1', '1Gi'), mark }), 'c')).toHaveLength(9);
});
