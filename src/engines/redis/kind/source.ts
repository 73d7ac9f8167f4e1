/** Where the data of a new cluster comes from. */
import type { Cluster } from '../../../api/cluster.ts';
import type { RedisSpec } from './schema.ts';

export interface ImportSource {
  readonly host: string;
  readonly port: number;
  readonly user?: string;
  readonly password?: { readonly name: string; readonly key: string };
}

/**
 * Undefined where nothing is imported. The operator and the pod look a short name up in namespaces of their own, and may find two servers: it is
 * made a whole one.
 */
export function importSource({ metadata, spec }: Cluster<RedisSpec>): ImportSource | undefined {
  const from = spec.bootstrap?.importFrom;
  if (from === undefined) return undefined;
  const isShort = !/[.:]/.test(from.host);
  return { ...from, host: isShort ? `${from.host}.${metadata.namespace}.svc` : from.host };
}
