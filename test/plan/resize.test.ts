import { describe, expect, it } from 'vitest';
import type { Template } from '../../src/plan/container-resources.ts';
import { isResizing, type ResizeFacts, resizeOf } from '../../src/plan/resize.ts';
import type { Pod, StatefulSet } from '../../src/resources/children.ts';
import type { Requirements } from '../../src/resources/resize.ts';

const now = Date.parse('2026-11-28T12:00:00Z');
const minutesAgo = (count: number): string => new Date(now - count * 60_000).toISOString();

const small: Requirements = { requests: { cpu: '100m' }, limits: { memory: '1Gi' } };
const large: Requirements = { requests: { cpu: '200m' }, limits: { memory: '2Gi' } };
/** As a pod has them: what it is not asked for is its limit. */
const inPod = ({ requests, limits }: Requirements): Requirements => ({
  requests: { ...limits, ...requests },
  ...(limits === undefined ? {} : { limits }),
});

type Container = NonNullable<NonNullable<Template['spec']>['containers']>[number];
const template = (resources: Requirements, more: Partial<Container> = {}, rest: object = {}): Template => ({
  metadata: { labels: { app: 'db' } },
  spec: { containers: [{ name: 'db', image: 'db:1', resources, ...more }], ...rest },
});

const set = (
  of: Template,
  status: StatefulSet['status'] = { observedGeneration: 1, updateRevision: 'new' },
): StatefulSet => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', generation: 1 },
  spec: { selector: { matchLabels: { app: 'db' } }, template: of },
  status,
});

interface Shape {
  readonly has?: Requirements;
  readonly told?: Requirements;
  readonly revision?: string;
  readonly mark?: string;
  readonly conditions?: NonNullable<Pod['status']>['conditions'];
  readonly container?: Partial<Container>;
  readonly phase?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Pod['spec'];
}

const pod = ({
  has = inPod(small),
  told,
  revision = 'old',
  mark,
  conditions = [],
  container,
  phase = 'Running',
  labels = { app: 'db' },
  spec,
}: Shape = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'db-0',
    uid: 'uid',
    generation: 3,
    labels: { ...labels, 'controller-revision-hash': revision },
    ...(mark === undefined ? {} : { annotations: { 'clusterwright.dev/resize': mark } }),
  },
  spec: spec ?? { containers: [{ name: 'proxy' }, { name: 'db', resources: has, ...container }] },
  status: {
    phase,
    conditions,
    containerStatuses: [{ name: 'proxy' }, { name: 'db', ...(told === undefined ? {} : { resources: told }) }],
  },
});

const facts = (
  templates: Readonly<Record<string, Template | 'unread'>> = { old: template(small) },
  refusal?: string,
): ResizeFacts => ({
  template: (revision) => templates[revision],
  refusal: () => refusal,
  now,
});

const of = (shape: Shape, given: ResizeFacts = facts(), wanted = template(large)) =>
  resizeOf(pod(shape), set(wanted), given);
const marked = (minutes: number): string => `new ${minutesAgo(minutes)}`;
const done: Shape = { has: inPod(large), told: inPod(large), mark: marked(1) };

describe('a pod that differs in resources alone', () => {
  it('gets the mark first, and then what its template asks for, in the place that its container has', () => {
    expect(of({})).toEqual({
      state: 'due',
      mark: 'new 2026-11-28T12:00:00.000Z',
      containers: [
        {
          list: 'containers',
          index: 1,
          name: 'db',
          resources: { requests: { cpu: '200m', memory: '2Gi' }, limits: { memory: '2Gi' } },
        },
      ],
      changes: [
        { path: 'spec.containers[db].resources.requests.cpu', from: '100m', to: '200m' },
        { path: 'spec.containers[db].resources.requests.memory', from: '1Gi', to: '2Gi' },
        { path: 'spec.containers[db].resources.limits.memory', from: '1Gi', to: '2Gi' },
      ],
    });
  });

  it('keeps what others have added to it', () => {
    const has = { requests: { ...inPod(small).requests, 'example.com/gpu': '1' }, limits: { cpu: '4', memory: '1Gi' } };
    expect(of({ has })).toMatchObject({
      containers: [
        {
          resources: {
            requests: { cpu: '200m', memory: '2Gi', 'example.com/gpu': '1' },
            limits: { cpu: '4', memory: '2Gi' },
          },
        },
      ],
    });
  });

  it.each<readonly [story: string, shape: Shape, state: string | undefined]>([
    ['has the mark already, so that a failed request is made again', { mark: marked(1) }, 'due'],
    ['has what it is to get, but not the mark', { has: inPod(large) }, 'due'],
    ['has a mark that somebody has made of it', { mark: 'new' }, 'due'],
    ['has been changed, and the kubelet has told nothing', { ...done, told: inPod(small) }, 'underway'],
    ['has been changed, and its kubelet reports no resources', { has: inPod(large), mark: marked(1) }, 'underway'],
    ['is done', done, 'done'],
    [
      'is done, in other words for the same amounts',
      { ...done, told: { requests: { cpu: '0.2', memory: '2147483648' }, limits: { memory: '2048Mi' } } },
      'done',
    ],
    ['is of the present template by its label, and was to get another one', { ...done, revision: 'new' }, 'done'],
    ['was not changed within five minutes', { mark: marked(5) }, 'refused'],
    ['is not done within five minutes', { ...done, told: inPod(small), mark: marked(5) }, 'refused'],
    ['is done after more than five minutes', { ...done, mark: marked(9) }, 'done'],
    [
      'has a container that its kubelet would restart',
      { container: { resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] } },
      'refused',
    ],
    ['does not run', { phase: 'Pending' }, undefined],
    ['is not selected any more', { labels: { app: 'other' } }, undefined],
    ['lacks a container', { spec: { containers: [{ name: 'proxy' }] } }, undefined],
  ])('%s', (_, shape, state) => expect(of(shape)?.state).toBe(state));

  it.each<readonly [story: string, shape: Shape, state: string | undefined, given: ResizeFacts]>([
    [
      'has a mark of another template',
      { mark: `older ${minutesAgo(9)}` },
      'due',
      facts({ old: template(small), older: template(small) }),
    ],
    [
      'went back to its first template in the middle',
      { revision: 'new', mark: `other ${minutesAgo(1)}`, has: inPod(small) },
      'due',
      facts({ other: template(small) }),
    ],
    [
      'was to get another template that differs in more',
      { revision: 'new', mark: `other ${minutesAgo(1)}` },
      undefined,
      facts({ other: template(small, { image: 'db:9' }) }),
    ],
    ['has a former template that could not be read', {}, 'unknown', facts({ old: 'unread' })],
    ['has a former template that is gone', {}, 'refused', facts({})],
    ['was refused', {}, 'refused', facts(undefined, 'no such subresource')],
  ])('%s', (_, shape, state, given) => expect(of(shape, given)?.state).toBe(state));

  it('has its mark written again where that is from the future, and not where clocks differ a little', () => {
    const mark = 'new 2026-11-28T12:00:00.000Z';
    expect(of({ mark: `new ${minutesAgo(-2)}` })).toMatchObject({ state: 'due', mark });
    expect(of({ mark: `new ${minutesAgo(-1)}` })).not.toHaveProperty('mark');
  });

  it('waits while its kubelet says so, without words that change', () => {
    const words = (type: string, reason: string): unknown =>
      of({ ...done, conditions: [{ type, status: 'True', reason, message: 'used 17' }] });
    expect(words('PodResizePending', 'Deferred')).toMatchObject({
      state: 'underway',
      words: 'its node has no room for that now',
    });
    expect(words('PodResizeInProgress', 'Error')).toMatchObject({
      state: 'underway',
      words: 'its kubelet cannot do that now',
    });
    expect(words('PodResizeInProgress', '')).toMatchObject({ state: 'underway', recheckMs: 240_000 });
  });

  it('restarts at once where its node can never do it, unless that was said of an earlier change', () => {
    const infeasible = (observedGeneration?: number): unknown =>
      of({
        ...done,
        told: inPod(small),
        conditions: [
          {
            type: 'PodResizePending',
            status: 'True',
            reason: 'Infeasible',
            message: 'memory, requested: 9, capacity: 3',
            ...(observedGeneration === undefined ? {} : { observedGeneration }),
          },
        ],
      });
    const refused = { state: 'refused', words: 'its node cannot do that: memory, requested: 9, capacity: 3' };
    expect(infeasible()).toEqual(refused);
    expect(infeasible(3)).toEqual(refused);
    expect(infeasible(2)).toMatchObject({ state: 'underway' });
  });
});

describe('a template that differs in more', () => {
  it.each<readonly [story: string, before: Template, after: Template]>([
    ['an image', template(small), template(large, { image: 'db:2' })],
    [
      'an annotation that is gone',
      { ...template(small), metadata: { labels: { app: 'db' }, annotations: { a: 'b' } } },
      template(large),
    ],
    [
      'another resource',
      template({ ...small, limits: { 'hugepages-2Mi': '2Mi' } }),
      template({ ...small, limits: { 'hugepages-2Mi': '4Mi' } }),
    ],
    ['a limit that is gone', template({ ...small, limits: { cpu: '1', memory: '1Gi' } }), template(small)],
    [
      'a container',
      template(small),
      { ...template(large), spec: { containers: [{ name: 'db', image: 'db:1' }, { name: 'new' }] } },
    ],
    [
      'an init container that has ended',
      template(small, {}, { initContainers: [{ name: 'first', resources: small }] }),
      template(large, {}, { initContainers: [{ name: 'first', resources: large }] }),
    ],
  ])('%s', (_, before, after) => expect(of({}, facts({ old: before }), after)).toBeUndefined());

  it.each<readonly [story: string, before: Template, after: Template]>([
    [
      'a patch that replaces, and null fields',
      {
        ...template(small),
        $patch: 'replace',
        metadata: { labels: { app: 'db' }, creationTimestamp: null },
      } as Template,
      template(large),
    ],
    ['a limit that is new', template(small), template({ ...large, limits: { ...large.limits, cpu: '2' } })],
  ])('does not count: %s', (_, before, after) =>
    expect(of({}, facts({ old: before }), after)).toMatchObject({ state: 'due' }),
  );
});

describe('a native sidecar', () => {
  const sidecars = (resources: Requirements): object => ({
    initContainers: [
      { name: 'first', image: 'first:1' },
      { name: 'exporter', restartPolicy: 'Always', resources },
    ],
  });
  const before = template(small, {}, sidecars(small));
  const after = template(small, {}, sidecars(large));
  const with_ = (resources: Requirements): Pod['spec'] => ({
    containers: [{ name: 'db', resources: inPod(small) }],
    initContainers: [{ name: 'first' }, { name: 'exporter', restartPolicy: 'Always', resources }],
  });

  it('is resized, in its place among the init containers', () => {
    expect(of({ spec: with_(inPod(small)) }, facts({ old: before }), after)).toMatchObject({
      state: 'due',
      containers: [{ list: 'initContainers', index: 1, name: 'exporter' }],
    });
  });

  it('is waited for', () => {
    const has = pod({ spec: with_(inPod(large)), told: inPod(small), mark: marked(1) });
    const told = (resources: Requirements): Pod => ({
      ...has,
      status: { ...has.status, initContainerStatuses: [{ name: 'exporter', resources }] },
    });
    const state = (one: Pod): unknown => resizeOf(one, set(after), facts({ old: before }))?.state;
    expect([state(told(inPod(small))), state(told(inPod(large)))]).toEqual(['underway', 'done']);
  });
});

describe('a resize that has begun', () => {
  it.each<readonly [story: string, shape: Shape, given: ResizeFacts, expected: boolean]>([
    ['is one with a mark', { mark: marked(1) }, facts(), true],
    ['is none without it', {}, facts(), false],
    ['is over where the pod has to restart', { mark: marked(9) }, facts(), false],
    ['is over where more has changed', { mark: marked(1) }, facts({ old: template(small, { image: 'db:0' }) }), false],
  ])('%s', (_, shape, given, expected) => {
    const resize = of(shape, given);
    expect(isResizing({ ...pod(shape), ...(resize === undefined ? {} : { resize }) })).toBe(expected);
  });
});
