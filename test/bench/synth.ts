/** The cdk8s side: time and size of a manifest of many clusters, in this process, which has the library loaded. */
import { App, Chart } from 'cdk8s';
import { RedisCluster } from '../../src/constructs/redis-cluster.ts';
import { benchNamespace } from './control-plane.ts';
import { range } from './in-flight.ts';
import { clusterName } from './workload.ts';

export interface Synthesized {
  readonly n: number;
  readonly seconds: number;
  readonly bytes: number;
}

export function measureSynth(n: number): Synthesized {
  const startedAt = performance.now();
  const app = new App();
  const chart = new Chart(app, 'clusters', { disableResourceNameHashes: true });
  for (const i of range(0, n)) {
    const name = clusterName(i);
    new RedisCluster(chart, name, { metadata: { name, namespace: benchNamespace } });
  }
  const bytes = Buffer.byteLength(app.synthYaml());
  return { n, seconds: (performance.now() - startedAt) / 1000, bytes };
}
