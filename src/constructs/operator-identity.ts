/** What the operator is called, and what its objects are found by: fixed for ever, as selectors cannot change. */

export const operatorName = 'clusterwright';
export { defaultAgentImage as operatorImage } from '../jobs/agent-pod.ts';
export { defaultOperatorNamespace as operatorNamespace, operatorLabels } from '../resources/operator-pods.ts';
