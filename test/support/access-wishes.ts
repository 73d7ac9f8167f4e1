/** A NetworkPolicy that a spec asks for, open to all namespaces or to some pods, and what a rig says of a generation. */
import type { KubeObject } from '../../src/api/object.ts';
import { componentLabel, networkComponent } from '../../src/resources/metadata.ts';
import type { ReconcilerRig } from './reconciler-rig.ts';
import { testChild } from './test-engine.ts';

const open = [{ from: [{ namespaceSelector: {} }] }];
const shut = [{ from: [{ podSelector: { matchLabels: { app: 'mine' } } }] }];

export function wantedPolicy(cluster: KubeObject, to: 'open' | 'shut'): KubeObject {
  const { metadata } = testChild(cluster, 'ConfigMap');
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { ...metadata, labels: { ...metadata.labels, [componentLabel]: networkComponent } },
    spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: to === 'open' ? open : shut },
  };
}

export function isOpen({ api }: ReconcilerRig): boolean {
  return JSON.stringify(api.get('NetworkPolicy', 'db')?.spec ?? {}).includes('namespaceSelector');
}

export function isReadyOn({ condition, status }: ReconcilerRig, generation: number): boolean {
  return condition('Ready').startsWith('True') && status().observedGeneration === generation;
}
