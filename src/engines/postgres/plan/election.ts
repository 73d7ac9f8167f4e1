/** What is said while nobody is primary. Electing is Patroni's: the operator says why nobody is elected, and waits. */
import { blocked, type Outcome, wait } from '../../../plan/plan.ts';
import { areCreating, stuckCreatingMs } from '../../../resources/stuck-creating.ts';
import { answering } from '../observe/observed.ts';
import { hasHeldData, heldBy, podOf, type Situation } from '../observe/situation.ts';
import { endedBlank } from './failed-member.ts';
import { memberProblems } from './health.ts';
import { pausedByPerson } from './pause.ts';
import { hasLasted, offers } from './recovery-request.ts';
import { recheckMs } from './restart.ts';
import { unfinishedWords } from './unfinished.ts';

export function withoutPrimary(situation: Situation): Outcome {
  const problems = memberProblems(situation);
  const paused = pausedByPerson(situation);
  const elect = paused === undefined ? ['the members elect a primary'] : [];
  const words = [paused ?? [], problems.length === 0 ? elect : problems].flat().join('; ');
  const { roster, pods } = situation;
  const all = [words, ...unfinishedWords(situation)].join('; ');
  const again = againIn(situation);
  if (!hasHeldData(situation)) return wait('Forming', all, again);
  const blank = [...roster.keys()].filter((index) => endedBlank(pods.get(index)) !== undefined);
  const withoutData = [...roster.keys()].filter((index) => blank.includes(index) || hasNeverHad(situation, index));
  if ((blank.length > 0 || hasStayedBlank(situation)) && withoutData.length === roster.size) {
    const names = withoutData.map((index) => podOf(situation, index)).join(', ');
    return blocked(
      'DataLost',
      `no member has data (${names}), and there was a database: nothing is started on their volumes; bring the volumes back, or delete the cluster and restore a backup`,
    );
  }
  const also = hasLasted(situation) ? offers(situation) : '';
  const why = withoutVotes(situation);
  return why === undefined
    ? wait(paused === undefined ? 'NoPrimary' : 'FailoverPaused', `nobody is primary: ${all}${also}`, again)
    : wait('QuorumLost', `nobody is promoted: ${why}; ${all}${also}`, again);
}

/** A first member whose volume is lost before the status says that the cluster was formed waits for a leader, on a blank one. */
function hasStayedBlank(situation: Situation): boolean {
  return situation.store.systemId !== undefined && hasLasted(situation);
}

/** It answers, and has no database. */
function hasNeverHad({ live, claims }: Situation, index: number): boolean {
  const member = live.get(index);
  return member !== undefined && member.systemId === undefined && heldBy(claims.get(index)) === undefined;
}

/**
 * An election is told by no event. Where no pod runs, there is nobody to ask, and the watch of pods tells when one does. One that waits for a
 * Secret which is gone does not run before that is made again.
 */
function againIn({ pods, children }: Situation): number | undefined {
  if ([...pods.values()].some(({ status }) => status?.phase === 'Running')) return recheckMs;
  return areCreating(children) ? stuckCreatingMs : undefined;
}

/**
 * By Patroni's rule: a candidate is one of the voters, and as many of the others as the quorum says have to answer it. The former leader has
 * every commit, and needs nobody.
 */
function withoutVotes({ store, observed, roster }: Situation): string | undefined {
  const { sync } = store;
  // Of an only member, nothing is decided: it has to start.
  if (sync === undefined || roster.size === 1) return undefined;
  const there = answering(observed.members)
    .filter(({ pod, postgres }) => postgres === 'running' && sync.voters.includes(pod))
    .map(({ pod }) => pod);
  if (there.includes(sync.leader) || (there.length > 0 && there.length - 1 >= sync.quorum)) return undefined;
  const away = sync.voters.filter((pod) => !there.includes(pod));
  const those = there.length === 0 ? 'no other voter answers' : `${there.join(', ')} may not have them`;
  return `commits may be on ${away.join(', ')}, and ${those}`;
}
