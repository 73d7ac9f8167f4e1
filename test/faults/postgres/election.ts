/**
 * Who may be elected: Patroni's rules, from what a member sees of the store and of the others.
 *
 * With quorum commits a member needs as many votes as the store says, from members that may have the last commit. Without a
 * synchronous state nothing but the positions of those that answer counts.
 */
import type { View } from './store.ts';

/** What a member that was asked says of itself. */
export interface Told {
  readonly name: string;
  readonly isInRecovery: boolean;
  readonly lsn: number;
  readonly timeline: number;
}

export interface Candidate {
  readonly name: string;
  readonly isPrimary: boolean;
  readonly timeline: number;
  readonly lsn: number;
}

/** Bytes. */
type Lag = number;

export function isSyncActive({ config, sync }: View): boolean {
  return config?.synchronous_mode === 'quorum' && sync.leader !== '';
}

/** The timeline that the store knows. */
export function clusterTimeline({ history }: View): number {
  const last = history.at(-1)?.[0];
  return last === undefined ? 0 : last + 1;
}

/** Leader and voters. */
export function syncMembers({ sync }: View): ReadonlySet<string> {
  return new Set([sync.leader, ...sync.voters].filter((name) => name !== ''));
}

export function mayBeElected(view: View, own: Candidate, told: readonly Told[]): boolean {
  if (own.isPrimary) return own.timeline >= clusterTimeline(view);
  const { failover, failsafe } = view;
  if (failover !== undefined) return inSwitchover(view, own, told, failover);
  const isStranger = failsafe !== undefined && Object.keys(failsafe).length > 0 && failsafe[own.name] === undefined;
  return !isStranger && isHealthiest(view, own, told, Number(view.config?.maximum_lag_on_failover ?? 1048576));
}

function inSwitchover(
  view: View,
  own: Candidate,
  told: readonly Told[],
  { leader, candidate }: { readonly leader: string; readonly candidate: string },
): boolean {
  if (leader !== '' && isSyncActive(view) && !syncMembers(view).has(own.name)) return false;
  if (candidate === own.name) return true;
  if (candidate !== '' && told.some(({ name }) => name === candidate)) return false;
  if (own.name === leader) return told.every(({ name }) => name === leader);
  return isHealthiest(
    view,
    own,
    told.filter(({ name }) => name !== leader),
  );
}

function isHealthiest(view: View, own: Candidate, told: readonly Told[], lag?: Lag): boolean {
  if (lag !== undefined && view.optime > own.lsn + lag) return false;
  if (own.timeline < clusterTimeline(view)) return false;
  const isSync = isSyncActive(view);
  const voting = isSync ? syncMembers(view) : new Set<string>();
  const asked = told.filter(({ name }) => name !== own.name && (!isSync || voting.has(name)));
  let votes = voting.has(own.name) ? 0 : -1;
  let ahead = 0;
  for (const other of asked) {
    if (!other.isInRecovery) return false;
    if (own.lsn < other.lsn) {
      ahead++;
      if (!isSync || other.name !== view.sync.leader) return false;
    } else if (voting.has(other.name)) votes++;
  }
  if (!isSync) return true;
  return votes >= view.sync.quorum || (ahead === 0 && view.sync.leader === own.name);
}
