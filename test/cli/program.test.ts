/** The program as a process: what it loads, how it fails, and under which names it is run. */
import { spawnSync } from 'node:child_process';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/cli/deploy/manifests.ts';

// Inside of the package, so that the modules that are not bundled are found.
const directory = join(packageRoot(), 'build', 'test', `cli-${process.pid}`);
const program = join(directory, 'cli.js');
let metafile: Metafile;

beforeAll(async () => {
  ({ metafile } = await build({
    entryPoints: [join(packageRoot(), 'src', 'cli.ts')],
    outdir: directory,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    metafile: true,
    logLevel: 'silent',
  }));
  await mkdir(join(directory, 'bin'));
  for (const name of ['kubectl-clusterwright', 'kubectl_complete-clusterwright']) {
    await symlink(program, join(directory, 'bin', name));
  }
  return () => rm(directory, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function run(
  args: readonly string[],
  options: { script?: string; env?: NodeJS.ProcessEnv; input?: string } = {},
): Ended {
  const { script = program, env = {}, input = '' } = options;
  const ended = spawnSync(process.execPath, [script, ...args], {
    env: { PATH: process.env.PATH, HOME: directory, ...env },
    input,
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { code: ended.status, out: ended.stdout, err: ended.stderr };
}

describe('the program', () => {
  it('loads nothing but yargs before it knows its command', () => {
    const entry = Object.keys(metafile.outputs).find((path) => path.endsWith(`cli-${process.pid}/cli.js`)) ?? '';
    const loaded = new Set<string>();
    const visit = (path: string): void => {
      if (loaded.has(path)) return;
      loaded.add(path);
      for (const { path: next, kind } of metafile.outputs[path]?.imports ?? []) {
        if (kind === 'import-statement') visit(next);
      }
    };
    visit(entry);
    const packages = [...loaded].filter((path) => !path.startsWith('build/') && !path.startsWith('node:'));
    expect(packages.sort()).toEqual(['yargs', 'yargs/helpers']);
  });

  it('lists its commands', () => {
    const { code, out } = run(['--help']);
    expect(code).toBe(0);
    for (const command of [
      'render',
      'plan',
      'status',
      'run',
      'crds',
      'reference',
      'up',
      'down',
      'sandbox',
      'completion',
    ]) {
      expect(out).toMatch(new RegExp(`^  clusterwright ${command}\\b`, 'm'));
    }
  });

  it('calls itself as it was called', () => {
    const { out } = run(['--help'], { script: join(directory, 'bin', 'kubectl-clusterwright') });
    expect(out).toMatch(/^ {2}kubectl clusterwright plan <subject>/m);
  });

  it.each([
    ['no command', [], 'clusterwright: name a command; --help lists them\n'],
    ['an unknown command', ['plna'], 'clusterwright: Did you mean plan?\n'],
    ['nothing to plan', ['plan'], 'clusterwright: an argument is missing; add --help'],
    [
      'an option that is misspelled',
      ['plan', '--ofline', 'cache.yaml'],
      'clusterwright: an argument is missing, or an option is misspelled (--ofline); add --help',
    ],
    ['half a command', ['backup', 'verify'], 'clusterwright: an argument is missing'],
    ['an unknown format', ['crds', '-o', 'xml'], 'clusterwright: Invalid values:'],
    ['a file that is not there', ['render', 'nothing.yaml'], 'nothing.yaml: there is no such file\n'],
    ['no kubeconfig', ['status'], 'clusterwright: '],
    ['a cluster without an image', ['up', '--context', 'a'], 'clusterwright: --context needs --image'],
    ['a context that is not there', ['down', '--context', 'a'], 'clusterwright: '],
    ['a port that is none', ['run', '--port', '70000'], 'clusterwright: --port must be from 0 to 65535\n'],
  ])('answers %s with a message and exit code 1, without a stack', (_title, args, message) => {
    const { code, out, err } = run(args);
    expect(err.slice(0, message.length)).toBe(message);
    expect(err).not.toMatch(/^\s+at |defect/m);
    expect({ code, out }).toEqual({ code: 1, out: '' });
  });

  it('shows the stack when it is asked to', () => {
    expect(run(['render', 'nothing.yaml'], { env: { CLUSTERWRIGHT_DEBUG: '1' } }).err).toMatch(/^\s+at /m);
  });

  it('takes a manifest from a pipe', () => {
    const input = 'apiVersion: clusterwright.dev/v1alpha1\nkind: RedisCluster\nmetadata: {name: a}\nspec: {}\n';
    const { code, out } = run(['plan', '-', '--offline'], { input });
    expect(code).toBe(2);
    expect(out).toContain('RedisCluster default/a: ');
  });
});

describe('completion', () => {
  it('prints the script of the shell that is asked for', () => {
    const { code, out } = run(['completion', 'zsh'], { env: { SHELL: '/bin/bash' } });
    expect(code).toBe(0);
    expect(out).toContain('compdef _clusterwright_yargs_completions clusterwright');
  });

  it.each([
    [['st'], ['status']],
    [
      ['plan', '-o', ''],
      ['yaml', 'json'],
    ],
    [['sandbox', 'do'], ['down']],
    [['render', ''], []],
  ])('of %j offers %j', (words, offered) => {
    const { code, out } = run(['--get-yargs-completions', 'clusterwright', ...words]);
    expect(out.split('\n').filter((line) => line !== '')).toEqual(offered);
    expect(code).toBe(0);
  });

  it('answers kubectl in its own way, whatever the shell', () => {
    const script = join(directory, 'bin', 'kubectl_complete-clusterwright');
    expect(run(['st'], { script, env: { SHELL: '/bin/zsh' } }).out).toBe('status\n:0\n');
  });
});
