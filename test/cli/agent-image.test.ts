/** Which image the Jobs of backups run: as it is named, as the installed operator was told, or not known. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { plan } from '../../src/cli/plan.ts';
import { render } from '../../src/cli/render.ts';
import { type RunArguments, run } from '../../src/cli/run.ts';
import { apiServer } from './api-server.ts';
import { type World, type WorldOptions, world } from './world.ts';

const clusterwright = { apiVersion: 'clusterwright.dev/v1alpha1' };
const redis: KubeObject = {
  ...clusterwright,
  kind: 'RedisCluster',
  metadata: { name: 'cache', namespace: 'team' },
  spec: {},
};
const schedule: KubeObject = {
  ...clusterwright,
  kind: 'BackupSchedule',
  metadata: { name: 'nightly', namespace: 'team' },
  spec: {
    cluster: { kind: 'RedisCluster', name: 'cache' },
    schedule: '15 3 * * *',
    target: { claim: { name: 'backups' } },
  },
};
const claim: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'backups', namespace: 'team' },
};
const operator: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'clusterwright', namespace: 'clusterwright-system' },
  spec: {
    template: { spec: { containers: [{ env: [{ name: 'CLUSTERWRIGHT_AGENT_IMAGE', value: 'reg.example/cw:7' }] }] } },
  },
};

const files = { f: [redis, schedule].map((object) => JSON.stringify(object)).join('\n---\n') };

function at(options: Omit<WorldOptions, 'files'>, env: NodeJS.ProcessEnv = {}): World {
  return { ...world({ files, ...options }), env };
}

/** The image of the schedule's pods, as it is printed. */
function imageIn({ printed }: World): string {
  return /"?image"?: "?([^"\n]*(?:cw|clusterwright)[^"\n]*?)"?,?\n/.exec(printed.out)?.[1] ?? 'none';
}

describe('plan against a cluster', () => {
  it.each<readonly [story: string, objects: KubeObject[], env: NodeJS.ProcessEnv, args: object, image: string]>([
    ['has the image of the operator that is installed', [operator], {}, {}, 'reg.example/cw:7'],
    ['has the one that is named', [operator], {}, { agentImage: 'mine/cw:1' }, 'mine/cw:1'],
    ['has that of the environment', [operator], { CLUSTERWRIGHT_AGENT_IMAGE: 'env/cw:1' }, {}, 'env/cw:1'],
    ['has a stand-in, and says so', [], {}, {}, 'clusterwright:0.1.0'],
  ])('%s', async (_, objects, env, args, image) => {
    const cli = at({ api: apiServer({ objects: [redis, claim, ...objects] }) }, env);
    await plan({ subject: 'f', output: 'json', ...args }, cli);
    expect(imageIn(cli)).toBe(image);
    expect(cli.printed.err).toBe(
      objects.length > 0
        ? ''
        : "clusterwright:0.1.0 stands for the operator's image, which cannot be told from here; --agent-image names it\n",
    );
  });

  it('goes on where the Deployment may not be read', async () => {
    const cli = at({ api: apiServer({ objects: [redis, claim, operator], forbidden: /deployments/ }) });
    expect(await plan({ subject: 'f', output: 'json' }, cli)).toBe(2);
    expect(imageIn(cli)).toBe('clusterwright:0.1.0');
  });
});

describe('without a cluster', () => {
  it('plan and render take the image that is named', async () => {
    const planned = at({});
    await plan({ subject: 'f', offline: true, output: 'json', agentImage: 'mine/cw:1' }, planned);
    const rendered = at({}, { CLUSTERWRIGHT_AGENT_IMAGE: 'env/cw:1' });
    await render({ file: 'f' }, rendered);
    expect([imageIn(planned), imageIn(rendered)]).toEqual(['mine/cw:1', 'env/cw:1']);
  });
});

describe('run', () => {
  it('does not start where nobody can tell the image of its Jobs', async () => {
    const args: RunArguments = { leaderElection: true, port: 0, dryRuns: true, logLevel: 'info' };
    await expect(run(args, at({ api: apiServer() }))).rejects.toThrow(
      /^no operator is installed in clusterwright-system.*--agent-image or CLUSTERWRIGHT_AGENT_IMAGE$/,
    );
  });
});
