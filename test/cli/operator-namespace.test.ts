/** Where the operator is: in the usual namespace, or in one that an option or the environment names. */
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
  spec: { networkPolicy: {} },
};
const operator: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'clusterwright', namespace: 'platform' },
  spec: {
    template: { spec: { containers: [{ env: [{ name: 'CLUSTERWRIGHT_IMAGE_REGISTRY', value: 'reg.example' }] }] } },
  },
};
const variable = { CLUSTERWRIGHT_OPERATOR_NAMESPACE: 'platform' };

const at = (options: Omit<WorldOptions, 'files'>, env: NodeJS.ProcessEnv = {}): World => ({
  ...world({ files: { f: JSON.stringify(redis) }, ...options }),
  env,
});

/** Whom the NetworkPolicy lets in, and where images come from. */
const toldIn = ({ printed: { out } }: World): readonly (string | undefined)[] => [
  /metadata.name"?: "?([^"\s,}]+)/.exec(out)?.[1],
  /"?image"?: "?([^"/]+)/.exec(out)?.[1],
];

describe('plan against a cluster', () => {
  it.each<readonly [env: NodeJS.ProcessEnv, args: object, home: string, registry: string]>([
    [{}, {}, 'clusterwright-system', 'docker.io'],
    [variable, {}, 'platform', 'reg.example'],
    [{ CLUSTERWRIGHT_OPERATOR_NAMESPACE: '' }, {}, 'clusterwright-system', 'docker.io'],
    [{}, { operatorNamespace: 'platform' }, 'platform', 'reg.example'],
    [variable, { operatorNamespace: 'elsewhere' }, 'elsewhere', 'docker.io'],
  ])('with %j and %j is that of the operator in its namespace', async (env, args, home, registry) => {
    const cli = at({ api: apiServer({ objects: [redis, operator] }) }, env);
    await plan({ subject: 'f', output: 'json', ...args }, cli);
    expect(toldIn(cli)).toEqual([home, registry]);
  });
});

describe('without a cluster', () => {
  it('plan and render go by the option', async () => {
    const [planned, rendered] = [at({}), at({})];
    await plan({ subject: 'f', offline: true, output: 'json', operatorNamespace: 'platform' }, planned);
    await render({ file: 'f', operatorNamespace: 'platform' }, rendered);
    expect([planned, rendered].map((cli) => toldIn(cli)[0])).toEqual(['platform', 'platform']);
  });

  it.each([
    [{ operatorNamespace: 'A' }, {}, '--operator-namespace must be'],
    [{}, { CLUSTERWRIGHT_OPERATOR_NAMESPACE: 'a/b' }, 'CLUSTERWRIGHT_OPERATOR_NAMESPACE must be'],
  ])('%j and %j are refused', async (args, env, told) => {
    await expect(render({ file: 'f', ...args }, at({}, env))).rejects.toThrow(told);
  });
});
