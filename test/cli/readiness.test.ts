/** When what was applied counts as working, and what is said until then. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { pods } from '../../src/api/resource.ts';
import { available, clusterReady, established, waitUntil } from '../../src/cli/deploy/readiness.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const listing = (items: readonly KubeObject[]) => ({
  list: () => Promise.resolve({ items: [...items], resourceVersion: '1' }),
});

function object(status: object, spec: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', namespace: 'n', generation: 2 }, spec, status };
}

describe('a CustomResourceDefinition', () => {
  it.each([
    [[], 'it is not established'],
    [null, 'it is not established'],
    [[{ type: 'Established', status: 'False' }], 'it is not established'],
    [[{ type: 'Established', status: 'True' }], undefined],
    [[{ type: 'NamesAccepted', status: 'False', message: 'rdc is taken' }], 'its names are not accepted: rdc is taken'],
  ])('with %j', (conditions, missing) => {
    expect(established(object({ conditions }))).toBe(missing);
  });
});

describe('a Deployment', () => {
  const spec = { replicas: 2, selector: { matchLabels: { app: 'a' } } };
  const whole = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };

  it.each([
    ['all new and available', whole, undefined],
    ['not yet seen by its controller', { ...whole, observedGeneration: 1 }, '2 of 2 replicas'],
    ['one of them not available', { ...whole, availableReplicas: 1 }, '1 of 2 replicas'],
    ['one of them old', { ...whole, updatedReplicas: 1 }, '1 of 2 replicas'],
    ['an old one still there', { ...whole, replicas: 3 }, '2 of 2 replicas'],
    ['nothing said', {}, '0 of 2 replicas'],
  ])('%s', async (_title, status, missing) => {
    expect(await available(listing([]))(object(status, spec))).toBe(missing);
  });

  it('tells what keeps its containers from starting, once', async () => {
    const pod = (reason: string): KubeObject =>
      object({ containerStatuses: [{ state: { waiting: { reason, message: 'no such image' } } }] });
    const found = listing([pod('ImagePullBackOff'), pod('ImagePullBackOff'), pod('ContainerCreating')]);
    expect(await available(found)(object({}, spec))).toBe('0 of 2 replicas, ImagePullBackOff (no such image)');
  });
});

describe('a cluster', () => {
  const ready = (status: string, observedGeneration: number, plan?: object): KubeObject =>
    object({ conditions: [{ type: 'Ready', status, observedGeneration, message: 'members start' }], plan });

  it.each([
    [object({}), 'no controller has looked at it yet'],
    [ready('False', 2), 'members start'],
    [ready('False', 2, { waitingFor: 'pods' }), 'pods'],
    [ready('False', 2, { waitingFor: 'pods', blockedBy: 'no Secret' }), 'no Secret'],
    [ready('True', 1), 'members start'],
    [ready('True', 2), undefined],
  ])('%#', (cluster, missing) => {
    expect(clusterReady(cluster)).toBe(missing);
  });
});

it('gives up in time, with what was missing last', async () => {
  const clock = new VirtualClock();
  const reports: string[] = [];
  const client = { ...listing([]), get: () => Promise.resolve(object({})) };
  const waiting = { client, clock, report: (detail: string) => reports.push(detail), timeoutMs: 1000 };
  const given = waitUntil({ resource: pods, name: 'a', namespace: 'n' }, () => 'one replica', waiting);
  const outcome = expect(given).rejects.toThrow('Thing/a is not ready after 1 s: one replica');
  await clock.advance(2000);
  await outcome;
  expect(new Set(reports)).toEqual(new Set(['one replica']));
  expect(clock.monotonic()).toBeLessThanOrEqual(2000);
});
