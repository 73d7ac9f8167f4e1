/** Helm, compiled from its Go module into the cache of the sandbox. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/object.ts';
import { binaryPath } from '../../src/sandbox/binaries.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';

export const helmBinary = binaryPath(layoutOf(process.env), 'helm');

export const hasHelm = existsSync(helmBinary);

export interface HelmResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Without the settings, caches and plugins of whoever runs the tests. */
export const helmHome = (home: string): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, HOME: home });

export function helm(args: readonly string[], values: object = {}): HelmResult {
  const home = mkdtempSync(join(tmpdir(), 'clusterwright-helm-'));
  try {
    const file = join(home, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    const valueArgs = args[0] === 'template' || args[0] === 'lint' ? ['--values', file] : [];
    const { status, stdout, stderr } = spawnSync(helmBinary, [...args, ...valueArgs], {
      encoding: 'utf8',
      env: helmHome(home),
      maxBuffer: 64 * 1024 * 1024,
    });
    return { ok: status === 0, stdout, stderr };
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** A module that is compiled without its own build script says that Kubernetes is at 1.20. */
const kubernetes = ['--kube-version', '1.35.4'] as const;

/** @throws what Helm says, where it refuses the values */
export function rendered(chart: string, namespace: string, values: object): KubeObject[] {
  const result = helm(['template', 'release', chart, '--namespace', namespace, ...kubernetes], values);
  if (!result.ok) throw new Error(result.stderr);
  return parseAllDocuments(result.stdout).flatMap((document) => (document.toJS() as KubeObject | null) ?? []);
}
