/**
 * Which members have yet to take up the shared configuration. Patroni reads it every `loop_wait`, has PostgreSQL read its files anew, and asks a
 * second later which settings take a restart. Until then nobody can say that the cluster is as the spec says, or who has to restart.
 */
import type { ActStep } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';
import type { LiveMember } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { configDigest } from '../resources/patroni-config.ts';
import { asked } from './restart.ts';

/** In which Patroni has asked its server which settings take a restart, after that has read them. */
const askedMs = 3000;
/** Patroni does not answer for what its server says. Nobody waits for it for ever. */
const patienceMs = 30_000;

/** Three of Patroni's rounds. */
const overdueMs = 15_000;

/** In words; undefined where all have. */
export function unreadSettings(situation: Situation): string | undefined {
  const pods = [...situation.live.values()].filter((member) => isUnread(situation, member)).map(({ pod }) => pod);
  return pods.length === 0 ? undefined : `PostgreSQL of ${pods.join(', ')} has yet to take up its settings`;
}

/**
 * Patroni 4.0.7 that reads the shared configuration while it copies its data writes it nowhere: it compares the next one with that, and its
 * server keeps the settings of before (run). On `/reload` it compares with what its server has.
 */
export function rereadSteps(situation: Situation): ActStep<PostgresAction>[] {
  const { cluster, observed, live } = situation;
  const ready = cluster.status?.conditions?.find(({ type }) => type === 'Ready');
  const since = ready?.status === 'False' ? Date.parse(ready.lastTransitionTime ?? '') : Number.NaN;
  if (!(observed.at - since >= overdueMs)) return [];
  return [...live.values()]
    .filter(
      ({ server }) =>
        server?.state === 'seen' &&
        server.facts.config !== configDigest(cluster) &&
        server.facts.configAgeMs >= overdueMs,
    )
    .map((member) => ({
      type: 'act',
      action: { type: 'postgres.reload', member: asked(member) },
      summary: `have ${member.pod} read the shared configuration again`,
    }));
}

function isUnread({ cluster }: Situation, { server, restartPending }: LiveMember): boolean {
  if (server?.state !== 'seen') return false;
  const { config, pending, configAgeMs } = server.facts;
  if (config !== configDigest(cluster)) return true;
  if (restartPending || configAgeMs >= patienceMs) return false;
  // Otherwise Patroni has had it read for another reason, such as another synchronous standby.
  const isChanging = ['Updating', 'Creating', undefined].includes(cluster.status?.phase);
  return pending > 0 || (isChanging && configAgeMs < askedMs);
}
