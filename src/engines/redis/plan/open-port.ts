/** What leads clients to a port that the spec does not ask for any more, for as long as servers have it open. */
import type { Desired } from '../../../plan/objects.ts';
import { redisNames, tlsPort } from '../names.ts';
import type { Situation } from '../observe/situation.ts';
import { redisResources } from '../resources/resources.ts';

const kinds: readonly string[] = ['Service', 'NetworkPolicy'];

/** The children that the spec asks for. Services, a NetworkPolicy and the proxy are those of a cluster with TLS while a server accepts it. */
export function childrenWithOpenPort({ cluster, nodes }: Pick<Situation, 'cluster' | 'nodes'>): readonly Desired[] {
  const wanted = redisResources(cluster);
  const { spec } = cluster;
  if (spec.tls !== undefined || nodes.every(({ tls }) => tls?.port !== tlsPort)) return wanted;
  const open = redisResources({ ...cluster, spec: { ...spec, tls: { mode: 'Optional', server: {} } } });
  return wanted.map((one) => {
    const { kind, metadata } = one.object;
    const isSame = ({ object }: Desired): boolean => object.kind === kind && object.metadata.name === metadata.name;
    const isDoor = kinds.includes(kind) || metadata.name === redisNames(cluster.metadata.name).proxy;
    return isDoor ? (open.find(isSame) ?? one) : one;
  });
}
