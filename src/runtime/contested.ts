/**
 * When a change is made again that has been made before: of fields, or that an object is there, or gone. Where somebody undoes it by a write of
 * their own, each write brings the next pass, without an end and without a pause.
 *
 * What is remembered is time and nothing else: when the change may be made again. A process that starts anew makes it at
 * once.
 */
import { createHash } from 'node:crypto';
import { findingOf, isOptional, type ObjectStep, type Step } from '../plan/plan.ts';
import type { Clock } from '../system/clock.ts';
import type { ClusterKey } from './cache.ts';
import { describeStep } from './executor.ts';
import { noEffectMs, pauseAfter } from './pace.ts';

/** The steps whose effect somebody can undo by a write that a watch tells of. Secrets are not watched. */
type Change = Exclude<ObjectStep, { type: 'issue' }>;

/** One that is made again later than this is not undone all the time. */
const memoryMs = 20_000;
/** Of one cluster. */
const mostChanges = 100;

/** Somebody undoes it each time, by a write or by a deletion of their own. */
export class Undone extends Error {
  constructor() {
    super('somebody undoes it each time');
    this.name = 'Undone';
  }
}

export interface Due {
  /** What may be done now: all, or what comes before a change that has to wait and what does not rest on it. */
  readonly steps: readonly Step[];
  /** Changes that wait. */
  readonly held: readonly Change[];
  /** What comes after them and may rest on them. */
  readonly unreached: readonly Step[];
  /** Milliseconds until the first of them may be made; undefined where none waits. */
  readonly afterMs?: number;
  /** Of all changes in the plan those that have been made again and again. */
  readonly undone: readonly Change[];
}

export interface Contested {
  due(key: ClusterKey, steps: readonly Step[]): Due;
  /** They were made, and have changed something. */
  made(key: ClusterKey, steps: readonly Step[]): void;
}

interface Made {
  readonly since: number;
  readonly last: number;
}

export function createContested(clock: Pick<Clock, 'monotonic'>): Contested {
  const known = new Map<ClusterKey, Map<string, Made>>();

  function forgetOld(now: number): void {
    for (const [key, changes] of known) {
      for (const [name, { last }] of changes) if (now - last >= memoryMs) changes.delete(name);
      if (changes.size === 0) known.delete(key);
    }
  }

  return {
    due(key, steps) {
      const now = clock.monotonic();
      forgetOld(now);
      const before = known.get(key);
      const madeOf = (step: Change): Made | undefined => before?.get(nameOf(step));
      const waitOf = (step: Change): number => {
        const made = madeOf(step);
        return made === undefined ? 0 : made.last + pauseAfter(made.last - made.since) - now;
      };
      const changes = steps.filter(isChange);
      const held = changes.filter((step) => waitOf(step) > 0);
      // What comes after a step may rest on it, except what has a finding of its own.
      const first = steps.findIndex((step) => isChange(step) && held.includes(step) && !isOptional(step));
      const isHeld = (step: Step): boolean => isChange(step) && held.includes(step);
      const isReached = (step: Step, i: number): boolean => first === -1 || i < first || findingOf(step) !== undefined;
      return {
        steps: steps.filter((step, i) => isReached(step, i) && !isHeld(step)),
        held,
        unreached: steps.filter((step, i) => !isReached(step, i) && !isHeld(step)),
        ...(held.length === 0 ? {} : { afterMs: Math.ceil(Math.min(...held.map(waitOf))) }),
        undone: changes.filter((step) => {
          const { since = now, last = now } = madeOf(step) ?? {};
          return last - since >= noEffectMs;
        }),
      };
    },
    made(key, steps) {
      const now = clock.monotonic();
      const changes = known.get(key) ?? new Map<string, Made>();
      for (const step of steps.filter(isChange)) {
        const name = nameOf(step);
        const since = changes.get(name)?.since ?? now;
        if (changes.has(name) || changes.size < mostChanges) changes.set(name, { since, last: now });
      }
      if (changes.size > 0) known.set(key, changes);
    },
  };
}

function isChange(step: Step): step is Change {
  return step.type !== 'act' && step.type !== 'issue';
}

/** The same fields of the very same object, to the same values; or one object of the name after the other. */
function nameOf(step: Change): string {
  return createHash('sha256')
    .update(describeStep(step))
    .update(JSON.stringify(step.type === 'create' || step.type === 'delete' ? ownersOf(step) : contentOf(step)))
    .digest('base64');
}

/** Another cluster of the name creates and deletes for itself. */
function ownersOf(step: Extract<Change, { type: 'create' | 'delete' }>): readonly string[] {
  if (step.type === 'delete') return [];
  return (step.object.metadata.ownerReferences ?? []).map(({ uid }) => uid);
}

function contentOf(step: Extract<Change, { type: 'apply' | 'patch' | 'resize' }>): unknown {
  const uid = step.type === 'apply' ? step.object.metadata.uid : step.ref.uid;
  // The mark of a resize is another one each time: behind its revisions it has the time of the write.
  const isMark = step.type === 'patch' && step.resizing === true;
  return [uid, step.changes.map(({ path, to }) => [path, isMark && typeof to === 'string' ? to.split(' ')[0] : to])];
}
