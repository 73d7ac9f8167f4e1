/**
 * How far the data of a member goes that answers nobody: without a majority, one that has started again serves no client,
 * and one that asks who is asking gives no token. Its metrics need neither.
 *
 * What is committed stands at zero there until the next leader; what is applied is told from the start on.
 */

import type { EngineContext } from '../../../engine/engine-context.ts';
import type { Pod } from '../../../resources/children.ts';
import { metricsOf } from '../client/metrics.ts';
import type { EtcdObserved, Progress } from './observed.ts';

const line =
  /^etcd_(?:server_proposals_applied_total|server_is_learner|debugging_mvcc_current_revision|server_id\{[^}]*\}) /;
const idLine = /^etcd_server_id\{server_id="([0-9a-f]{1,16})"\} 1$/m;

/** Each within a second. Who does not say stays as he was found. */
export async function withProgress(
  members: EtcdObserved['members'],
  pods: readonly Pod[],
  io: EngineContext,
): Promise<EtcdObserved['members']> {
  return Promise.all(
    members.map(async (member) => {
      const status = pods.find(({ metadata }) => metadata.name === member.pod)?.status;
      if (member.state !== 'silent' || status?.podIP === undefined || status.phase !== 'Running') return member;
      const progress = await progressAt(status.podIP, io).catch(() => undefined);
      io.signal.throwIfAborted();
      return progress === undefined ? member : { ...member, progress };
    }),
  );
}

async function progressAt(host: string, io: EngineContext): Promise<Progress | undefined> {
  const metrics = await metricsOf(host, line, io);
  return metrics === undefined ? undefined : progressIn(metrics);
}

/** Numbers are written as `38` or as `1.234567e+06`. Undefined unless both are there, and whole, and of one that votes. */
export function progressIn(metrics: string): Progress | undefined {
  const found = new Map(
    metrics.split('\n').map((text): [string, number] => {
      const [name = '', value = ''] = text.split(' ');
      return [name, Number(value)];
    }),
  );
  const applied = found.get('etcd_server_proposals_applied_total');
  const revision = found.get('etcd_debugging_mvcc_current_revision');
  const isWhole = (value: number | undefined): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  const isVoter = found.get('etcd_server_is_learner') !== 1;
  if (!isVoter || !isWhole(applied) || !isWhole(revision)) return undefined;
  const memberId = idLine.exec(metrics)?.[1];
  return { applied, revision: String(revision), ...(memberId === undefined ? {} : { memberId }) };
}
