/** One release of the chart, made by the real Helm. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { helmChart } from '../../src/charts/helm/chart.ts';
import { operatorImage } from '../../src/sandbox/images/recipes.ts';
import { writeFiles } from '../../src/system/write-files.ts';
import { helmBinary, helmHome } from './helm.ts';

const run = promisify(execFile);
/** Under this name the sandbox has the image of the operator. */
const [repository = '', tag = ''] = `localhost/${operatorImage}`.split(':');

export interface HelmRelease {
  /** `command` is `install` or `upgrade`. Resolves when Helm calls its objects ready. */
  apply(command: 'install' | 'upgrade', values?: object): Promise<void>;
  /** Any other command of Helm, in the namespace. Resolves with its output. */
  helm(...args: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** The CRDs are those of the sandbox, which other tests use at the same time. */
export function helmRelease(name: string, namespace: string, kubeconfig: string): HelmRelease {
  const directory = mkdtempSync(join(tmpdir(), 'clusterwright-helm-'));
  const chart = join(directory, 'chart');
  writeFiles(chart, helmChart());

  async function helm(...args: readonly string[]): Promise<string> {
    const place = ['--namespace', namespace, '--kubeconfig', kubeconfig];
    const { stdout } = await run(helmBinary, [...args, ...place], { env: helmHome(directory) });
    return stdout;
  }

  return {
    helm,
    async apply(command, values = {}) {
      const file = join(directory, 'values.json');
      writeFileSync(file, JSON.stringify({ crds: { install: false }, image: { repository, tag }, ...values }));
      await helm(command, name, chart, '--values', file, '--wait', '--timeout', '3m');
    },
    async close() {
      await helm('uninstall', name, '--wait').catch(() => undefined);
      rmSync(directory, { recursive: true });
    },
  };
}
