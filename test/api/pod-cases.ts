/** What every kind says in the same way about its pods and about Services for clients outside. */
import type { Case, Json } from './case.ts';

const refusal = (spec: Json, refused: string): Case => ({ story: JSON.stringify(spec).slice(0, 90), spec, refused });
const accepted = (spec: Json): Case => ({ story: JSON.stringify(spec).slice(0, 90), spec });
const pods = (fields: Json): Json => ({ pods: fields });
const scheduling = (fields: Json): Json => ({ scheduling: fields });
const keys = (count: number): Json => Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, 'x']));
const secrets = (count: number): Json[] => Array.from({ length: count }, (_, i) => ({ name: `registry-${i}` }));

export const podCases: readonly Case[] = [
  accepted(
    pods({
      labels: { team: 'shop', 'example.com/cost-centre': '12' },
      annotations: { 'sidecar.istio.io/inject': 'false' },
      imagePullSecrets: secrets(8),
      uid: 1_000_650_000,
    }),
  ),
  accepted(pods({ labels: keys(16), annotations: keys(16) })),
  ...['labels', 'annotations'].flatMap((field) => [
    refusal(pods({ [field]: keys(17) }), `spec.pods.${field}`),
    ...['a b', '/x', 'app.kubernetes.io/name', 'kubernetes.io/x', 'clusterwright.dev/role', 'a.k8s.io/b'].map((key) =>
      refusal(pods({ [field]: { [key]: 'x' } }), `spec.pods.${field}`),
    ),
    // A Job with them is refused, so there would be no backups.
    ...['job-name', 'controller-uid'].map((key) => refusal(pods({ [field]: { [key]: 'x' } }), `spec.pods.${field}`)),
  ]),
  refusal(pods({ labels: { team: 'a b' } }), 'spec.pods.labels.team'),
  refusal(pods({ labels: { team: 'x'.repeat(64) } }), 'spec.pods.labels.team'),
  refusal(pods({ annotations: { note: 'x'.repeat(4097) } }), 'spec.pods.annotations.note'),
  refusal(pods({ imagePullSecrets: secrets(9) }), 'spec.pods.imagePullSecrets'),
  refusal(pods({ imagePullSecrets: [{}] }), 'spec.pods.imagePullSecrets[0].name'),
  ...['', 'Registry', 'a'.repeat(254)].map((name) =>
    refusal(pods({ imagePullSecrets: [{ name }] }), 'spec.pods.imagePullSecrets[0].name'),
  ),
  refusal(pods({ imagePullSecrets: [{ name: 'a' }, { name: 'a' }] }), 'spec.pods.imagePullSecrets[1]'),
  ...[0, 999, 2_147_483_648].map((uid) => refusal(pods({ uid }), 'spec.pods.uid')),
  { story: 'the same user', old: pods({}), spec: pods({ uid: 10_001 }) },
  { story: 'another user', old: pods({}), spec: pods({ uid: 2000 }), refused: 'spec.pods.uid' },
  { story: 'no user any more', old: pods({ uid: 2000 }), spec: {}, refused: 'spec.pods.uid' },
  accepted(scheduling({ zoneSpread: 'Required' })),
  refusal(scheduling({ zoneSpread: 'Always' }), 'spec.scheduling.zoneSpread'),
];

/** Of kinds whose pods have no account of their own. */
export const accountCases: readonly Case[] = [
  accepted(pods({ serviceAccountName: 'restricted' })),
  accepted(pods({ serviceAccountName: 'a'.repeat(253) })),
  ...['', 'Admin', 'a'.repeat(254)].map((serviceAccountName) =>
    refusal(pods({ serviceAccountName }), 'spec.pods.serviceAccountName'),
  ),
];

const ranges = (count: number): string[] => Array.from({ length: count }, (_, i) => `10.0.${i}.0/24`);

/** `service`: the field of `access`. `more`: what the kind needs besides. */
export function serviceCases(service: string, more: Json = {}): readonly Case[] {
  const access = (fields: Json): Json => ({ access: { [service]: fields }, ...more });
  const of = (fields: Json): Json => access({ type: 'LoadBalancer', ...fields });
  const at = `spec.access.${service}`;
  const internal = (fields: Json): Json => access({ type: 'ClusterIP', ...fields });
  return [
    accepted({ access: {}, ...more }),
    accepted(of({ annotations: keys(32), loadBalancerClass: 'example.com/lb', sourceRanges: ranges(64) })),
    accepted(of({ annotations: { 'external-dns.alpha.kubernetes.io/hostname': 'db.example.com' } })),
    accepted(access({ type: 'NodePort', nodePort: 30_432, externalTrafficPolicy: 'Local' })),
    accepted(of({ sourceRanges: ['2001:db8::/32'] })),
    accepted(
      internal({
        trafficDistribution: 'PreferClose',
        ipFamilyPolicy: 'PreferDualStack',
        ipFamilies: ['IPv6', 'IPv4'],
        appProtocol: 'example.com/Wire',
      }),
    ),
    refusal(access({}), `${at}.type`),
    refusal(of({ type: 'ExternalName' }), `${at}.type`),
    refusal(of({ annotations: keys(33) }), `${at}.annotations`),
    refusal(of({ annotations: { 'a b': 'x' } }), `${at}.annotations`),
    refusal(of({ annotations: { a: 'x'.repeat(1025) } }), `${at}.annotations.a`),
    ...[0, 65_536].map((nodePort) => refusal(of({ nodePort }), `${at}.nodePort`)),
    refusal(internal({ nodePort: 30_432 }), `${at}.nodePort`),
    refusal(of({ loadBalancerClass: 'x'.repeat(254) }), `${at}.loadBalancerClass`),
    refusal(access({ type: 'NodePort', loadBalancerClass: 'x' }), `${at}.loadBalancerClass`),
    refusal(access({ type: 'NodePort', sourceRanges: ranges(1) }), `${at}.sourceRanges`),
    refusal(of({ sourceRanges: ranges(65) }), `${at}.sourceRanges`),
    refusal(of({ sourceRanges: ['everywhere'] }), `${at}.sourceRanges[0]`),
    refusal(of({ sourceRanges: [`${'1'.repeat(45)}/8`] }), `${at}.sourceRanges[0]`),
    refusal(of({ externalTrafficPolicy: 'Near' }), `${at}.externalTrafficPolicy`),
    refusal(internal({ externalTrafficPolicy: 'Local' }), `${at}.externalTrafficPolicy`),
    refusal(of({ trafficDistribution: 'Near' }), `${at}.trafficDistribution`),
    refusal(of({ ipFamilyPolicy: 'Dual' }), `${at}.ipFamilyPolicy`),
    ...[[], ['IPv4', 'IPv6', 'IPv4']].map((ipFamilies) => refusal(of({ ipFamilies }), `${at}.ipFamilies`)),
    refusal(of({ ipFamilies: ['IPv5'] }), `${at}.ipFamilies[0]`),
    refusal(of({ appProtocol: 'a b' }), `${at}.appProtocol`),
    refusal(of({ appProtocol: 'a'.repeat(254) }), `${at}.appProtocol`),
  ];
}
