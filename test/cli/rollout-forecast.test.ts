import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { forecastRollout, withAskedResizes } from '../../src/cli/rollout-forecast.ts';
import type { Step } from '../../src/plan/plan.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { ApiError } from '../../src/runtime/api-error.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { due } from '../support/resizing.ts';

const set = (resources: object): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'apps' },
  spec: { template: { spec: { containers: [{ name: 'db', resources }] } } },
});
const pod = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'apps', uid: `uid-${name}` },
  spec: { containers: [{ name: 'db', resources: { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } } }] },
});
const limit = (memory: string): object => ({ limits: { memory } });
const memory = 'spec.template.spec.containers[db].resources.limits.memory';
const apply = (resources: object, ...paths: readonly string[]): Step => ({
  type: 'apply',
  object: set(resources),
  changes: ['metadata.annotations[clusterwright.dev/desired]', ...paths].map((path) => ({ path, to: 'x' })),
});

const removal: Step = {
  type: 'apply',
  object: set(limit('1Gi')),
  changes: [{ path: 'metadata.annotations[clusterwright.dev/desired]', from: '1-a', to: '2-b' }],
};

const answering = (error?: Error, markError?: Error) => {
  const asked: unknown[] = [];
  const client = {
    mergePatch: async ({ name }: { readonly name: string }, body: object, options: object) => {
      asked.push([name, options]);
      if (markError !== undefined) throw markError;
      const { annotations } = (body as KubeObject).metadata;
      return { ...pod(name), metadata: { ...pod(name).metadata, annotations } };
    },
    jsonPatch: async ({ name }: { readonly name: string }, _: unknown, options: object) => {
      asked.push([name, options]);
      if (error !== undefined) throw error;
      return pod(name);
    },
  } as Partial<KubeClient> as KubeClient;
  return { asked, client };
};
const failure = (status: number, message: string): ApiError =>
  new ApiError({ status, reason: 'x', message, method: 'PATCH', path: '/' });
const noRight = failure(403, 'pods "db-0" is forbidden: User "me" cannot patch resource "pods/resize"');

const inPlace = expect.stringMatching(/^the 2 pod\(s\) of StatefulSet db are resized in place, one at a time; /);
const restart = 'the 2 pod(s) of StatefulSet db restart, one at a time, a primary or leader last';

describe('a template that changes', () => {
  const said = (step: Step, error?: Error) =>
    forecastRollout([step], childrenOf([set(limit('1Gi')), pod('db-0'), pod('db-1')]), answering(error).client);

  it.each<readonly [story: string, step: Step, error: Error | undefined, words: unknown]>([
    ['in resources alone', apply(limit('2Gi'), memory), undefined, inPlace],
    ['which nobody answers for now', apply(limit('2Gi'), memory), failure(500, 'down'), inPlace],
    ['which one who asks may not try', apply(limit('2Gi'), memory), noRight, inPlace],
    [
      'which the API server refuses',
      apply(limit('2Gi'), memory),
      failure(422, 'not so'),
      `${restart}: db-0 is not resized in place, since not so`,
    ],
    ['in more', apply(limit('2Gi'), memory, 'spec.template.spec.containers[db].image'), undefined, restart],
    ['in fewer fields', removal, undefined, restart],
    ['where a limit goes', apply({ requests: { memory: '1Gi' } }, memory), undefined, restart],
  ])('%s', async (_, step, error, words) => expect(await said(step, error)).toEqual([words]));

  it('reaches a pod by a restart where its kubelet would restart the container', async () => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
    const one = { ...pod('db-0'), spec: { containers: [{ name: 'db', resizePolicy, resources: limit('1Gi') }] } };
    const lines = await forecastRollout(
      [apply(limit('2Gi'), memory)],
      childrenOf([set(limit('1Gi')), one]),
      answering().client,
    );
    expect(lines).toEqual([
      expect.stringMatching(
        /^the 1 pod\(s\) of StatefulSet db restart, .*: db-0 is not resized in place, .* resizePolicy/,
      ),
    ]);
  });

  it('reaches a pod by a restart where that is still of one that differs in more', async () => {
    const status = { updateRevision: 'new' };
    const outdated = (name: string): KubeObject => ({
      ...pod(name),
      metadata: { ...pod(name).metadata, labels: { 'controller-revision-hash': 'old' } },
    });
    const said = (one: KubeObject) =>
      forecastRollout(
        [apply(limit('2Gi'), memory)],
        childrenOf([{ ...set(limit('1Gi')), status } as KubeObject, one]),
        answering().client,
      );
    expect(await said(outdated('db-0'))).toEqual([restart.replace('2 pod', '1 pod')]);
    expect(await said({ ...outdated('db-0'), resize: due('db') } as KubeObject)).toEqual([
      expect.stringContaining('resized in place, one at a time'),
    ]);
  });

  it('not at all', async () => expect(await said(apply(limit('1Gi'), 'spec.replicas'))).toEqual([]));

  it('is asked for by dry run', async () => {
    const { asked, client } = answering();
    await forecastRollout([apply(limit('2Gi'), memory)], childrenOf([set(limit('1Gi')), pod('db-0')]), client);
    expect(asked).toEqual([
      ['db-0', { dryRun: true }],
      ['db-0', { dryRun: true, subresource: 'resize' }],
    ]);
  });

  it('reaches pods by a restart where a policy refuses the annotation of a resize', async () => {
    const { client } = answering(undefined, failure(422, 'no annotations'));
    const children = childrenOf([set(limit('1Gi')), pod('db-0'), pod('db-1')]);
    expect(await forecastRollout([apply(limit('2Gi'), memory)], children, client)).toEqual([
      `${restart}: db-0 is not resized in place, since no annotations`,
    ]);
  });
});

describe('a pod that is due', () => {
  const states = async (error?: Error, markError?: Error) => {
    const children = childrenOf([{ ...pod('db-0'), resize: due('db') }]);
    const { client } = answering(error, markError);
    return (await withAskedResizes(children, client)).pods.map(({ resize }) => resize?.state);
  };

  it.each<readonly [story: string, error: Error | undefined, state: string]>([
    ['is resized', undefined, 'due'],
    ['restarts where that is refused', failure(422, 'no'), 'refused'],
    ['is resized by the operator, though the one who asks may not', noRight, 'due'],
  ])('%s', async (_, error, state) => expect(await states(error)).toEqual([state]));

  it.each<readonly [story: string, error: Error, state: string]>([
    ['restarts where a policy refuses what is written on it first', failure(422, 'no'), 'refused'],
    ['is resized by the operator, though the one who asks may not write that', noRight, 'due'],
  ])('%s', async (_, error, state) => expect(await states(undefined, error)).toEqual([state]));
});
