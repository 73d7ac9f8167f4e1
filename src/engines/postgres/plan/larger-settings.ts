/** Servers that run with more than they are to start with, of settings of which a standby needs no less than its primary. */
import type { SettingSeen } from '../client/questions/server.ts';
import type { LiveMember } from '../observe/observed.ts';
import { isPrimary, type Situation } from '../observe/situation.ts';
import { startValues } from '../resources/start-values.ts';
import { withCommonSettings } from './common-settings.ts';

/** Empty where the server was not seen. */
export function largerSettings(situation: Situation, { server }: LiveMember): readonly SettingSeen[] {
  if (server?.state !== 'seen') return [];
  const wanted = startValues(withCommonSettings(situation));
  return server.settings.filter(({ name, value }) => Number(value) > (wanted.get(name) ?? Number.POSITIVE_INFINITY));
}

/** A restart of the standby changes nothing, as long as its primary has not started with less. */
export function isHeldByPrimary(situation: Situation, member: LiveMember): boolean {
  const { primary } = situation;
  if (primary === undefined || isPrimary(situation, member) || member.lowered === undefined) return false;
  const larger = new Map(largerSettings(situation, primary).map(({ name, value }) => [name, Number(value)]));
  return Object.entries(member.lowered).every(([name, value]) => (larger.get(name) ?? 0) >= value);
}

/**
 * A sentence for each member that runs with more and for which Patroni reports no restart: PostgreSQL does not report the setting as pending
 * (`ALTER SYSTEM` has the same value), or Patroni has forgotten it. Where the primary has more, only the primary is named: a standby cannot start
 * with less.
 */
export function largerWords(situation: Situation): readonly string[] {
  const { primary, live } = situation;
  const isLarger = (member: LiveMember): boolean => largerSettings(situation, member).length > 0;
  // It restarts, now or in its window, and the standbys after it.
  if (primary?.restartPending === true && isLarger(primary)) return [];
  const members =
    primary !== undefined && isLarger(primary)
      ? [primary]
      : [...live.values()].filter((member) => !member.restartPending && isLarger(member));
  const wanted = startValues(withCommonSettings(situation));
  return members.map((member) => {
    const words = largerSettings(situation, member).map(
      ({ name, value }) => `${name}=${value} instead of ${wanted.get(name)}`,
    );
    return `PostgreSQL of ${member.pod} was started with ${words.join(', ')}: delete the pod, so that it starts anew`;
  });
}
