/** The ServiceAccount of an operator that serves one namespace, with its rights, from the manifests that a platform team installs. */
import { App, Chart } from 'cdk8s';
import type { KubeObject } from '../../src/api/object.ts';
import { Operator } from '../../src/constructs/operator.ts';
import { operatorName } from '../../src/constructs/operator-identity.ts';
import type { KubeClient } from '../../src/runtime/client.ts';

const granting: readonly string[] = ['ServiceAccount', 'Role', 'RoleBinding'];

/** Resolves with the user name of the ServiceAccount. */
export async function grantRights(client: KubeClient, namespace: string): Promise<string> {
  const chart = new Chart(new App({ recordConstructMetadata: false }), 'operator', { disableResourceNameHashes: true });
  new Operator(chart, 'operator', { namespace, createNamespace: false, watch: { namespaces: [namespace] } });
  for (const object of chart.toJson() as KubeObject[]) {
    if (granting.includes(object.kind)) await client.apply(object, { force: true });
  }
  return `system:serviceaccount:${namespace}:${operatorName}`;
}
