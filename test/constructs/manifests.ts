/** The objects that a construct makes, as they would be in its manifest. */
import { App, Chart } from 'cdk8s';
import type { KubeObject } from '../../src/api/object.ts';

/** Validates and resolves the whole app. Nothing is written. */
export function manifestsOf(build: (chart: Chart) => void): KubeObject[] {
  const app = new App({ recordConstructMetadata: false, outdir: 'build/unused' });
  const chart = new Chart(app, 'chart', { disableResourceNameHashes: true });
  build(chart);
  return chart.toJson() as KubeObject[];
}

export function findObject(objects: readonly KubeObject[], kind: string, name: string): KubeObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind}/${name}`);
  return found;
}
