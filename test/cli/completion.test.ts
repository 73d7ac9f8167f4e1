import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { clusterNames, lineOf, ownScript } from '../../src/cli/completion.ts';
import { parseClusterRef } from '../../src/cli/kinds.ts';
import { commandName, isKubectlCompletion, programName } from '../../src/cli/program.ts';
import { handlers as engines } from '../support/handlers.ts';
import { apiServer } from './api-server.ts';
import { world } from './world.ts';

const cluster = (name: string, namespace: string): KubeObject => ({
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { name, namespace },
});

describe('names of clusters', () => {
  const cli = world({ api: apiServer({ objects: [cluster('cache', 'team'), cluster('other', 'others')] }) });

  it.each([
    [['status', ''], ['rediscluster/cache']],
    [['plan', 'redis'], ['rediscluster/cache']],
    [['plan', '-n', 'others', ''], ['rediscluster/other']],
    [['--namespace=others', 'status', ''], ['rediscluster/other']],
    [['status', 'rediscluster/cache', ''], []],
    [['status', '-n', ''], []],
    [['status', '-'], []],
    [['render', ''], []],
    [['stat'], []],
    [[''], []],
    [[], []],
  ])('may follow %j', async (words, names) => {
    expect(await clusterNames(words, cli)).toEqual(names);
  });

  it('are left out in silence where there is no cluster', async () => {
    const lost = world();
    expect(await clusterNames(['status', ''], lost)).toEqual([]);
    expect(lost.printed).toEqual({ out: '', err: '' });
  });
});

describe('the script', () => {
  it('of fish asks as that of bash does: with the program, and the word at the cursor even where it is empty', async () => {
    const script = ownScript(['completion', 'fish'], {}) ?? '';
    expect(script).toContain('--get-yargs-completions (commandline -opc) (commandline -ct))');
    const line = await lineOf(['--get-yargs-completions', 'clusterwright', 'plan', ''], false, world());
    expect(line.words).toEqual(['--get-yargs-completions', 'clusterwright', 'plan', '']);
  });

  it.each([
    [['completion'], '/usr/bin/fish', true],
    [['completion', 'fish'], '/bin/bash', true],
    [['completion', 'bash'], '/usr/bin/fish', false],
    [['completion'], '/bin/bash', false],
    [['completion', '--help'], '/usr/bin/fish', false],
    [['plan', 'fish'], '/usr/bin/fish', false],
  ])('of fish is what %j in %s asks for: %s', (args, shell, isFish) => {
    expect(ownScript(args, { SHELL: shell }) !== undefined).toBe(isFish);
  });
});

describe('KIND/NAME', () => {
  it.each(['rediscluster/a', 'RedisClusters/a', 'rdc/a', 'rdc.clusterwright.dev/a'])('is %s', (text) => {
    expect(parseClusterRef(engines, text)?.name).toBe('a');
  });

  it.each(['a.yaml', 'rdc/a.yaml', './rdc/a', 'rdc/a/b', 'rdc/', 'pod/a', '-', 'rdc'])('is not %s', (text) => {
    expect(parseClusterRef(engines, text)).toBeUndefined();
  });
});

describe('the program', () => {
  it.each([
    ['/usr/bin/clusterwright', 'clusterwright', 'clusterwright', false],
    ['/src/build/src/cli.js', 'clusterwright', 'npx clusterwright', false],
    ['/usr/bin/kubectl-clusterwright', 'kubectl clusterwright', 'kubectl clusterwright', false],
    ['/usr/bin/kubectl_complete-clusterwright', 'clusterwright', 'clusterwright', true],
  ])('run as %s is %s', (script, name, command, completes) => {
    expect(programName(script)).toBe(name);
    expect(commandName(script)).toBe(command);
    expect(isKubectlCompletion(script)).toBe(completes);
  });
});
