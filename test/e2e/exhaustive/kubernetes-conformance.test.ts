/** The suite that the simulated Kubernetes of the fault harness must pass, on a real one: what it relies on is true. */
import { inject } from 'vitest';
import { loadKubeconfig } from '../../../src/runtime/kubeconfig.ts';
import type { Transport } from '../../../src/runtime/transport.ts';
import { createTransport } from '../../../src/runtime/undici-transport.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { clusters, definition } from '../../faults/kubernetes/conformance/conformance-case.ts';
import { sceneOn } from '../../faults/kubernetes/conformance/scene.ts';
import { kubernetesConformance } from '../../faults/kubernetes/conformance/suite.ts';
import { until } from '../../support/until.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const namespaces = '/api/v1/namespaces';

/** Every node has it. The shell would not hear the signal while its child runs in the foreground. */
const container = {
  name: 'main',
  image: 'docker.io/library/busybox:latest',
  imagePullPolicy: 'IfNotPresent',
  command: ['sh', '-c', 'trap "exit 0" TERM; sleep 3600 & wait'],
};

async function send(transport: Transport, method: 'GET' | 'POST', path: string, body?: object): Promise<string> {
  const response = await transport.request({
    method,
    path,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status}: ${response.body}`);
  return response.body;
}

/** Resolves when the server serves the custom resource, a moment after it has taken its definition. */
async function install(transport: Transport): Promise<void> {
  await until('no definition from another run', () => send(transport, 'POST', definitions, definition));
  const [plural, version] = clusters.split(/\.(.*)/);
  await until('the custom resource served', () => send(transport, 'GET', `/apis/${version}/${plural}`));
}

kubernetesConformance('a real Kubernetes', async () => {
  const clock = systemClock;
  const { credentials } = await loadKubeconfig({ env: process.env, clock, path: inject('kubeconfig') });
  const transport = createTransport({ credentials, userAgent: 'clusterwright-conformance', clock });
  const nodes = JSON.parse(await send(transport, 'GET', '/api/v1/nodes')) as { readonly items: readonly unknown[] };
  await install(transport);
  const run = Math.random().toString(36).slice(2, 8);
  let played = 0;
  return {
    runsPods: nodes.items.length > 0,
    async play(story) {
      const namespace = `conformance-${run}-${++played}`;
      await send(transport, 'POST', namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      try {
        await story(sceneOn({ transport, clock, namespace, container, patienceMs: 60_000 }));
      } finally {
        // A story may have deleted it already.
        await transport.request({ method: 'DELETE', path: `${namespaces}/${namespace}` });
      }
    },
    async close() {
      await transport.request({ method: 'DELETE', path: `${definitions}/${definition.metadata.name}` });
      await transport.close();
    },
  };
});
