/** How kube-state-metrics makes metrics of the conditions of each kind: `--custom-resource-state-config-file`, and its rights. */
import type { Resource } from '../api/object.ts';

const condition = {
  name: 'condition',
  help: 'Conditions of a resource; 1 is True.',
  each: {
    type: 'Gauge',
    gauge: {
      path: ['status', 'conditions'],
      labelsFromPath: { type: ['type'], reason: ['reason'] },
      valueFrom: ['status'],
    },
  },
} as const;

export function stateMetricsConfig(kinds: readonly Resource[]): object {
  return {
    kind: 'CustomResourceStateMetrics',
    spec: {
      resources: kinds.map(({ group, version, kind }) => ({
        groupVersionKind: { group, version, kind },
        metricNamePrefix: `clusterwright_${kind.toLowerCase()}`,
        // A resource without conditions is a new one, and no error.
        errorLogV: 5,
        labelsFromPath: { name: ['metadata', 'name'], namespace: ['metadata', 'namespace'] },
        metrics: [condition],
      })),
    },
  };
}

/** It finds kinds by their CustomResourceDefinitions. */
export function stateMetricsRules(kinds: readonly Resource[]): object[] {
  const verbs = ['list', 'watch'];
  const groups = [...new Set(kinds.map(({ group }) => group))];
  return [
    ...groups.map((group) => ({
      apiGroups: [group],
      resources: kinds
        .filter((kind) => kind.group === group)
        .map(({ plural }) => plural)
        .sort(),
      verbs,
    })),
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs },
  ];
}
