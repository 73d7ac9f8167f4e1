/**
 * What no watch of Kubernetes tells: that the members have elected another leader, or raised an alarm. etcd has no
 * report of either, so one member of each cluster is asked now and then; it costs the API server nothing.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Children } from '../../../resources/children.ts';
import type { Answer } from '../client/gateway.ts';
import { sessionOf } from '../client/session.ts';
import type { EtcdSpec } from '../kind/schema.ts';

/** As long may pass before the status tells of a lost leader whose pod Kubernetes still takes for ready. */
const everyMs = 10_000;

/** Address of one member that runs. The pod of one that was lost with its machine stays, and nobody answers there. */
export function memberEndpoints(children: Children): string[] {
  const addresses = children.pods.flatMap(({ metadata: { deletionTimestamp }, status }) =>
    status?.phase === 'Running' && status.podIP !== undefined && deletionTimestamp === undefined ? [status.podIP] : [],
  );
  return addresses.slice(0, 1);
}

/**
 * Calls back on every change, as long as the member complains, since between two questions an alarm may have ended and
 * been raised again, and when a member that has answered does not any more; then it rejects.
 */
export async function listenToMember(
  address: string,
  cluster: Cluster<EtcdSpec>,
  io: EngineContext,
  changed: () => void,
): Promise<void> {
  const ask = async (): Promise<News> => newsIn(await sessionOf(cluster, io).call(address, 'maintenance/status', {}));
  let before = await ask();
  for (;;) {
    await io.sleep(everyMs);
    const news = await ask().catch((error) => {
      if (!io.signal.aborted) changed();
      throw error;
    });
    if (news.complains || news.text !== before.text) changed();
    before = news;
  }
}

interface News {
  readonly text: string;
  readonly complains: boolean;
}

/** The leader, and what the member complains of: alarms are among it. */
function newsIn({ leader, errors }: Answer): News {
  return { text: JSON.stringify([leader, errors]), complains: Array.isArray(errors) && errors.length > 0 };
}
