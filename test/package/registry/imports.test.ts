/** `cdk8s import` of our CRDs for Python and Go: the commands and programs of docs/python-and-go.md, with packages from registries. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../src/api/object.ts';
import { PostgresCluster } from '../../../src/constructs/clusters.ts';
import { manifestsOf } from '../../constructs/manifests.ts';
import { run } from '../../support/installed-app.ts';

const page = readFileSync('docs/python-and-go.md', 'utf8');
const home = mkdtempSync(join(tmpdir(), 'clusterwright-imports-'));
afterAll(() => {
  // Modules of Go are read-only.
  execFileSync('chmod', ['-R', 'u+w', home]);
  rmSync(home, { recursive: true });
});

/** The only block of a language. */
function program(language: string): string {
  const blocks = [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))];
  if (blocks.length !== 1) throw new Error(`docs/python-and-go.md has ${blocks.length} blocks of ${language}`);
  return blocks[0]?.[1] ?? '';
}

/** The commands below a heading. */
function commands(heading: string): readonly string[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\$ (.*)$/gm)].map(([, command = '']) => command);
}

function shell(folder: string, command: string): void {
  const words = command.replace('/path/to/clusterwright', process.cwd());
  const PATH = `${resolve('node_modules/.bin')}:${process.env.PATH}`;
  const { status, stderr } = spawnSync('sh', ['-c', words], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH, GOFLAGS: '-buildvcs=false' },
  });
  if (status !== 0) throw new Error(`${command}\n${stderr}`);
}

function folderWith(file: string, content: string): string {
  const folder = join(home, file);
  mkdirSync(folder);
  writeFileSync(join(folder, file), content);
  return folder;
}

const written = (folder: string): readonly KubeObject[] =>
  readdirSync(join(folder, 'dist')).flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, 'dist', file), 'utf8')).map(
      (document) => document.toJS() as KubeObject,
    ),
  );

const ours = manifestsOf((chart) => {
  new PostgresCluster(chart, 'db', {
    metadata: { name: 'db', namespace: 'shop' },
    spec: {
      instances: 3,
      storage: { size: '10Gi' },
      parameters: { work_mem: '16MB' },
      resources: { limits: { memory: '2Gi' } },
    },
  });
});

const has = (command: string, ...words: readonly string[]): boolean => spawnSync(command, words).status === 0;

describe.skipIf(!has('python3', '-c', 'import ensurepip'))('in Python', () => {
  test('writes what our construct writes', () => {
    const folder = folderWith('main.py', program('python'));
    for (const command of commands('Python')) shell(folder, command);
    expect(written(folder)).toEqual(ours);
  }, 300_000);
});

describe.skipIf(!has('go', 'version'))('in Go', () => {
  /** cdk8s for Go, made of the cdk8s of this checkout as its publisher makes it: not every module proxy has it. */
  function replaceCdk8s(folder: string): void {
    run(
      home,
      resolve('node_modules/.bin/jsii-pacmak'),
      '--code-only',
      '-t',
      'go',
      '-o',
      home,
      resolve('node_modules/cdk8s'),
    );
    const core = join(home, 'go', 'cdk8s');
    // Which versions there are is for `go mod tidy` to find out.
    run(
      core,
      'go',
      'mod',
      'edit',
      ...['github.com/aws/jsii-runtime-go', 'github.com/aws/constructs-go/constructs/v10'].map(
        (name) => `-droprequire=${name}`,
      ),
    );
    run(folder, 'go', 'mod', 'edit', `-replace=github.com/cdk8s-team/cdk8s-core-go/cdk8s/v2=${core}`);
  }

  test('passes vet, and writes what our construct writes', () => {
    const folder = folderWith('main.go', program('go'));
    for (const command of commands('Go')) {
      shell(folder, command);
      if (command.startsWith('go mod init')) replaceCdk8s(folder);
      if (command.startsWith('go mod tidy')) shell(folder, 'go vet ./...');
    }
    expect(written(folder)).toEqual(ours);
  }, 300_000);
});
