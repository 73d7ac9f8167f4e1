/** What a spec asks for and somebody keeps away, and what a rig says of its generation. */
import type { KubeObject } from '../../src/api/object.ts';
import { componentLabel, networkComponent } from '../../src/resources/metadata.ts';
import type { ReconcilerRig } from './reconciler-rig.ts';
import { testChild } from './test-engine.ts';
import { turns } from './virtual-clock.ts';

const open = [{ from: [{ namespaceSelector: {} }] }];
const shut = [{ from: [{ podSelector: { matchLabels: { app: 'mine' } } }] }];

/** A NetworkPolicy that is open to all namespaces or to some pods. */
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

/** Another generation. */
export async function changeSpec(rig: ReconcilerRig, replicas = 5): Promise<void> {
  rig.api.put({ ...rig.cluster(), spec: { replicas } });
  await turns();
}

/** First and last of what a pass every second finds in two minutes, where `isWrong`. */
export async function watched(rig: ReconcilerRig, isWrong: () => boolean): Promise<string[]> {
  const said: string[] = [];
  for (let second = 0; second < 120; second++) {
    await rig.pass();
    await turns();
    if (isWrong()) said.push(`${second} s: ${rig.status().phase}, ${JSON.stringify(rig.status().plan)}`);
    await rig.clock.advance(1_000);
  }
  return said.slice(0, 1).concat(said.slice(-1));
}

/** An admission webhook keeps the NetworkPolicy as it is. */
export function keepPolicy({ api }: ReconcilerRig): void {
  api.intercept = ({ method, path }) =>
    method === 'PATCH' && path.includes('/networkpolicies')
      ? Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(api.get('NetworkPolicy', 'db')) })
      : undefined;
}

/** Somebody changes the ConfigMap back. Returns what does so where there is something to change, for `playPasses`. */
export function undoesConfigMap({ api, cluster }: ReconcilerRig): () => boolean {
  const theirs = testChild(cluster(), 'ConfigMap', 'theirs');
  api.put(theirs);
  return () => {
    const { data } = api.get('ConfigMap', 'db') as KubeObject & { readonly data: { readonly data: string } };
    if (data.data === 'theirs') return false;
    api.put(theirs);
    return true;
  };
}
