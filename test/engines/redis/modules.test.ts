/** `modules: Bundled`: what pods are told, and what is said of an image without modules. `redis-modules.test.ts` has them on pods. */
import { describe, expect, it } from 'vitest';
import { redisBackup } from '../../../src/engines/redis/backup/support.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { noModulesCode } from '../../../src/engines/redis/names.ts';
import { nodeProblem } from '../../../src/engines/redis/plan/node-problem.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import type { Pod } from '../../../src/resources/children.ts';
import { runPodScript } from '../../support/pod-scripts.ts';
import { redisCluster } from '../../support/redis-situation.ts';

describe('modules of the image', () => {
  it('are asked for in the template of data nodes alone', () => {
    const texts = (spec: RedisSpecInput) =>
      redisResources(redisCluster(spec))
        .map(({ object }) => object)
        .filter(({ kind }) => kind === 'StatefulSet')
        .map((set) => [set.metadata.name, JSON.stringify(set).includes('"MODULES"')]);
    expect(texts({ modules: 'Bundled' })).toEqual([
      ['db', true],
      ['db-sentinel', false],
    ]);
    expect(texts({}).flat()).not.toContain(true);
  });

  it('are loaded, each of them', async () => {
    const { conf, started } = await runPodScript('start-data.sh', {
      modules: ['rejson.so', 'redisearch.so', 'LICENSE'],
    });
    const loaded = conf.filter((line) => line.startsWith('loadmodule ')).map((line) => line.replace(/^.*\//, ''));
    expect([started === undefined, loaded]).toEqual([false, ['redisearch.so', 'rejson.so']]);
  });

  it('are needed: a node without any does not start', async () => {
    const { code, started } = await runPodScript('start-data.sh', { modules: [] });
    expect([code, started]).toEqual([noModulesCode, undefined]);
  });

  it('are not loaded unless the spec says so', async () => {
    const { conf } = await runPodScript('start-data.sh');
    expect(conf.filter((line) => line.includes('module'))).toEqual([]);
  });

  it.each([
    [noModulesCode, 'db-0 ends again and again with code 72: spec.modules is Bundled, and its image has no modules'],
    [1, 'db-0 ends again and again with code 1'],
  ])('the problem of a node that ended with %i', (exitCode, words) => {
    const waiting = { reason: 'CrashLoopBackOff' };
    const container = { name: 'redis', state: { waiting }, lastState: { terminated: { exitCode } } };
    const pod = { metadata: { name: 'db-0' }, status: { containerStatuses: [container] } };
    expect(nodeProblem(pod as unknown as Pod)).toBe(words);
  });

  it('are there when a backup is tried', () => {
    expect(redisBackup.drill(redisCluster({ modules: 'Bundled' }))).toHaveProperty('modules', 'Bundled');
    expect(redisBackup.drill(redisCluster({}))).not.toHaveProperty('modules');
  });
});
