/** The registry of default images: the one that an option names, that of the installed operator, or the public one. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { plan } from '../../src/cli/plan.ts';
import { render } from '../../src/cli/render.ts';
import { apiServer } from './api-server.ts';
import { type World, type WorldOptions, world } from './world.ts';

const redis: KubeObject = {
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { name: 'cache', namespace: 'team' },
  spec: {},
};
const operator: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'clusterwright', namespace: 'clusterwright-system' },
  spec: {
    template: {
      spec: { containers: [{ env: [{ name: 'CLUSTERWRIGHT_IMAGE_REGISTRY', value: 'reg.example/mirror' }] }] },
    },
  },
};
const variable = { CLUSTERWRIGHT_IMAGE_REGISTRY: 'env.example' };

const at = (options: Omit<WorldOptions, 'files'>, env: NodeJS.ProcessEnv = {}): World => ({
  ...world({ files: { f: JSON.stringify(redis) }, ...options }),
  env,
});

const imagesIn = ({ printed }: World): string[] => [
  ...new Set([...printed.out.matchAll(/"?image"?: "?([^"\s,]+)/g)].map(([, image]) => image ?? '')),
];

describe('plan against a cluster', () => {
  it.each<readonly [story: string, objects: KubeObject[], env: NodeJS.ProcessEnv, args: object, image: string]>([
    ['goes by the operator that is installed', [operator], {}, {}, 'reg.example/mirror/library/redis:8.0'],
    ['goes by the option', [operator], variable, { imageRegistry: 'mine.example' }, 'mine.example/library/redis:8.0'],
    ['goes by the environment', [operator], variable, {}, 'env.example/library/redis:8.0'],
    ['else has released images', [], {}, {}, 'docker.io/library/redis:8.0'],
  ])('%s', async (_, objects, env, args, image) => {
    const cli = at({ api: apiServer({ objects: [redis, ...objects] }) }, env);
    await plan({ subject: 'f', output: 'json', ...args }, cli);
    expect(imagesIn(cli)).toEqual([image]);
  });
});

describe('without a cluster', () => {
  it('plan and render go by the option', async () => {
    const [planned, rendered] = [at({}), at({})];
    await plan({ subject: 'f', offline: true, output: 'json', imageRegistry: 'mine.example' }, planned);
    await render({ file: 'f', imageRegistry: 'mine.example' }, rendered);
    expect([planned, rendered].map(imagesIn)).toEqual([
      ['mine.example/library/redis:8.0'],
      ['mine.example/library/redis:8.0'],
    ]);
  });

  it.each([
    [{ imageRegistry: 'docker' }, {}, '--image-registry must be a registry'],
    [{}, { CLUSTERWRIGHT_IMAGE_REGISTRY: 'https://r.example' }, 'CLUSTERWRIGHT_IMAGE_REGISTRY must be a registry'],
  ])('%j and %j are refused', async (args, env, told) => {
    await expect(render({ file: 'f', ...args }, at({}, env))).rejects.toThrow(told);
  });
});
