/** PodMonitors: which pods Prometheus asks, and the labels of what they say. */
import type { KubeObject, ObjectMeta } from '../api/object.ts';
import type { EngineMonitoring, Scrape } from '../engine/monitoring.ts';

export interface Relabeling {
  readonly sourceLabels?: readonly string[];
  readonly targetLabel: string;
  readonly replacement?: string;
}

const metaLabel = (label: string): string => `__meta_kubernetes_pod_label_${label.replace(/[^A-Za-z0-9_]/g, '_')}`;

/** Which pods, and what their series are called. */
export interface PodSelection {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly port: string;
  readonly path: string;
  readonly relabelings: readonly Relabeling[];
}

export function podsOf({ name }: EngineMonitoring, scrape: Scrape): PodSelection {
  const { component, port, path = '/metrics', member = 'label' } = scrape;
  return {
    matchLabels: {
      'app.kubernetes.io/name': name,
      'app.kubernetes.io/component': component,
      'app.kubernetes.io/managed-by': 'clusterwright',
    },
    port,
    path,
    relabelings: [
      { targetLabel: 'clusterwright_engine', replacement: name },
      { sourceLabels: [metaLabel('app.kubernetes.io/instance')], targetLabel: 'clusterwright_cluster' },
      {
        sourceLabels: [member === 'pod' ? '__meta_kubernetes_pod_name' : metaLabel('clusterwright.dev/member')],
        targetLabel: 'clusterwright_member',
      },
    ],
  };
}

export function podMonitor(metadata: ObjectMeta, pods: PodSelection, namespaces: readonly string[]): KubeObject {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata,
    spec: {
      namespaceSelector: namespaces.length === 0 ? { any: true } : { matchNames: [...namespaces] },
      selector: { matchLabels: pods.matchLabels },
      podMetricsEndpoints: [{ port: pods.port, path: pods.path, relabelings: pods.relabelings }],
    },
  };
}
