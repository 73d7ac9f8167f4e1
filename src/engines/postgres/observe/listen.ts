/**
 * What no watch of Kubernetes tells: that a standby does not copy any more, or that nobody answers where Kubernetes still takes a pod for
 * ready. Patroni reports neither, so one member of each cluster is asked now and then; it costs the API server nothing. That is the primary,
 * which knows of every standby.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Children } from '../../../resources/children.ts';
import { patroniTls } from '../client/credentials.ts';
import { callPatroni } from '../client/patroni.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { roleLabel } from '../names.ts';
import { liveMember } from './member.ts';

/** As long may pass before the status tells of a lost primary whose pod Kubernetes still takes for ready. */
const everyMs = 10_000;

/** Address of the primary, or of any member that runs. */
export function memberEndpoints(children: Children): string[] {
  const running = children.pods.filter(
    ({ metadata: { deletionTimestamp }, status }) =>
      status?.phase === 'Running' && status.podIP !== undefined && deletionTimestamp === undefined,
  );
  const asked = running.find(({ metadata }) => metadata.labels?.[roleLabel] === 'primary') ?? running[0];
  return asked?.status?.podIP === undefined ? [] : [asked.status.podIP];
}

/** Calls back on every change, and when a member that has answered does not any more; then it rejects. */
export async function listenToMember(
  address: string,
  cluster: Cluster<PostgresSpec>,
  io: EngineContext,
  changed: () => void,
): Promise<void> {
  let before = await newsOf(address, cluster, io);
  for (;;) {
    await io.sleep(everyMs);
    const news = await newsOf(address, cluster, io).catch((error) => {
      if (!io.signal.aborted) changed();
      throw error;
    });
    if (news !== before) changed();
    before = news;
  }
}

/** What of a member's answer is no matter of time. */
async function newsOf(address: string, cluster: Cluster<PostgresSpec>, io: EngineContext): Promise<string> {
  const tls = await patroniTls(cluster, io);
  const answer = await callPatroni(io, address, { path: '/patroni', anyStatus: true }, tls);
  const { lsn: _, standbys, ...member } = liveMember('', address, answer);
  return JSON.stringify([member, [...standbys].sort()]);
}
