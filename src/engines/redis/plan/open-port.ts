/** What leads clients to a port that the spec does not ask for any more, for as long as servers have it open. */
import type { Desired } from '../../../plan/objects.ts';
import { redisNames, tlsPort } from '../names.ts';
import { toldOfTls, withServedTls } from '../observe/served-tls.ts';
import type { Situation } from '../observe/situation.ts';
import { redisResources } from '../resources/resources.ts';

type Seen = Pick<Situation, 'cluster' | 'children' | 'nodes' | 'dataPods' | 'dataSize'>;

const kinds: readonly string[] = ['Service', 'NetworkPolicy'];

/**
 * The children that the spec asks for. Services, a NetworkPolicy, the proxy and what pods are told are those of a cluster with TLS while a server
 * accepts it, or may: one that is not heard, or starts again, must not lose it before the others.
 */
export function childrenWithOpenPort(situation: Seen): readonly Desired[] {
  const { cluster, children } = situation;
  const wanted = redisResources(cluster);
  const { spec } = cluster;
  if (spec.tls !== undefined || !mayBeOpen(situation)) return wanted;
  const served = withServedTls(cluster, children);
  const tls = served.spec.tls ?? { mode: 'Optional', server: {} };
  const open = redisResources({ ...cluster, spec: { ...spec, tls } });
  const names = redisNames(cluster.metadata.name);
  // cert-manager goes on renewing the certificate.
  const asked = open.filter(({ object }) => object.kind === 'Certificate');
  const kept = wanted.map((one) => {
    const { kind, metadata } = one.object;
    const isSame = ({ object }: Desired): boolean => object.kind === kind && object.metadata.name === metadata.name;
    const isDoor = kinds.includes(kind) || [names.proxy, names.config].includes(metadata.name);
    return isDoor ? (open.find(isSame) ?? one) : one;
  });
  return [...asked, ...kept];
}

function mayBeOpen({ cluster, children, nodes, dataPods, dataSize }: Seen): boolean {
  if (nodes.some(({ tls }) => tls?.port === tlsPort)) return true;
  const isHeard = nodes.length === dataPods.length && nodes.length >= dataSize;
  return !isHeard && toldOfTls(children.get('ConfigMap', redisNames(cluster.metadata.name).config)) !== undefined;
}
