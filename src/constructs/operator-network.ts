/** Whom the operator talks to: DNS, the API server, and the databases that it manages. Only its one port is open. */
import { k8s, Namespaces, NetworkPolicy, NetworkPolicyPort, NetworkPolicyTrafficDefault, Pods } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import type { KindHandler } from '../engine/engine.ts';
import { managedBy, managedByLabel } from '../resources/metadata.ts';
import { operatorPort } from './operator-deployment.ts';
import { operatorLabels, operatorName } from './operator-identity.ts';
import { setFields } from './set-fields.ts';

export interface NetworkOptions {
  readonly namespace: string;
  readonly handlers: readonly KindHandler[];
  readonly apiServerPorts: readonly number[];
}

const closed = { default: NetworkPolicyTrafficDefault.DENY };
const on =
  (protocol: string) =>
  (port: number): k8s.NetworkPolicyPort => ({ port: k8s.IntOrString.fromNumber(port), protocol });

export function operatorNetwork(scope: Construct, options: NetworkOptions): void {
  const { namespace, handlers, apiServerPorts } = options;
  const policy = new NetworkPolicy(scope, 'network', {
    metadata: { name: operatorName, namespace, labels: operatorLabels },
    selector: Pods.select(scope, 'pods', { labels: operatorLabels }),
    ingress: closed,
    egress: closed,
  });
  const databases = Pods.select(scope, 'databases', {
    labels: { [managedByLabel]: managedBy },
    namespaces: Namespaces.all(scope, 'namespaces'),
  });
  const ports = [...new Set(handlers.flatMap((handler) => handler.ports))].sort((a, b) => a - b);
  policy.addEgressRule(databases, ports.map(NetworkPolicyPort.tcp));
  // cdk8s-plus has no rule without a peer. Neither the API server nor a DNS cache on the node is a pod, so both are known by port only.
  const [tcp, udp] = [on('TCP'), on('UDP')];
  const outside: k8s.NetworkPolicyEgressRule = { ports: [udp(53), tcp(53), ...apiServerPorts.map(tcp)] };
  setFields<Record<number, k8s.NetworkPolicyEgressRule>>(policy, '/spec/egress', { 0: outside });
  setFields<k8s.NetworkPolicySpec>(policy, '/spec', { ingress: [{ ports: [tcp(operatorPort)] }] });
}
