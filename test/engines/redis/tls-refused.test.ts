/** Objects of TLS that the API server refuses: the executor takes the very plan, and repairs go on. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { findingOf } from '../../../src/plan/plan.ts';
import { ApiError } from '../../../src/runtime/api-error.ts';
import { createExecutor, describeStep } from '../../../src/runtime/executor.ts';
import { type ControllerParts, controllerParts } from '../../support/controller-parts.ts';
import { actionWords } from '../../support/plan-words.ts';
import { redisWorld } from '../../support/redis-situation.ts';

const at = Date.parse('2030-01-01T00:00:00Z');
const nothing = { digest: '' };
const absent = { source: { source: { digest: '', fault: 'is not there' }, copy: nothing } };
const selfManaged: RedisSpecInput = { tls: { server: { selfManaged: {} } } };
const certManager: RedisSpecInput = { tls: { server: { certManager: { issuerRef: { name: 'a' } } } } };

let parts: ControllerParts;
beforeEach(async () => {
  parts = await controllerParts();
});
afterEach(() => parts.stop());

const refusing =
  (kind: string, message: string) =>
  (object: KubeObject): void => {
    if (object.kind === kind)
      throw new ApiError({ status: 403, reason: 'Forbidden', message, method: 'POST', path: kind } as never);
  };

it.each<readonly [string, RedisSpecInput, (object: KubeObject) => void, readonly string[]]>([
  ['by a quota', selfManaged, refusing('Secret', 'exceeded quota'), ['db-ca', 'db-server-tls']],
  ['since cert-manager is not there', certManager, refusing('Certificate', 'no such kind'), ['db-tls-issued']],
  ['since somebody else has a Secret of the name', selfManaged, () => undefined, ['db-ca', 'db-server-tls']],
])('%s', async (story, spec, refuse, refused) => {
  if (story.includes('somebody else')) {
    parts.api.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db-ca', namespace: 'apps' } });
  }
  const world = redisWorld({
    spec,
    before: {},
    sentinels: { 0: 'forgot' },
    nodes: { all: { tls: { port: 0 } } },
    observed: {
      at,
      certificates: { ...absent, ...(spec === selfManaged ? { own: { authority: nothing, leaves: {} } } : {}) },
    },
  });
  const { steps } = planRedis(situationOf(world.cluster, world.children, world.observed));
  const done: string[] = [];
  const failed: (string | undefined)[] = [];
  const client = {
    ...parts.client,
    create: async (object: KubeObject, options: never) => {
      refuse(object);
      return parts.client.create(object, options);
    },
    apply: async (object: KubeObject) => object,
  };
  const executor = createExecutor({ client, cache: parts.cache });
  const failures = await executor.run(
    steps,
    async (action) => void done.push(actionWords(action as never)),
    new AbortController().signal,
    { done: () => undefined, failed: ({ step }) => void failed.push(findingOf(step)) },
  );
  expect(done).toEqual(['monitor db-sentinel-0 -> db-0']);
  expect(failures.map(({ step }) => describeStep(step).split(':')[0]?.split(' ').at(-1))).toEqual(refused);
  expect(new Set(failed)).toEqual(new Set(['CertificateHeldBack']));
});
