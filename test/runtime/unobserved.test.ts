/** A cluster that no pass can look at does not go on saying how it was. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ObjectMeta } from '../../src/api/object.ts';
import { deletionFinalizer } from '../../src/plan/deletion.ts';
import { settled } from '../../src/plan/plan.ts';
import { ApiError } from '../../src/runtime/api-error.ts';
import { createUnobserved, unobservedMs } from '../../src/runtime/unobserved.ts';
import { act, type ReconcilerRig, reconcilerRig } from '../support/reconciler-rig.ts';
import { ready, testCluster, testEngine } from '../support/test-engine.ts';
import { turn, VirtualClock } from '../support/virtual-clock.ts';

const path = '/api/v1/namespaces/apps/secrets/db-auth';
const forbidden = new ApiError({ status: 403, reason: 'Forbidden', message: 'no', method: 'GET', path });
const told = `the operator cannot look at it, and does nothing for it: GET ${path}: 403 Forbidden: no`;

let rig: ReconcilerRig;

async function begin(
  more: Parameters<typeof testEngine>[0] = {},
  spec: object = {},
  metadata: Partial<ObjectMeta> = {},
) {
  rig = await reconcilerRig([testCluster('db', spec, metadata)], testEngine(more));
}
beforeEach(() => begin());
afterEach(() => rig.stop());

const failing = (error: unknown = forbidden): void => {
  rig.engine.find = () => Promise.reject(error);
};
async function failedPass(): Promise<void> {
  await expect(rig.pass()).rejects.toThrow();
  await turn();
}
async function failFor(ms: number, error?: unknown): Promise<void> {
  failing(error);
  await failedPass();
  await rig.clock.advance(ms);
  await failedPass();
}
const formed = (initialized = true) => ({
  status: { phase: 'Ready', conditions: ready, initialized },
});

describe('a cluster that was ready', () => {
  beforeEach(async () => {
    rig.engine.find = () => formed() as never;
    await rig.pass();
    await turn();
  });

  it('goes on being so for a minute', async () => {
    await failFor(unobservedMs - 1);
    expect(rig.condition('Ready')).toBe('True AllMembersReady: all is well');
  });

  it('is not said to be so after that, until it has been looked at again', async () => {
    await failFor(unobservedMs);
    expect(rig.condition('Ready')).toBe(`False NotObserved: ${told}`);
    expect([rig.status().phase, rig.status().initialized, rig.condition('Degraded')]).toEqual([
      'Degraded',
      true,
      `True NotObserved: ${told}`,
    ]);
    rig.engine.find = () => formed() as never;
    await rig.pass();
    await turn();
    expect(rig.condition('Ready')).toBe('True AllMembersReady: all is well');
    await failFor(unobservedMs - 1);
    expect(rig.condition('Ready')).toBe('True AllMembersReady: all is well');
  });

  it('shows nothing of an error that is not the API server’s', async () => {
    await failFor(unobservedMs, new TypeError('s3cret'));
    expect(rig.condition('Ready')).toMatch(
      /^False NotObserved: .* an internal error, which the log of the operator names$/,
    );
  });

  it('and whose steps fail says that', async () => {
    rig.engine.find = () => ({
      ...(formed() as object),
      plan: { steps: [act], outcome: settled },
      act: () => Promise.reject(new Error('NOPERM')),
    });
    await failedPass();
    await rig.clock.advance(unobservedMs);
    await failedPass();
    expect(rig.condition('Ready')).toBe('False StepFailed: ask for something: NOPERM');
  });

  it('ends its pass with what went wrong, also where the status cannot be written', async () => {
    await failFor(unobservedMs - 1);
    await rig.clock.advance(1);
    rig.api.intercept = async () => ({ status: 403, headers: {}, body: '' });
    await expect(rig.pass()).rejects.toBe(forbidden);
  });
});

it('one that was never formed is still being created', async () => {
  await failFor(unobservedMs);
  expect([rig.status().phase, rig.condition('Ready')]).toEqual(['Creating', `False NotObserved: ${told}`]);
});

it('one that is paused stays so', async () => {
  await rig.stop();
  await begin({}, { paused: true });
  await failFor(unobservedMs);
  expect([rig.status().phase, rig.condition('Ready')]).toEqual(['Paused', `False NotObserved: ${told}`]);
});

it('one that is deleted says why it is still there', async () => {
  await rig.stop();
  const going = { finalizers: [deletionFinalizer], deletionTimestamp: '2030-01-01T00:00:00Z' };
  const lastBackup = () => {
    throw forbidden;
  };
  await begin({ lastBackup }, { deletionPolicy: 'Delete' }, going);
  await failFor(unobservedMs);
  expect([rig.status().phase, rig.condition('Ready')]).toEqual(['Deleting', `False NotObserved: ${told}`]);
});

it('a resource that is about a cluster, such as a Backup, keeps its word', async () => {
  await rig.stop();
  await begin({ targetRef: () => ({ kind: 'RedisCluster', name: 'other' }) });
  await failFor(unobservedMs);
  expect(rig.status()).toEqual({});
});

it('what has not failed for long is forgotten', async () => {
  const clock = new VirtualClock();
  const unobserved = createUnobserved(clock);
  expect(unobserved.failed('a')).toBe(false);
  await clock.advance(30_000);
  expect(unobserved.failed('b')).toBe(false);
  await clock.advance(570_000);
  expect(unobserved.failed('b')).toBe(true);
  expect(unobserved.failed('a')).toBe(false);
  unobserved.seen('b');
  expect(unobserved.failed('b')).toBe(false);
});
