/**
 * Which members have yet to take up the shared configuration. Patroni reads it every `loop_wait`, has PostgreSQL read its files anew, and asks a
 * second later which settings take a restart. Until then nobody can say that the cluster is as the spec says, or who has to restart.
 */
import { durationMs } from '../../../api/duration.ts';
import type { ActStep } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';
import type { LiveMember } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { configDigest } from '../resources/patroni-config.ts';
import { withCommonSettings } from './common-settings.ts';
import { largerSettings } from './larger-settings.ts';
import { asked } from './restart.ts';

/** In which Patroni has asked its server which settings take a restart, after that has read them. */
const askedMs = 3000;
/** If a setting is still pending then and Patroni does not say so, Patroni has forgotten it, or `ALTER SYSTEM` has changed it. */
const patienceMs = 30_000;
/** Three rounds of Patroni, with the default lock. */
const overlookedMs = 15_000;

export interface UnreadSettings {
  readonly message: string;
  readonly steps: readonly ActStep<PostgresAction>[];
}

/** Undefined where all have. */
export function unreadSettings(situation: Situation): UnreadSettings | undefined {
  const unread = [...situation.live.values()].filter((member) => isUnread(situation, member));
  if (unread.length === 0) return undefined;
  return {
    message: `PostgreSQL of ${unread.map(({ pod }) => pod).join(', ')} has yet to take up its settings`,
    steps: unread
      .filter((member) => isOverlooked(situation, member))
      .map((member) => ({
        type: 'act',
        action: { type: 'postgres.reload', member: asked(member) },
        summary: `have ${member.pod} read its settings: its Patroni has not written them for PostgreSQL, or does not know that they take a restart`,
      })),
  };
}

function isUnread(situation: Situation, member: LiveMember): boolean {
  const { server, restartPending } = member;
  if (server?.state !== 'seen') return false;
  const { config, pending, configAgeMs } = server.facts;
  if (config !== configDigest(withCommonSettings(situation))) return true;
  if (restartPending) return false;
  if (configAgeMs >= patienceMs) return hasForgotten(situation, member);
  // Otherwise Patroni has had it read for another reason, such as another synchronous standby.
  const isChanging = ['Updating', 'Creating', undefined].includes(situation.cluster.status?.phase);
  return pending > 0 || (isChanging && configAgeMs < askedMs);
}

/**
 * A standby may start with a larger value than the spec has, because its primary had it. If the shared configuration changes while the server starts,
 * Patroni forgets that this server takes a restart (`reload_config` in postgresql/config.py of 4.0). A reload has Patroni write its files and ask the
 * server again.
 *
 * `ALTER SYSTEM` is another case. Patroni's command line overrides it, so the server runs with the value of the spec, and PostgreSQL still reports the
 * setting as pending after each reload. A restart would not change that, so nobody is told to read anything again. Patroni itself asks for a restart after
 * each of its own reloads then.
 */
function hasForgotten(situation: Situation, member: LiveMember): boolean {
  const larger = largerSettings(situation, member);
  return larger.some(({ isPending }) => isPending) || (larger.length > 0 && hasReadOnlyAtStart(member));
}

function hasReadOnlyAtStart({ server }: LiveMember): boolean {
  return server?.state === 'seen' && Math.abs(server.facts.upMs - server.facts.configAgeMs) < askedMs;
}

/**
 * A Patroni that learns of settings while its server is starting takes them for written, and never writes them: PostgreSQL runs without
 * them until something else changes. Reloaded, it writes all of them. When they have changed nobody says: the cluster has not been ready
 * since, and Patroni has had three rounds. No sooner, and not again right after: the file has just been read then.
 */
function isOverlooked(situation: Situation, { server }: LiveMember): boolean {
  if (server?.state !== 'seen') return false;
  if (server.facts.config === configDigest(withCommonSettings(situation)))
    return server.facts.configAgeMs >= patienceMs;
  const { cluster, spec, observed } = situation;
  const ready = cluster.status?.conditions?.find(({ type }) => type === 'Ready');
  const since = ready?.status === 'False' ? Date.parse(ready.lastTransitionTime) : Number.NaN;
  const enoughMs = Math.max(overlookedMs, (durationMs(spec.failover.ttl) * 3) / 4);
  return observed.at - since >= enoughMs && server.facts.configAgeMs >= enoughMs;
}
