/**
 * What no watch of Kubernetes tells: that the members have elected another leader, or raised an alarm. etcd has no
 * report of either, so one member of each cluster is asked now and then; it costs the API server nothing.
 */
import type { Cluster } from '../../api/cluster.ts';
import type { EtcdSpec } from '../../api/etcd.ts';
import type { Children } from '../../resources/children.ts';
import type { EngineIO } from '../engine-io.ts';
import type { Answer } from './gateway.ts';
import { sessionOf } from './session.ts';

const everyMs = 20_000;

/** Address of one member that runs. */
export function memberEndpoints(children: Children): string[] {
  const addresses = children.pods.flatMap(({ status }) =>
    status?.phase === 'Running' && status.podIP !== undefined ? [status.podIP] : [],
  );
  return addresses.slice(0, 1);
}

/** Calls back on every change; rejects when the member does not answer. */
export async function listenToMember(
  address: string,
  cluster: Cluster<EtcdSpec>,
  io: EngineIO,
  changed: () => void,
): Promise<void> {
  let before: string | undefined;
  for (;;) {
    const news = newsIn(await sessionOf(cluster, io).call(address, 'maintenance/status', {}));
    if (before !== undefined && news !== before) changed();
    before = news;
    await io.sleep(everyMs);
  }
}

/** The leader, and what the member complains of: alarms are among it. */
function newsIn({ leader, errors }: Answer): string {
  return JSON.stringify([leader, errors]);
}
