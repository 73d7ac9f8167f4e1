/**
 * The API server judges a pod of a template before anybody restarts for it: a server-side dry run of the pod that the
 * StatefulSet controller would make. It goes through admission, LimitRange, Pod Security, PriorityClass and webhooks, and
 * stores nothing.
 *
 * A refusal holds the template back. An answer that is no answer holds a pod that is ready, for a while; a pod that is
 * not ready has nothing to lose.
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../api/object.ts';
import type { Obstacle } from '../plan/obstacle.ts';
import type { Plan } from '../plan/plan.ts';
import { needsJudgement, setsWithoutPods, templatesUsed } from '../plan/template-use.ts';
import type { Children } from '../resources/children.ts';
import { podOfSet } from '../resources/statefulset-pod.ts';
import type { Clock } from '../system/clock.ts';
import { createAbortScope } from './abort-scope.ts';
import type { CallOptions, KubeClient } from './client.ts';
import { keyOf } from './store.ts';
import { type Answer, absenceOf, isGivenUp, obstaclesTo } from './template-obstacles.ts';
import { countsMs, type Verdict, verdictOn } from './template-verdict.ts';

/** For an answer, with all that is tried again: the rest of the pass waits. A webhook has 10 s by default, and at most 30 s. */
const askingMs = 15_000;
/** After which an answer that nobody has asked for again is forgotten. */
const keptMs = 600_000;

class Unanswered extends Error {
  constructor() {
    super(`no answer within ${askingMs / 1000} s`);
  }
}

export interface Judgement {
  /** What keeps steps of the plan from being done. */
  readonly obstacles: readonly Obstacle[];
  /** Why the API server does not judge templates that matter for the plan; undefined where it does, or where there are none. */
  readonly unjudged: string | undefined;
}

export interface TemplateJudge {
  judge(plan: Plan, children: Children, options: CallOptions): Promise<Judgement>;
}

/** Of an operator that makes no dry runs. Nothing is asked, and everything goes on. */
export const noDryRuns: TemplateJudge = {
  judge: (plan, children) =>
    Promise.resolve({
      obstacles: [],
      unjudged: needsJudgement(plan, children) ? 'the operator makes no dry runs (dryRuns: false)' : undefined,
    }),
};

export interface TemplateJudgeOptions {
  readonly client: Pick<KubeClient, 'create'>;
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  /** A pod restarts though nobody can tell whether the API server takes its successor. */
  readonly onUnjudged?: (set: KubeObject, words: string) => void;
}

export function createTemplateJudge({ client, clock, onUnjudged }: TemplateJudgeOptions): TemplateJudge {
  /** By StatefulSet and template: a plan may write one while a pod restarts by another. What was asked last stands last. */
  const judged = new Map<string, Answer>();

  async function answerOn(set: KubeObject, options: CallOptions): Promise<Answer> {
    const pod = podOfSet(set, 0);
    const template = createHash('sha256').update(JSON.stringify(pod)).digest('hex');
    const key = `${keyOf(set.metadata)} ${template}`;
    const before = judged.get(key);
    if (before !== undefined && clock.monotonic() - before.at < countsMs[before.verdict.state]) return before;
    const verdict = standing(await verdictOf(pod, options), before?.verdict);
    const at = clock.monotonic();
    const unknownSince = verdict.state === 'unknown' ? (before?.unknownSince ?? at) : undefined;
    const answer = { verdict, at, unknownSince };
    judged.delete(key);
    judged.set(key, answer);
    return answer;
  }

  async function verdictOf(pod: KubeObject, { signal }: CallOptions): Promise<Verdict> {
    const scope = createAbortScope(signal);
    const cancel = clock.after(askingMs, () => scope.abort(new Unanswered()));
    try {
      await client.create(pod, { signal: scope.signal, dryRun: true });
      return { state: 'accepted' };
    } catch (error) {
      signal?.throwIfAborted();
      return error instanceof Unanswered ? { state: 'unknown', words: error.message } : verdictOn(error);
    } finally {
      cancel();
      scope.dispose();
    }
  }

  function forgetOld(): void {
    for (const [key, { at }] of judged) {
      if (clock.monotonic() - at < keptMs) return;
      judged.delete(key);
    }
  }

  return {
    async judge(plan, children, options) {
      forgetOld();
      const uses = templatesUsed(plan, children);
      const answers = await Promise.all(uses.map(async (use) => ({ use, ...(await answerOn(use.set, options)) })));
      const held = obstaclesTo(answers, children);
      const stays = new Set(held.flatMap(({ steps }) => steps));
      for (const { use, verdict, ...answer } of answers) {
        const isUntold = verdict.state === 'unasked' || (verdict.state === 'unknown' && isGivenUp(answer));
        if (use.ends !== undefined && isUntold && !stays.has(use.step)) onUnjudged?.(use.set, verdict.words);
      }
      const unjudged = untoldIn(answers);
      if (held.some(({ outcome }) => outcome.state === 'blocked')) return { obstacles: held, unjudged };
      const sets = setsWithoutPods(children).map(async (set) => ({ set, ...(await answerOn(set, options)) }));
      const missed = await Promise.all(sets);
      return { obstacles: [...held, ...absenceOf(missed)], unjudged: unjudged ?? untoldIn(missed) };
    },
  };
}

function untoldIn(answers: readonly Pick<Answer, 'verdict'>[]): string | undefined {
  return answers.flatMap(({ verdict }) => (verdict.state === 'unasked' ? [verdict.words] : []))[0];
}

/** A refusal stands until it is taken back: what has refused may be what is down. */
function standing(verdict: Verdict, before: Verdict | undefined): Verdict {
  if (verdict.state !== 'unknown' || before === undefined) return verdict;
  switch (before.state) {
    case 'refused':
      return before;
    case 'overQuota':
      return { ...verdict, quota: before.words };
    case 'unknown':
      return before.quota === undefined ? verdict : { ...verdict, quota: before.quota };
    case 'accepted':
    case 'unasked':
      return verdict;
    default:
      return before satisfies never;
  }
}
