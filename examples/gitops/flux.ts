/** Kustomizations of Flux: one of each part. Flux itself makes the GitRepository `flux-system` (`flux bootstrap`). */
import { ApiObject, type Chart } from 'cdk8s';
import type { Environment } from './environments.ts';
import { parts } from './parts.ts';

export function kustomizations(chart: Chart, { name: environment }: Environment): void {
  for (const [index, { name, prune }] of parts.entries()) {
    const before = parts[index - 1];
    new ApiObject(chart, name, {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name, namespace: 'flux-system' },
      spec: {
        interval: '10m',
        // After a failure. Otherwise Flux waits for `interval`.
        retryInterval: '1m',
        path: `./deploy/${environment}/${name}`,
        prune,
        // The next part begins when everything in this one is ready.
        wait: true,
        timeout: '10m',
        ...(before === undefined ? {} : { dependsOn: [{ name: before.name }] }),
        sourceRef: { kind: 'GitRepository', name: 'flux-system' },
      },
    });
  }
}
