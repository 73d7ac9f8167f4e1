/** The complete set of an etcd cluster's children: a pure function of the custom resource and the roster. */
import type { Cluster } from '../../../api/cluster.ts';
import { accessChildren } from '../../../plan/access.ts';
import { memoize } from '../../../plan/memoize.ts';
import type { Desired } from '../../../plan/objects.ts';
import { configMap } from '../../../resources/configmap.ts';
import { disruptionBudget } from '../../../resources/disruptionbudget.ts';
import { ownedMetadata, type Part, selectorLabels, unownedMetadata } from '../../../resources/metadata.ts';
import { networkPolicy } from '../../../resources/network-policy.ts';
import { generatedSecret } from '../../../resources/secret.ts';
import { clusterIPService, headlessService } from '../../../resources/service.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { clientPort, etcdNames, metricsPort, peerPort } from '../names.ts';
import { accessServices } from './access-services.ts';
import { firstAuthorities } from './authorities.ts';
import { certificateChildren } from './certificates.ts';
import { memberStatefulSet } from './pods.ts';
import { forming, type Roster, rosterData } from './roster.ts';

/** What a member runs in place of what the fields of the spec say. */
export interface PinnedVersion {
  readonly version: string;
  readonly image: string;
}

export const component = 'member';
export const passwordLength = 32;

const networkPorts = { clients: [clientPort], metrics: [metricsPort] };

export function memberPart({ spec }: Cluster<EtcdSpec>): Part {
  return { engine: 'etcd', component, version: spec.version };
}

export function etcdResources(cluster: Cluster<EtcdSpec>): readonly Desired[] {
  const authorities = firstAuthorities(cluster);
  return etcdChildren(cluster, forming(cluster, cluster.spec.replicas), () => authorities);
}

/** Of a cluster, by what it was built from the last time: most looks find nothing new, and would compare copies. */
const lastBuilt = memoize((_: Cluster<EtcdSpec>): { of: string; children: readonly Desired[] } => ({
  of: '',
  children: [],
}));

/**
 * The roster comes before the members that start by it. The password is made with the first of them, whether it is
 * wanted then or later: a Secret that is not watched can be made at no other time. `authorities` are those that a
 * member is to trust, where that is known, and `cas` which ones those are, where somebody brings them; `kept` is what a
 * member is to go on running, where that is not what the spec says; `quota` in bytes: see `given-quota.ts`.
 */
export function etcdChildren(
  cluster: Cluster<EtcdSpec>,
  roster: Roster,
  authorities: (index: number) => string | undefined = () => undefined,
  kept: (index: number) => PinnedVersion | undefined = () => undefined,
  cas: (index: number) => string | undefined = () => undefined,
  quota?: number,
): readonly Desired[] {
  const of = JSON.stringify([
    quota,
    ...[...roster].map(([index, start]) => [index, start, authorities(index), kept(index), cas(index)]),
  ]);
  const last = lastBuilt(cluster);
  if (last.of !== of) {
    last.of = of;
    last.children = built(cluster, roster, authorities, kept, cas, quota);
  }
  return last.children;
}

function built(
  cluster: Cluster<EtcdSpec>,
  roster: Roster,
  authorities: (index: number) => string | undefined,
  kept: (index: number) => PinnedVersion | undefined,
  cas: (index: number) => string | undefined,
  quota: number | undefined,
): readonly Desired[] {
  const { spec } = cluster;
  const names = etcdNames(cluster.metadata.name);
  const part = memberPart(cluster);
  const selector = selectorLabels(cluster, part);
  const client = { name: 'client', port: clientPort, targetPort: 'client', protocol: 'TCP' };
  const peer = { name: 'peer', port: peerPort, targetPort: 'peer', protocol: 'TCP' };
  const size = spec.replicas === 0 ? 0 : 1;
  return [
    ...(spec.auth.secretRef === undefined
      ? [
          {
            object: generatedSecret(unownedMetadata(cluster, names.root, part)),
            generate: [{ key: 'password', length: passwordLength }],
            // Users are a part of the data: where it asks for passwords, root has this one in every backup.
            unlocksBackups: true as const,
          },
        ]
      : []),
    { object: configMap(ownedMetadata(cluster, names.roster, part), rosterData(cluster, roster)) },
    {
      object: headlessService({
        metadata: ownedMetadata(cluster, names.peers, part),
        selector,
        ports: [client, peer],
      }),
    },
    {
      object: clusterIPService({ metadata: ownedMetadata(cluster, names.client, part), selector, ports: [client] }),
    },
    // Behind the Services: where another owner has one of these names, nobody is asked to sign it.
    ...certificateChildren(cluster, part),
    { object: disruptionBudget(ownedMetadata(cluster, names.peers, part), selector) },
    ...[...roster.keys()].map((index) => {
      const own = kept(index);
      const of = own === undefined ? cluster : { ...cluster, spec: { ...spec, ...own } };
      const facts = { authorities: authorities(index), cas: cas(index), quota };
      return { object: memberStatefulSet(of, index, { ...part, version: of.spec.version }, size, facts) };
    }),
    ...accessChildren([
      ...accessServices(cluster, part),
      ...networkPolicy(cluster, spec.networkPolicy, { part, ports: networkPorts }),
    ]),
  ];
}
