/** A template that the API server is asked about before anybody restarts for it: what is held, what is said, and how often it is asked. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { pods } from '../../src/api/resource.ts';
import { type Outcome, type Plan, type Step, settled, wait } from '../../src/plan/plan.ts';
import { ApiUnreachable } from '../../src/runtime/api-error.ts';
import type { TransportResponse } from '../../src/runtime/transport.ts';
import { act, type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild } from '../support/test-engine.ts';
import { turn } from '../support/virtual-clock.ts';

const nobody = 'no PriorityClass with name nobody was found';
const refused = `the API server refuses pods of the new template, so nobody restarts: pods "db-0" is forbidden: ${nobody}`;
const restarting = wait('Restarting', 'db-0 restarts with the new template');

let rig: ReconcilerRig;
/** `NAME CLASS` of every pod that was asked about. */
let asked: string[];
/** By the class of the pod, what is answered instead of 201. */
let answers: Record<string, TransportResponse<string> | 'down'>;
/** What happens while the API server judges. */
let meanwhile: () => void;

const refusal = (code: number, reason: string, message: string): TransportResponse<string> => ({
  status: code,
  headers: {},
  body: JSON.stringify({ kind: 'Status', code, reason, message }),
});
const refusedFor = (set: string): TransportResponse<string> =>
  refusal(403, 'Forbidden', `pods "${set}-0" is forbidden: ${nobody}`);
const failing = refusal(500, 'InternalError', 'Internal error occurred: failed calling webhook "p.example": timeout');

beforeEach(async () => {
  rig = await reconcilerRig();
  asked = [];
  answers = { nobody: refusedFor('db') };
  meanwhile = () => undefined;
  rig.api.intercept = ({ method, path, query, body = '{}' }) => {
    if (query?.dryRun !== 'All') return undefined;
    const { metadata, spec } = JSON.parse(body) as KubeObject & { spec: { priorityClassName?: string } };
    const { priorityClassName = 'none' } = spec;
    asked.push(`${metadata.name} ${priorityClassName}`);
    meanwhile();
    const answer = answers[priorityClassName];
    if (answer === 'down') return Promise.reject(new ApiUnreachable(method, path, true, new Error('reset')));
    return answer === undefined ? undefined : Promise.resolve(answer);
  };
});
afterEach(() => rig.stop());

function set(name: string, priorityClassName: string, uid = `uid-of-${name}`): KubeObject {
  const { metadata, ...child } = testChild(rig.cluster(), 'Pod');
  const template = { metadata: { labels: { app: name } }, spec: { containers: [], priorityClassName } };
  return {
    ...child,
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { ...metadata, name, uid },
    spec: { replicas: 3, serviceName: name, selector: { matchLabels: { app: name } }, template },
  };
}

const written = (name: string, priorityClassName: string, path = 'spec.template.spec.priorityClassName'): Step => ({
  type: 'apply',
  object: set(name, priorityClassName),
  changes: [{ path, to: priorityClassName }],
});

function pod(name: string, isReady: boolean): KubeObject {
  const child = testChild(rig.cluster(), 'Pod');
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  return rig.api.put({ ...child, metadata: { ...child.metadata, name }, status: { conditions } });
}

/** A pod of a set that is there, and the step that ends it. */
async function ended(name: string, priorityClassName: string, isReady = true): Promise<Step> {
  rig.api.put(set(name, priorityClassName));
  const { uid = '' } = pod(`${name}-0`, isReady).metadata;
  await turn();
  const ref = { resource: pods, namespace: 'apps', name: `${name}-0`, uid };
  return { type: 'delete', ref, reason: 'it runs an older template' };
}

const writes = (): readonly string[] => rig.api.writes.filter((write) => !write.endsWith('/status'));

async function passes(
  steps: readonly Step[],
  outcome: Outcome = settled,
): Promise<Awaited<ReturnType<typeof rig.pass>>> {
  rig.finds(steps, outcome);
  return rig.pass();
}

describe('a template that is refused', () => {
  beforeEach(async () => {
    rig.api.put(set('db', 'before'));
    await turn();
  });

  it('is not written, and the status has the words of the server', async () => {
    let did = 0;
    rig.finds([written('db', 'nobody'), act], settled, async () => void did++);
    const { again } = await rig.pass();
    expect([writes(), did, rig.status().phase]).toEqual([[], 1, 'Blocked']);
    expect(rig.condition('TemplateRefused')).toBe(`True Refused: ${refused}`);
    expect(rig.condition('Ready')).toBe(`False TemplateRefused: ${refused}`);
    expect(rig.condition('Stalled')).toBe(`True TemplateRefused: ${refused}`);
    expect(rig.status().plan?.blockedBy).toBe(refused);
    expect(again).toBeLessThanOrEqual(30_000);
  });

  it('is asked about once in half a minute, and written when it is taken', async () => {
    for (let pass = 0; pass < 5; pass++) await passes([written('db', 'nobody')]);
    expect(asked).toEqual(['db-0 nobody']);
    delete answers.nobody;
    await rig.clock.advance(29_000);
    await passes([written('db', 'nobody')]);
    expect(writes()).toEqual([]);
    await rig.clock.advance(1_000);
    await passes([written('db', 'nobody')]);
    expect([asked.length, writes()]).toEqual([2, ['PATCH statefulsets/db']]);
    expect(rig.condition('TemplateRefused')).toBe('absent');
  });

  it('is another one once it has changed: that is asked about at once', async () => {
    await passes([written('db', 'nobody')]);
    await passes([written('db', 'somebody')]);
    expect([asked, writes()]).toEqual([['db-0 nobody', 'db-0 somebody'], ['PATCH statefulsets/db']]);
  });

  it('stays refused while there is no clear answer: what has refused it may be what is down', async () => {
    await passes([written('db', 'nobody')]);
    answers.nobody = failing;
    for (let s = 0; s < 900; s += 10) {
      await rig.clock.advance(10_000);
      await passes([written('db', 'nobody')]);
    }
    expect([writes(), rig.condition('TemplateRefused')]).toEqual([[], `True Refused: ${refused}`]);
    delete answers.nobody;
    await rig.clock.advance(30_000);
    await passes([written('db', 'nobody')]);
    expect(writes()).toEqual(['PATCH statefulsets/db']);
  });

  it('stays refused in the middle of a rollout, too: the pod that is next would start by it', async () => {
    const steps = [written('db', 'nobody'), await ended('db', 'somebody')];
    await passes(steps, restarting);
    answers.nobody = failing;
    for (let s = 0; s < 900; s += 10) {
      await rig.clock.advance(10_000);
      await passes(steps, restarting);
    }
    expect([writes(), rig.condition('TemplateRefused')]).toEqual([[], `True Refused: ${refused}`]);
  });

  it('lets repairs go on, which are looked after as often as without it', async () => {
    const { again, outcome } = await passes(
      [written('db', 'nobody')],
      wait('MembersNotReady', 'db-1 is silent', 1_000),
    );
    expect([again, outcome]).toEqual([1_000, wait('MembersNotReady', 'db-1 is silent', 1_000)]);
    expect(rig.condition('TemplateRefused')).toBe(`True Refused: ${refused}`);
  });

  it('does not keep one that is not ready from a restart by the template of before', async () => {
    await passes([written('db', 'nobody'), await ended('db', 'somebody', false)], restarting);
    expect(writes()).toEqual(['DELETE pods/db-0']);
  });

  it('holds those of the same cluster that are not: nobody restarts for half of a spec', async () => {
    rig.api.put(set('db-sentinel', 'before'));
    await turn();
    for (let pass = 0; pass < 3; pass++) await passes([written('db-sentinel', 'somebody'), written('db', 'nobody')]);
    expect([asked, writes()]).toEqual([['db-sentinel-0 somebody', 'db-0 nobody'], []]);
  });

  it('has its words cut to what a status holds', async () => {
    answers.nobody = refusal(403, 'Forbidden', `pods "db-0" is forbidden: ${'x'.repeat(100_000)}`);
    await passes([written('db', 'nobody')]);
    expect(rig.condition('TemplateRefused').length).toBeLessThan(1_100);
  });

  it('is done all the same where a person has confirmed the plan as a whole', async () => {
    const plan: Plan = { steps: [written('db', 'nobody')], outcome: settled, destructive: true };
    rig.engine.find = () => ({ plan });
    await rig.pass();
    expect([asked, writes()]).toEqual([[], ['PATCH statefulsets/db']]);
  });

  it('is not asked about while the cluster is paused', async () => {
    const now = rig.cluster();
    rig.api.put({ ...now, spec: { paused: true } });
    await passes([written('db', 'nobody')]);
    expect([asked, writes()]).toEqual([[], []]);
  });

  it('counts only where the template changes', async () => {
    await passes([written('db', 'nobody', 'spec.replicas')]);
    expect([asked, writes()]).toEqual([[], ['PATCH statefulsets/db']]);
  });
});

describe('a pod that restarts', () => {
  it.each([
    ['is stopped where the template is taken', 'somebody', ['DELETE pods/db-0']],
    ['is not stopped where it is refused', 'nobody', []],
  ])('%s', async (_, priorityClassName, done) => {
    await passes([await ended('db', priorityClassName)], restarting);
    expect([asked, writes()]).toEqual([[`db-0 ${priorityClassName}`], done]);
    expect(rig.condition('TemplateRefused')).toBe(done.length === 0 ? `True Refused: ${refused}` : 'absent');
  });

  it('is not stopped for a template that was refused, however long there is no clear answer after that', async () => {
    const stop = await ended('db', 'nobody');
    await passes([stop], restarting);
    answers.nobody = failing;
    for (let s = 0; s < 900; s += 10) {
      await rig.clock.advance(10_000);
      await passes([stop], restarting);
    }
    expect(writes()).toEqual([]);
  });

  it('waits, too, where there is no clear answer about the template that is written before it ends', async () => {
    answers.late = failing;
    await passes([written('db', 'late'), await ended('db', 'somebody')], restarting);
    expect(writes()).toEqual(['PATCH statefulsets/db']);
    expect(rig.status().plan?.waitingFor).toMatch(
      / for up to 5 minutes: Internal error occurred: failed calling webhook/,
    );
  });

  it('is not stopped where another has failed while the API server was asked', async () => {
    const other = pod('db-1', true);
    const stop = await ended('db', 'somebody');
    await passes([]);
    meanwhile = () => void rig.api.put({ ...other, status: { conditions: [{ type: 'Ready', status: 'False' }] } });
    await passes([stop], restarting);
    expect([asked, writes()]).toEqual([['db-0 somebody'], []]);
  });

  it('that is not ready is not stopped either, where no other could be made', async () => {
    await passes([await ended('db', 'nobody', false)], restarting);
    expect(writes()).toEqual([]);
  });

  it.each<
    readonly [story: string, isReady: boolean, answer: TransportResponse<string> | 'down', done: readonly string[]]
  >([
    ['a ready one waits while a webhook is down', true, failing, []],
    ['a ready one waits while nobody answers', true, 'down', []],
    ['one that is not ready has nothing to lose', false, failing, ['DELETE pods/db-0']],
    [
      'nobody waits where a webhook does not take dry runs',
      true,
      refusal(400, 'BadRequest', 'admission webhook "p.example" does not support dry run'),
      ['DELETE pods/db-0'],
    ],
    [
      'nobody waits where the operator may not ask',
      true,
      refusal(403, 'Forbidden', 'pods is forbidden: User "operator" cannot create resource "pods" in API group ""'),
      ['DELETE pods/db-0'],
    ],
  ])('without a clear answer: %s', async (_, isReady, answer, done) => {
    answers.somebody = answer;
    await passes([await ended('db', 'somebody', isReady)], restarting);
    expect([writes(), rig.condition('TemplateRefused')]).toEqual([done, 'absent']);
    expect(rig.status().plan?.waitingFor ?? '').toMatch(
      done.length === 0
        ? /^the API server cannot say .* for up to 5 minutes: /
        : /^db-0 restarts with the new template/,
    );
    const told =
      / templates are not judged: (pods is forbidden: |admission webhook "p.example" does not support dry run)/;
    expect(told.test(rig.status().plan?.waitingFor ?? '')).toBe(isReady && done.length > 0);
  });

  const once = { name: 'once', resources: { limits: { memory: '64Mi' } } };
  it.each([
    ['it fits where the other was', '1Gi', [], ['DELETE pods/db-0']],
    ['it does not', '2Gi', [], []],
    ['it does not with a sidecar', '1Gi', [{ ...once, restartPolicy: 'Always' }], []],
    ['it does with what ends before the others start', '1Gi', [once], ['DELETE pods/db-0']],
  ])('with a quota that is used up: %s', async (_, memory, initContainers, done) => {
    const quota =
      'exceeded quota: q, requested: limits.memory=1Gi, used: limits.memory=3Gi, limited: limits.memory=3Gi';
    answers.somebody = refusal(403, 'Forbidden', `pods "db-0" is forbidden: ${quota}`);
    const wanted = set('db', 'somebody');
    const containers = [{ name: 'redis', resources: { limits: { memory } } }];
    const { template, ...spec } = wanted.spec as { template: { spec: object } };
    const stop = await ended('db', 'somebody');
    const podSpec = { ...template.spec, containers, initContainers };
    rig.api.put({ ...wanted, spec: { ...spec, template: { ...template, spec: podSpec } } });
    const now = [{ name: 'redis', resources: { limits: { memory: '1Gi' } } }];
    rig.api.put({ ...pod('db-0', true), spec: { containers: now } });
    await turn();
    await passes([stop], restarting);
    expect([writes(), rig.condition('TemplateRefused').includes(quota)]).toEqual([done, done.length === 0]);
  });

  it('is not stopped for one that a quota has no room for, however long there is no clear answer after that', async () => {
    const quota =
      'exceeded quota: q, requested: limits.memory=2Gi, used: limits.memory=3Gi, limited: limits.memory=3Gi';
    const containersOf = (memory: string) => [{ name: 'redis', resources: { limits: { memory } } }];
    const stop = await ended('db', 'somebody');
    const wanted = set('db', 'somebody');
    const { template, ...spec } = wanted.spec as { template: { spec: object } };
    const containers = containersOf('2Gi');
    const larger = { ...wanted, spec: { ...spec, template: { ...template, spec: { ...template.spec, containers } } } };
    rig.api.put({ ...pod('db-0', true), spec: { containers: containersOf('1Gi') } });
    await turn();
    const steps: Step[] = [
      { type: 'apply', object: larger, changes: [{ path: 'spec.template.spec', to: '2Gi' }] },
      stop,
    ];
    answers.somebody = refusal(403, 'Forbidden', `pods "db-0" is forbidden: ${quota}`);
    await passes(steps, restarting);
    answers.somebody = failing;
    for (let s = 0; s < 900; s += 10) {
      await rig.clock.advance(10_000);
      await passes(steps, restarting);
    }
    expect([writes(), rig.condition('TemplateRefused').includes(quota)]).toEqual([[], true]);
    delete answers.somebody;
    await rig.clock.advance(10_000);
    await passes(steps, restarting);
    expect(writes()).toEqual(['PATCH statefulsets/db', 'DELETE pods/db-0']);
  });

  it('holds the rest of a pass for 15 seconds at most, however long the API server asks to be left alone', async () => {
    const headers = { 'retry-after': '20' };
    answers.somebody = { ...refusal(429, 'TooManyRequests', 'too many requests'), headers };
    let did = 0;
    rig.finds([await ended('db', 'somebody'), act], restarting, async () => void did++);
    const pass = rig.pass();
    await rig.clock.advance(15_000);
    expect([did, writes()]).toEqual([1, []]);
    expect((await pass).outcome).toMatchObject({ state: 'wait', reason: 'TemplateNotJudged' });
  });

  it('is not stopped for one that a webhook denies, whenever the webhook says to ask again', async () => {
    const denied = refusal(429, 'TooManyRequests', 'admission webhook "p.example" denied the request: too many pods');
    answers.somebody = { ...denied, headers: { 'retry-after': '20' } };
    const stop = await ended('db', 'somebody');
    for (let s = 0; s < 600; s += 30) {
      const pass = passes([stop], restarting);
      await rig.clock.advance(30_000);
      await pass;
    }
    expect([writes(), rig.condition('TemplateRefused').includes('too many pods')]).toEqual([[], true]);
  });

  it('waits for a clear answer for five minutes, asks every ten seconds, and restarts then', async () => {
    answers.somebody = failing;
    const stop = await ended('db', 'somebody');
    for (let s = 0; s < 300; s += 5) {
      await passes([stop], restarting);
      await rig.clock.advance(5_000);
    }
    expect([asked.length, writes()]).toEqual([30, []]);
    await passes([stop], restarting);
    expect(writes()).toEqual(['DELETE pods/db-0']);
  });

  it('is judged anew a minute after its template was taken', async () => {
    const stop = await ended('db', 'somebody');
    await passes([stop], restarting);
    await rig.clock.advance(59_000);
    await passes([stop], restarting);
    expect(asked).toHaveLength(1);
    answers.somebody = refusedFor('db');
    await rig.clock.advance(1_000);
    await passes([stop], restarting);
    expect([asked.length, writes()]).toEqual([2, ['DELETE pods/db-0', 'DELETE pods/db-0']]);
  });
});

describe('a StatefulSet that lacks a pod', () => {
  const quota = 'exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3';
  const absent = wait('MembersNotReady', 'db-2 has no pod');
  const lacking = async (priorityClassName: string, status: object): Promise<void> => {
    rig.api.put({ ...set('db', priorityClassName), status });
    await turn();
  };

  it.each([
    ['refuses', 'nobody', nobody],
    ['has no room for', 'crowded', quota],
  ])(
    'has the words of the server, which %s it, beside what the plan waits for',
    async (_, priorityClassName, words) => {
      answers.crowded = refusal(403, 'Forbidden', `pods "db-0" is forbidden: ${quota}`);
      await lacking(priorityClassName, { observedGeneration: 1, replicas: 2 });
      const { again, outcome } = await passes([act], absent);
      const message = `pods of StatefulSet db are missing, and the API server refuses them: pods "db-0" is forbidden: ${words}`;
      expect(rig.condition('TemplateRefused')).toBe(`True Refused: ${message}`);
      expect([outcome, rig.status().phase]).toEqual([{ ...absent, recheckMs: 30_000 }, 'Ready']);
      expect(again).toBeLessThanOrEqual(30_000);
      delete answers[priorityClassName];
      await rig.clock.advance(30_000);
      await passes([], absent);
      expect(rig.condition('TemplateRefused')).toBe('absent');
    },
  );

  it.each([
    ['whose pods are all there', { observedGeneration: 1, replicas: 3 }],
    ['of which Kubernetes has not taken up the size', { observedGeneration: 0, replicas: 0 }],
    ['of which Kubernetes has said nothing', {}],
  ])('is not asked about where it is one %s', async (_, status) => {
    await lacking('nobody', status);
    await passes([act], absent);
    expect([asked, rig.condition('TemplateRefused')]).toEqual([[], 'absent']);
  });

  it('says nothing where nobody knows', async () => {
    answers.somebody = failing;
    await lacking('somebody', { observedGeneration: 1, replicas: 2 });
    await passes([act], absent);
    expect([asked, rig.condition('TemplateRefused')]).toEqual([['db-0 somebody'], 'absent']);
  });

  it('says once why, where the template that is to be written is refused', async () => {
    await lacking('before', { observedGeneration: 1, replicas: 2 });
    answers.before = refusedFor('db');
    await passes([written('db', 'nobody')]);
    expect(rig.status().conditions?.filter(({ type }) => type === 'TemplateRefused')).toHaveLength(1);
    expect(rig.condition('TemplateRefused')).toBe(`True Refused: ${refused}`);
  });
});

it('a template without a clear answer is written: that stops nobody', async () => {
  rig.api.put(set('db', 'before'));
  await turn();
  answers.somebody = failing;
  await passes([written('db', 'somebody')]);
  expect(writes()).toEqual(['PATCH statefulsets/db']);
});

it('what was asked about another cluster is not taken for this one', async () => {
  rig.api.put(set('db', 'before'));
  rig.api.put(set('dc', 'before'));
  await turn();
  await passes([written('db', 'nobody')]);
  delete answers.nobody;
  await passes([written('dc', 'nobody')]);
  expect([asked, writes()]).toEqual([['db-0 nobody', 'dc-0 nobody'], ['PATCH statefulsets/dc']]);
});
