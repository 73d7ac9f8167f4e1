/**
 * A database that was begun and that nobody finishes: `initialize` is empty. Patroni writes that before it begins, and takes it back only where
 * its own process finds that it cannot go on. Two things leave it: a process that ended in between, and an answer that was lost. Patroni then
 * repeats the request, and the API server refuses it, since it has carried out the first one. So Patroni waits for another member to lead, and there is
 * none. Its probes succeed meanwhile.
 *
 * `start.sh` begins anew when the member starts again: see `begin_anew` in `relabel.py`. So a member that waits is restarted.
 */
import { pods as podResource } from '../../../api/resource.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import { postgresNames } from '../names.ts';
import { hasHeldData, podOf, type Situation } from '../observe/situation.ts';
import type { Beginning, Start } from '../resources/roster.ts';
import { isUnmovable } from './failed-member.ts';

/** Patroni decides a moment after its start. */
const patienceMs = 60_000;

interface Unfinished {
  readonly index: number;
  readonly start: Beginning;
}

/** Patroni marks that it makes the database. While it does, or PostgreSQL runs, its state is another one. */
function unfinishedOf({ store, live, roster }: Situation): Unfinished | undefined {
  const isAtWork = [...live.values()].some(({ postgres }) => postgres !== 'stopped' && postgres !== 'uninitialized');
  if (store.isBegun !== true || isAtWork) return undefined;
  const [first] = [...roster].flatMap(([index, start]) => (isBeginning(start) ? [{ index, start }] : []));
  return first;
}

function isBeginning(start: Start): start is Beginning {
  return start !== 'join' && start !== 'resume';
}

/** Only where the start that follows would begin anew. A member that does not answer may still be at work on its volume. */
function isRestarted(situation: Situation, index: number): boolean {
  return situation.live.has(index) && !hasHeldData(situation);
}

export function unfinishedSteps(situation: Situation): readonly ObjectStep[] {
  const { pods, observed } = situation;
  const unfinished = unfinishedOf(situation);
  if (unfinished?.start !== 'form' || !isRestarted(situation, unfinished.index)) return [];
  const pod = pods.get(unfinished.index);
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
  const [container] = (pod.status?.containerStatuses ?? []).filter(({ name }) => name === 'postgres');
  const started = Date.parse(container?.state?.running?.startedAt ?? '');
  if (!(observed.at - started > patienceMs)) return [];
  const ref = refOf(pod, podResource);
  const reason = 'nobody finishes the database that was begun: it begins anew';
  return ref === undefined ? [] : [{ type: 'delete', ref, reason }];
}

function restartWords(situation: Situation, index: number): string {
  if (isRestarted(situation, index)) return ', and is restarted a minute after its start';
  return situation.live.has(index) ? ': delete the pod' : ' (see its log)';
}

/** In words; none where there is no such database. */
export function unfinishedWords(situation: Situation): readonly string[] {
  const unfinished = unfinishedOf(situation);
  if (unfinished === undefined) return [];
  const { cluster, store } = situation;
  const pod = podOf(situation, unfinished.index);
  const sign = `initialize is empty in ConfigMap ${postgresNames(cluster.metadata.name).state.config}`;
  if (store.hasLed === true)
    return [
      `${sign}, and a member has had the lock: ${pod} goes on with the data on its volume, and makes no other database; if the volume is blank, bring it back, or delete the cluster and restore a backup`,
    ];
  switch (unfinished.start) {
    case 'form':
      // It cannot: its own problem says what to do.
      if (isUnmovable(situation.pods.get(unfinished.index))) return [];
      return [
        `${pod} has begun to make the database, and nobody finishes it (${sign}): it begins anew when it starts again${restartWords(situation, unfinished.index)}`,
      ];
    case 'restore':
    case 'import':
      return [
        `${sign}, and ${pod} makes no empty database in place of what was ${unfinished.start === 'restore' ? 'restored' : 'imported'}: it goes on with the data on its volume; if the volume is blank, delete the cluster and begin again`,
      ];
    default:
      return unfinished.start satisfies never;
  }
}
