/** Whom the operator talks to: DNS, the API server, and the databases that it manages. Only its one port is open. */
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import type { KindHandler } from '../engine/engine.ts';
import { managedBy, managedByLabel } from '../resources/metadata.ts';
import { operatorPort } from './operator-deployment.ts';
import { operatorLabels, operatorName } from './operator-identity.ts';

export interface NetworkOptions {
  readonly namespace: string;
  readonly handlers: readonly KindHandler[];
  readonly apiServerPorts: readonly number[];
}

const tcp = (port: number): k8s.NetworkPolicyPort => ({ port: k8s.IntOrString.fromNumber(port), protocol: 'TCP' });

export function operatorNetwork(scope: Construct, options: NetworkOptions): void {
  const { namespace, handlers, apiServerPorts } = options;
  const ports = [...new Set(handlers.flatMap((handler) => handler.ports))].sort((a, b) => a - b);
  new k8s.KubeNetworkPolicy(scope, 'network', {
    metadata: { name: operatorName, namespace, labels: operatorLabels },
    spec: {
      podSelector: { matchLabels: operatorLabels },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ ports: [tcp(operatorPort)] }],
      egress: [
        // Neither the API server nor a DNS cache on the node is a pod, so both are known by port only.
        { ports: [{ port: k8s.IntOrString.fromNumber(53), protocol: 'UDP' }, tcp(53), ...apiServerPorts.map(tcp)] },
        {
          to: [{ namespaceSelector: {}, podSelector: { matchLabels: { [managedByLabel]: managedBy } } }],
          ports: ports.map(tcp),
        },
      ],
    },
  });
}
