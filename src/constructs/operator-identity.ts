/** What the operator is called, and what its objects are found by: fixed for ever, as selectors cannot change. */

/** Which namespaces the operator serves: a ClusterRole for all of them, or a Role in each. */
export type Watch = { readonly all: true } | { readonly namespaces: readonly string[] };

export const operatorName = 'clusterwright';
export { defaultAgentImage as operatorImage } from '../jobs/agent-pod.ts';
export { defaultOperatorNamespace as operatorNamespace, operatorLabels } from '../resources/operator-pods.ts';
