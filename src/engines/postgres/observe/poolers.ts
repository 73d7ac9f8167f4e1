/** Asks every pooler pod that runs whether it is paused. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Children, Pod } from '../../../resources/children.ts';
import { componentLabel } from '../../../resources/metadata.ts';
import { isPaused } from '../client/pooler.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { poolerComponent, postgresNames } from '../names.ts';

export interface PoolerSeen {
  readonly pod: string;
  readonly address: string;
  /** Undefined where it does not answer. */
  readonly isPaused?: boolean;
}

export function poolerPods({ metadata }: Cluster<PostgresSpec>, { pods }: Children): readonly Pod[] {
  const { pooler } = postgresNames(metadata.name);
  return pods.filter(
    ({ metadata: { name, labels } }) =>
      labels?.[componentLabel] === poolerComponent && name.startsWith(`${pooler}-`) && /-\d+$/.test(name),
  );
}

export async function observePoolers(
  cluster: Cluster<PostgresSpec>,
  children: Children,
  io: EngineContext,
): Promise<readonly PoolerSeen[]> {
  const running = poolerPods(cluster, children).flatMap(({ metadata: { name }, status: { podIP, phase } = {} }) =>
    podIP === undefined || phase !== 'Running' ? [] : [{ pod: name, address: podIP }],
  );
  return await Promise.all(
    running.map(async (pooler): Promise<PoolerSeen> => {
      try {
        return { ...pooler, isPaused: await isPaused(cluster, pooler.address, io) };
      } catch {
        io.signal.throwIfAborted();
        const secret = cluster.spec.pooler?.tls?.secretRef.name;
        // Somebody may have replaced its CA.
        if (secret !== undefined) io.secretRefused(secret);
        // Its probes decide whether it is well.
        return pooler;
      }
    }),
  );
}
