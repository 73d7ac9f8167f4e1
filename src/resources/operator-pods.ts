/** The operator's own pods, as the objects of a cluster refer to them. */

/** Where the operator runs unless it is installed elsewhere. */
export const defaultOperatorNamespace = 'clusterwright-system';

/** What every object of the operator is found by. */
export const operatorLabels = {
  'app.kubernetes.io/name': 'clusterwright',
  'app.kubernetes.io/component': 'operator',
  'app.kubernetes.io/part-of': 'clusterwright',
} as const;
