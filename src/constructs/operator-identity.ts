/** What the operator is called, and what its objects are found by: fixed for ever, as selectors cannot change. */

export const operatorName = 'clusterwright';
export { defaultAgentImage as operatorImage } from '../jobs/agent-pod.ts';
export const operatorNamespace = 'clusterwright-system';

/** What every object of the operator is found by. */
export const operatorLabels = {
  'app.kubernetes.io/name': 'clusterwright',
  'app.kubernetes.io/component': 'operator',
  'app.kubernetes.io/part-of': 'clusterwright',
} as const;
