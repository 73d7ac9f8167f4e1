/**
 * Runs once before all end-to-end tests: a Kubernetes, the images, the CRDs and the bundle under test.
 *
 * `CLUSTERWRIGHT_E2E_KUBECONFIG` names a sandbox that runs already and is left running; so is one that is found up. The
 * tests talk to pods and break nodes, so it has to be a sandbox of this machine. `CLUSTERWRIGHT_E2E_BUNDLE` names a
 * controller to test instead of one built from this checkout; O13 does not look at that one.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/object.ts';
import { images as recipes } from '../../src/engines/images.ts';
import { operatorImage } from '../../src/sandbox/images/recipes.ts';
import { createProgress, type Progress } from '../../src/sandbox/progress.ts';
import { down, loadImages, sandboxEnv, up } from '../../src/sandbox/sandbox.ts';
import { bundleForeseen } from '../support/foreseen-bundle.ts';
import { connectKubernetes, listAll } from '../support/kubernetes.ts';
import { backupSchedules, backups, etcdClusters, redisClusters } from '../support/resources.ts';
import { finishResults, startResults } from '../support/results.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const images = ['redis:7.0', 'redis:8.0', 'etcd:3.5', 'etcd:3.6', 'postgres:17', 's3:dev'];

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const progress = createProgress();
  const given = process.env.CLUSTERWRIGHT_E2E_KUBECONFIG;
  const began = given === undefined ? await up({ nodes: 3 }, progress) : 'kept';
  await loadImages(images, { recipes }, progress);
  const { KUBECONFIG, PATH } = sandboxEnv();
  const kubeconfig = given ?? KUBECONFIG;
  await progress.step('Installing the CRDs', () => installCrds(kubeconfig));
  const ownBundle = process.env.CLUSTERWRIGHT_E2E_BUNDLE;
  const bundle = ownBundle ?? (await bundleController(progress));
  await loadImages([operatorImage], { bundle }, progress);
  await startResults();
  // Workers start with this environment: kubectl in tests finds the cluster as a person's would.
  Object.assign(process.env, { KUBECONFIG: kubeconfig, PATH });
  project.provide('kubeconfig', kubeconfig);
  project.provide('bundle', ownBundle === undefined ? await foreseenBundle(progress) : bundle);
  project.provide('isForeseen', ownBundle === undefined);

  return async () => {
    const table = await finishResults();
    if (table !== '') console.log(`\nMeasured (build/e2e.json):\n${table}\n`);
    if (began === 'started') await down(progress);
  };
}

async function installCrds(kubeconfig: string): Promise<void> {
  const { client, close } = await connectKubernetes(kubeconfig);
  try {
    const documents = parseAllDocuments(await readFile(join(root, 'dist/0000-crds.k8s.yaml'), 'utf8'));
    for (const document of documents) await client.apply(document.toJS() as KubeObject, { force: true });
    for (const resource of [redisClusters, etcdClusters, backups, backupSchedules]) {
      await until('the CRDs served', () => listAll(client, resource, 'default'), { withinMs: 30_000 });
    }
  } finally {
    await close();
  }
}

async function bundleController(progress: Progress): Promise<string> {
  await progress.step('Bundling the controller', () => run('npm', ['run', '--silent', 'bundle'], { cwd: root }));
  return join(root, 'build/controller.mjs');
}

async function foreseenBundle(progress: Progress): Promise<string> {
  const file = join(root, 'build/foreseen/controller.mjs');
  await progress.step('Bundling it with O13', () => bundleForeseen(root, file));
  return file;
}
