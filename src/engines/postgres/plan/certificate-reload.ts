/**
 * Servers that have read their certificates before these were renewed. The kubelet replaces the files, and nobody tells PostgreSQL and Patroni
 * of it. Both read them anew on Patroni's `/reload`, without an interruption.
 */
import { madeAt } from '../../../certificates/issue.ts';
import type { ActStep } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';
import type { LiveMember } from '../observe/observed.ts';
import { indexOf, type Situation } from '../observe/situation.ts';
import { asked } from './restart.ts';

/** In which the kubelet has replaced the files: it looks at Secrets about every minute. */
const replacedMs = 180_000;

export function reloadSteps(situation: Situation): ActStep<PostgresAction>[] {
  const renewed = lastRenewed(situation);
  const { at } = situation.observed;
  if (renewed === undefined || at < renewed + replacedMs || areFirst(situation, renewed)) return [];
  return [...situation.live.values()]
    .filter((member) => readBefore(situation, member, renewed + replacedMs))
    .map((member) => ({
      type: 'act',
      action: { type: 'postgres.reload', member: asked(member) },
      summary: `have ${member.pod} read its renewed certificates`,
    }));
}

/** Those that the cluster began with: they were there before any pod. */
function areFirst({ cluster }: Situation, made: number): boolean {
  return made - Date.parse(cluster.metadata.creationTimestamp ?? '') < replacedMs;
}

/** A pod that has started since then has never had others. */
function readBefore(situation: Situation, member: LiveMember, time: number): boolean {
  const index = indexOf(situation, member);
  const started = Date.parse((index === undefined ? undefined : situation.pods.get(index)?.status?.startTime) ?? '');
  if (!(started < time) || member.server?.state !== 'seen') return false;
  return situation.observed.at - member.server.facts.configAgeMs < time;
}

/** Of those that the members mount. */
function lastRenewed({ observed }: Situation): number | undefined {
  const times = Object.values(observed.certificates ?? {}).flatMap(({ leaves }) =>
    Object.values(leaves).flatMap(({ facts }) => (facts === undefined ? [] : madeAt(facts.certificate))),
  );
  return times.length === 0 ? undefined : Math.max(...times);
}
