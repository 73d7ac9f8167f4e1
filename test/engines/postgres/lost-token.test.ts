/** The ServiceAccount of the members was deleted and made again: their tokens are of the one before. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { pausedByHand } from '../../support/paused-by-hand.ts';
import { now, type Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString();

/** `restarted`: pods that were made so many seconds ago. Those of the others are older than the ServiceAccount. */
function madeAgain(seconds: number, restarted: Readonly<Record<string, number>> = {}): Pick<Story, 'children'> {
  const at = ({ kind, metadata: { name } }: KubeObject): number =>
    kind === 'ServiceAccount' ? seconds : (restarted[name] ?? 7200);
  return {
    children: (objects) =>
      objects.map((object) => ({ ...object, metadata: { ...object.metadata, creationTimestamp: ago(at(object)) } })),
  };
}

/** Somebody has paused Patroni: without the API server, a primary goes on taking writes, and what stops then is started by nobody. */
function whilePaused(story: Pick<Story, 'children'>): Story {
  const { children = (objects) => objects } = story;
  return { ...story, children: (objects) => pausedByHand(children(objects)) };
}

const nobody = { primary: 'nobody', leader: 1 } as const;
const restarting = (line: string) => [line, 'wait Restarting'];

describe('a ServiceAccount that was made again', () => {
  table([
    ['has the primary restart first', madeAgain(10), restarting('delete Pod db-0-0')],
    [
      'has whoever was primary restart first, where nobody is',
      { ...nobody, ...madeAgain(10) },
      restarting('delete Pod db-1-0'),
    ],
    [
      'has whoever was primary restart first, where the lock is empty',
      { primary: 'nobody', leader: 'nobody', sync: { leader: 'db-2-0' }, ...madeAgain(10) },
      restarting('delete Pod db-2-0'),
    ],
    [
      'has the next one wait until the first one is there',
      { ...nobody, members: { 1: 'gone' }, ...madeAgain(10) },
      ['wait Restarting'],
    ],
    [
      'has the next one wait until Patroni of the first one answers',
      { ...nobody, members: { 1: 'silent' }, ...madeAgain(10, { 'db-1-0': 5 }) },
      ['wait Restarting'],
    ],
    [
      'has the next one wait while the first one stops, whose Patroni still answers',
      { pods: { 0: 'stopping' }, ...madeAgain(10) },
      ['wait Restarting'],
    ],
    [
      'has a standby restart once the first one answers, whether it streams or not',
      { primary: 1, members: { 0: { isStreaming: false } }, ...madeAgain(10, { 'db-1-0': 5 }) },
      restarting('delete Pod db-0-0'),
    ],
    [
      'has nobody wait for one that does not come',
      { ...nobody, members: { 1: 'gone' }, ...madeAgain(70) },
      restarting('delete Pod db-0-0'),
    ],
    ['has nobody restart twice', madeAgain(20, { 'db-0-0': 15, 'db-1-0': 10, 'db-2-0': 5 }), ['settled']],
    ['has nobody restart while a person has paused Patroni', whilePaused(madeAgain(10)), ['wait FailoverPaused']],
    ['has nobody restart once the kubelet has asked for other tokens', madeAgain(3601), ['settled']],
    [
      'has nobody restart for one of a clock that was set back since: whoever starts would be older again',
      madeAgain(-600, { 'db-1-0': 5 }),
      ['settled'],
    ],
    ['has a member restart though this clock is somewhat behind', madeAgain(-5), restarting('delete Pod db-0-0')],
    ['has the only member restart', { spec: { instances: 1 }, ...madeAgain(10) }, restarting('delete Pod db-0-0')],
  ]);
});
