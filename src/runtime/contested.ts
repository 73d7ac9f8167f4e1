/**
 * When a change is made again that has been made before: of fields, or that an object is there, or gone. Where somebody undoes it by a write of
 * their own, each write brings the next pass, without an end and without a pause.
 *
 * What is remembered decides when the change is made again, and never what is done. A process that starts anew makes it at
 * once.
 */
import { createHash } from 'node:crypto';
import type { Cluster } from '../api/cluster.ts';
import { findingOf, isOptional, type ObjectStep, type Step } from '../plan/plan.ts';
import type { Clock } from '../system/clock.ts';
import type { ClusterKey } from './cache.ts';
import { describeStep } from './executor.ts';
import { noEffectMs, pauseAfter } from './pace.ts';

/** The steps whose effect somebody can undo by a write that a watch tells of. Generated Secrets are not watched. */
type Change = Exclude<ObjectStep, { type: 'issue' }>;

/** One that is made again later than this is not undone all the time. */
const memoryMs = 20_000;
/** What comes after a change waits as long, and repairs are among it. */
const longestMs = 2_000;
/** Of one cluster. */
const mostChanges = 100;

export interface Due {
  /** What may be done now: all, or what comes before a change that has to wait and what does not rest on it. */
  readonly steps: readonly Step[];
  /** Changes that wait. */
  readonly held: readonly Change[];
  /** Those of them that the API server has taken without an effect: nobody undoes them, and what comes after them rests on nothing. */
  readonly kept: readonly Change[];
  /** What comes after the others and may rest on them. */
  readonly unreached: readonly Step[];
  /** Milliseconds until they may be made, or until one of `undone` is none any more; undefined where there is neither. */
  readonly afterMs?: number;
  /** Those that have been made again and again, also where the last one has not been undone yet. */
  readonly undone: readonly Change[];
}

/** Of a cluster. Another spec asks for something else, and so does another cluster of the name: there, nothing is made again. */
type Metadata = Pick<Cluster['metadata'], 'uid' | 'generation'>;

export interface Contested {
  due(key: ClusterKey, steps: readonly Step[], cluster: Metadata): Due;
  /** They were made. `kept`: without an effect; each may bring the next pass all the same, where a webhook stamps what is written. */
  made(key: ClusterKey, steps: readonly Step[], cluster: Metadata, kept?: readonly Step[]): void;
}

interface Made {
  /** Once it has been made again: most are made once, and are large. */
  readonly step?: Change;
  /** Of what was deleted. To delete the very same object once more is no answer to anybody. */
  readonly deleted: string | undefined;
  readonly since: number;
  readonly last: number;
  /** The last time was without an effect. */
  readonly isKept: boolean;
}

export function createContested(clock: Pick<Clock, 'monotonic'>): Contested {
  /** The one that was touched last stands last. */
  const known = new Map<
    ClusterKey,
    { readonly at: number; readonly of: string; readonly changes: Map<string, Made> }
  >();

  function forgetOld(now: number): void {
    for (const [key, { at }] of known) {
      if (now - at < memoryMs) return;
      known.delete(key);
    }
  }

  function changesOf(key: ClusterKey, cluster: Metadata, now: number): Map<string, Made> {
    forgetOld(now);
    const found = known.get(key);
    const changes = found?.of === generationOf(cluster) ? found.changes : new Map<string, Made>();
    for (const [name, { last }] of changes) if (now - last >= memoryMs) changes.delete(name);
    return changes;
  }

  return {
    due(key, steps, cluster) {
      const now = clock.monotonic();
      const before = changesOf(key, cluster, now);
      const again = new Map<string, Change>();
      const waits: number[] = [];
      for (const step of before.size === 0 ? [] : steps.filter(isChange)) {
        const name = nameOf(step);
        const made = before.get(name);
        if (made === undefined || isSameDeletion(step, made)) continue;
        again.set(name, step);
        waits.push(made.last + pauseOf(made) - now);
      }
      // All of them at one time: each would hold up what comes after it for itself.
      const waitMs = Math.min(...waits);
      const held = waitMs > 0 ? [...again.values()] : [];
      const isHeld = (step: Step): boolean => held.some((one) => one === step);
      const kept = held.filter((step) => before.get(nameOf(step))?.isKept === true);
      const mayBear = (step: Step): boolean => isHeld(step) && !isOptional(step) && !kept.some((one) => one === step);
      // What comes after a step may rest on it, except what has a finding of its own.
      const first = steps.findIndex(mayBear);
      const isReached = (step: Step, i: number): boolean => first === -1 || i < first || findingOf(step) !== undefined;
      const undone = [...before].filter(([, { since, last, isKept }]) => !isKept && last - since >= noEffectMs);
      const ends = undone.map(([, { last }]) => last + memoryMs - now);
      const untilMs = Math.min(...ends, ...(held.length === 0 ? [] : [waitMs]));
      return {
        steps: steps.filter((step, i) => isReached(step, i) && !isHeld(step)),
        held,
        kept,
        unreached: steps.filter((step, i) => !isReached(step, i) && !isHeld(step)),
        ...(Number.isFinite(untilMs) ? { afterMs: Math.ceil(untilMs) } : {}),
        undone: undone.flatMap(([name, { step }]) => again.get(name) ?? step ?? []),
      };
    },
    made(key, steps, cluster, kept = []) {
      const now = clock.monotonic();
      const changes = changesOf(key, cluster, now);
      for (const step of steps.filter(isChange)) {
        const name = nameOf(step);
        const first = changes.get(name);
        const deleted = step.type === 'delete' ? step.ref.uid : undefined;
        const made = { deleted, since: first?.since ?? now, last: now, isKept: kept.includes(step) };
        if (first === undefined) {
          if (changes.size < mostChanges) changes.set(name, made);
        } else if (!isSameDeletion(step, first)) changes.set(name, { ...made, step });
      }
      if (changes.size === 0) return;
      known.delete(key);
      known.set(key, { at: now, of: generationOf(cluster), changes });
    },
  };
}

function isChange(step: Step): step is Change {
  return step.type !== 'act' && step.type !== 'issue' && !(step.type === 'create' && step.generate !== undefined);
}

function isSameDeletion(step: Change, { deleted }: Made): boolean {
  return step.type === 'delete' && step.ref.uid === deleted;
}

function pauseOf({ since, last }: Made): number {
  return Math.min(longestMs, pauseAfter(last - since));
}

function generationOf({ uid, generation }: Metadata): string {
  return `${uid}/${generation}`;
}

/**
 * Equal for the same change of the same object name. A patch also counts the UID, since a pod that follows another one gets the same labels: that is
 * a new change, not a repetition.
 */
function nameOf(step: Change): string {
  return createHash('sha256')
    .update(describeStep(step))
    .update(JSON.stringify(contentOf(step)))
    .digest('base64');
}

function contentOf(step: Change): unknown {
  if (step.type === 'create' || step.type === 'delete') return [];
  const uid = step.type === 'apply' ? undefined : step.ref.uid;
  // The mark of a resize is another one each time: behind its revisions it has the time of the write.
  const isMark = step.type === 'patch' && step.resizing === true;
  return [uid, step.changes.map(({ path, to }) => [path, isMark && typeof to === 'string' ? to.split(' ')[0] : to])];
}
