/** Which authorities members trust, as a text that changes with them: it stands on their pods. */
import { createHash } from 'node:crypto';
import type { Cluster } from '../../../api/cluster.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { sides } from '../names.ts';

/** Before anything was made or read: undefined where somebody else makes them. */
export function firstAuthorities(cluster: Cluster<EtcdSpec>): string | undefined {
  const secured = sides.filter((side) => cluster.spec.tls[side] !== undefined);
  return fingerprint(
    secured.map((side) => (cluster.spec.tls[side]?.selfManaged === undefined ? undefined : numbered(1))),
  );
}

export const numbered = (generation: number): string => `generation ${generation}`;

/** Undefined where there are none, or where a Secret cannot be read now. */
export function fingerprint(trusted: readonly (string | undefined)[]): string | undefined {
  if (trusted.length === 0 || trusted.includes(undefined)) return undefined;
  return createHash('sha256').update(JSON.stringify(trusted)).digest('hex').slice(0, 16);
}
