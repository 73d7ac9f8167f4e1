/** The cdk8s side: time and size of a manifest of many clusters, in this process, which has the library loaded. */
import { App, Chart } from 'cdk8s';
import { benchNamespace } from './control-plane.ts';
import { range } from './in-flight.ts';
import { clusterName, type OwnWorkload } from './workload.ts';

export interface Synthesized {
  readonly n: number;
  readonly seconds: number;
  readonly bytes: number;
}

export function measureSynth(workload: OwnWorkload, n: number): Synthesized {
  const startedAt = performance.now();
  const app = new App();
  const chart = new Chart(app, 'clusters', { disableResourceNameHashes: true });
  for (const i of range(0, n)) workload.synthesize(chart, clusterName(i), benchNamespace);
  const bytes = Buffer.byteLength(app.synthYaml());
  return { n, seconds: (performance.now() - startedAt) / 1000, bytes };
}
