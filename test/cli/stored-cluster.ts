/** A Redis cluster of a manifest as the API server has it, with its objects. */
import type { KubeObject } from '../../src/api/object.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { render } from '../../src/cli/render.ts';
import { handlers as engines } from '../support/handlers.ts';
import { world } from './world.ts';

export const password = 'hunter2-hunter2-hunter2';

export function manifest(spec: object = {}): KubeObject {
  return {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'RedisCluster',
    metadata: { name: 'cache', namespace: 'team' },
    spec,
  };
}

/** The custom resource as the API server has it. */
export function stored(spec: object = {}): KubeObject {
  const [engine] = engines;
  const verdict = engine && validateCluster(engine.kind, manifest(spec));
  if (verdict?.ok !== true) throw new Error('the manifest is valid');
  const { metadata, ...rest } = verdict.cluster;
  return { ...rest, metadata: { ...metadata, uid: 'the-uid', generation: 1 } };
}

/** Everything that a first pass creates for it, and a running pod. */
export async function childrenOf(cluster: KubeObject): Promise<KubeObject[]> {
  const cli = world({ files: { f: JSON.stringify(cluster) } });
  await render({ file: 'f', output: 'json' }, cli);
  const { items } = JSON.parse(cli.printed.out) as { items: KubeObject[] };
  const labels = items[1]?.metadata.labels ?? {};
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'cache-0', namespace: 'team', uid: 'pod-0', labels },
    status: { phase: 'Running', podIP: '10.9.9.9' },
  };
  const filled = items.map((item) =>
    item.kind === 'Secret' ? { ...item, data: { password: Buffer.from(password).toString('base64') } } : item,
  );
  return [...filled, pod];
}
