/** The NetworkPolicy of a cluster, where its spec asks for one: one for all of its pods, with the ports of all of its processes. */
import type { Cluster } from '../api/cluster.ts';
import type { networkPolicySchema } from '../api/network-policy.ts';
import type { KubeObject } from '../api/object.ts';
import type { Defaulted } from '../api/schema.ts';
import {
  agentComponent,
  componentLabel,
  instanceLabel,
  managedBy,
  managedByLabel,
  nameLabel,
  networkComponent,
  ownedMetadata,
  type Part,
} from './metadata.ts';
import { defaultOperatorNamespace, operatorLabels } from './operator-pods.ts';

type Wanted = Defaulted<typeof networkPolicySchema>;
type Peer = Wanted['clients'][number];
type Selector = NonNullable<Peer['podSelector']>;
type Requirement = NonNullable<Selector['matchExpressions']>[number];

export interface NetworkPolicyOptions {
  /** The engine and the version of the cluster. */
  readonly part: Omit<Part, 'component'>;
  readonly ports: { readonly clients: readonly number[]; readonly metrics: readonly number[] };
}

/**
 * It says nothing about connections that the pods open: these lead to stores and sources that only their own settings name. Whom it does not
 * name cannot connect: a rule without peers would let everybody in, and so is left out.
 */
export function networkPolicy(
  cluster: Cluster,
  wanted: Wanted | undefined,
  options: NetworkPolicyOptions,
): KubeObject[] {
  if (wanted === undefined) return [];
  const { metadata, operatorNamespace = defaultOperatorNamespace } = cluster;
  const { part, ports } = options;
  const ofCluster = { [nameLabel]: part.engine, [instanceLabel]: metadata.name, [managedByLabel]: managedBy };
  const agents = { [componentLabel]: agentComponent, [managedByLabel]: managedBy };
  const rule = (from: readonly object[], open: readonly number[]): object[] =>
    from.length === 0 || open.length === 0 ? [] : [{ from, ports: open.map((port) => ({ port, protocol: 'TCP' })) }];
  const policy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: ownedMetadata(cluster, metadata.name, { ...part, component: networkComponent }),
    spec: {
      podSelector: { matchLabels: ofCluster },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [
            { podSelector: { matchLabels: ofCluster } },
            { podSelector: { matchLabels: agents } },
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operatorNamespace } },
              podSelector: { matchLabels: operatorLabels },
            },
          ],
        },
        ...rule(wanted.clients.map(peer), ports.clients),
        ...rule(wanted.metrics.map(peer), ports.metrics),
      ],
    },
  };
  return [policy];
}

/** As the API server gives it back: it drops what is empty. */
function peer({ all, namespaceSelector, podSelector, ipBlock }: Peer): object {
  if (all !== undefined) return all === 'Namespace' ? { podSelector: {} } : { namespaceSelector: {} };
  return {
    ...(namespaceSelector === undefined ? {} : { namespaceSelector: selector(namespaceSelector) }),
    ...(podSelector === undefined ? {} : { podSelector: selector(podSelector) }),
    ...(ipBlock === undefined ? {} : { ipBlock }),
  };
}

function selector({ matchLabels, matchExpressions = [] }: Selector): object {
  return {
    ...(matchLabels === undefined ? {} : { matchLabels }),
    ...(matchExpressions.length === 0 ? {} : { matchExpressions: matchExpressions.map(requirement) }),
  };
}

function requirement({ key, operator, values = [] }: Requirement): object {
  return { key, operator, ...(values.length === 0 ? {} : { values }) };
}
