/** Somebody gives the StatefulSet of the data the component label of an access object. */
import { expect, it } from 'vitest';
import { accessOf } from '../../src/engine/access-of.ts';
import { situationOf } from '../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../src/engines/redis/plan/plan.ts';
import { passPlan } from '../../src/plan/pass.ts';
import { accessComponent, componentLabel, networkComponent } from '../../src/resources/metadata.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import { handlers } from '../support/handlers.ts';
import { redisWorld } from '../support/redis-situation.ts';

it.each([accessComponent, networkComponent])('which is not deleted for being labelled %s', (component) => {
  const { cluster, children, observed } = redisWorld({
    status: { phase: 'Ready', observedGeneration: 1, initialized: true },
    children: (objects) =>
      objects.map((object) =>
        object.kind === 'StatefulSet' && object.metadata.name === 'db'
          ? {
              ...object,
              metadata: { ...object.metadata, labels: { ...object.metadata.labels, [componentLabel]: component } },
            }
          : object,
      ),
  });
  const handler = handlers.find(({ kind }) => kind.resource.kind === 'RedisCluster');
  if (handler === undefined) throw new Error('no Redis');
  const facts = { resource: handler.kind.resource, children, access: accessOf(handler, cluster) };
  const engine = planRedis(situationOf(cluster, children, observed));
  const { steps } = passPlan(cluster, facts, engine);
  expect(engine.steps.filter(({ type }) => type === 'delete')).toEqual([]);
  expect(steps.filter(({ type }) => type === 'delete').map(describeStep)).toEqual([]);
});
