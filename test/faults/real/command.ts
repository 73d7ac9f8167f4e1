/**
 * `npm run faults -- --layer real`: the real layer with everything that it needs around it.
 *
 * A sandbox that runs is used and left running; otherwise one is started, and taken down at the end.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../src/api/object.ts';
import { redisImages } from '../../../src/engines/redis/images.ts';
import { createProgress } from '../../../src/sandbox/progress.ts';
import { down, loadImages, sandboxEnv, up } from '../../../src/sandbox/sandbox.ts';
import { bundleForeseen } from '../../support/foreseen-bundle.ts';
import { connectKubernetes, listAll } from '../../support/kubernetes.ts';
import { redisClusters } from '../../support/resources.ts';
import { until } from '../../support/until.ts';
import { type RealLayerOptions, type RealResult, runRealLayer } from './layer.ts';

export interface RealCommandOptions extends Pick<RealLayerOptions, 'only' | 'plans' | 'lanes' | 'log'> {
  /** Of the checkout: holds `dist/` and `build/`, where the bundle is and the report goes. */
  readonly root: string;
}

/** Resolves with the exit code: 0 when no oracle objects. */
export async function realLayer(options: RealCommandOptions): Promise<number> {
  const { root, log } = options;
  const build = join(root, 'build');
  const progress = createProgress();
  const began = await up({ nodes: 3 }, progress);
  try {
    await loadImages(['redis:8.0'], { recipes: redisImages }, progress);
    const kubeconfig = sandboxEnv().KUBECONFIG;
    await installCrds(kubeconfig, join(root, 'dist/0000-crds.k8s.yaml'));
    const bundle = join(build, 'foreseen/controller.mjs');
    await bundleForeseen(root, bundle);
    const beganAt = performance.now();
    const results = await runRealLayer({
      ...options,
      kubeconfig,
      bundle,
      keep: join(build, 'faults'),
    });
    const seconds = (performance.now() - beganAt) / 1000;
    await mkdir(build, { recursive: true });
    await writeFile(join(build, 'faults-real.json'), `${JSON.stringify({ seconds, results }, null, 2)}\n`);
    const failed = results.filter(({ violations }) => violations.length > 0);
    log(`\n${realTable(results)}\n`);
    log(`${results.length} runs in ${seconds.toFixed(0)} s, ${failed.length} failed; build/faults-real.json`);
    return failed.length === 0 ? 0 : 1;
  } finally {
    if (began === 'started') await down(progress);
  }
}

async function installCrds(kubeconfig: string, file: string): Promise<void> {
  const { client, close } = await connectKubernetes(kubeconfig);
  try {
    const documents = parseAllDocuments(await readFile(file, 'utf8'));
    for (const document of documents) await client.apply(document.toJS() as KubeObject, { force: true });
    // Twice: for a moment after a change of its definition a resource is served by nobody.
    for (const _ of [1, 2]) {
      await until('the CRDs served', () => listAll(client, redisClusters, 'default'), { withinMs: 30_000 });
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  } finally {
    await close();
  }
}

/** A line a fault class, a column a scenario: how many runs, and how many of them failed. */
export function realTable(results: readonly Pick<RealResult, 'scenario' | 'class' | 'violations'>[]): string {
  const scenarios = [...new Set(results.map(({ scenario }) => scenario))];
  const classes = [...new Set(results.map((result) => result.class ?? 'none'))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );
  const width = Math.max(...scenarios.map(({ length }) => length), 6) + 2;
  const line = (first: string, cells: readonly string[]): string =>
    [first.padEnd(6), ...cells.map((cell) => cell.padStart(width))].join('');
  const rows = classes.map((id) => {
    const cells = scenarios.map((scenario) => {
      const runs = results.filter((result) => result.scenario === scenario && (result.class ?? 'none') === id);
      const failed = runs.filter(({ violations }) => violations.length > 0).length;
      return runs.length === 0 ? '-' : failed === 0 ? String(runs.length) : `${runs.length} (${failed} failed)`;
    });
    return line(id, cells);
  });
  return [line('fault', scenarios), ...rows].join('\n');
}
