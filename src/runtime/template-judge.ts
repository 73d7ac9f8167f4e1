/**
 * The API server judges a pod of a template before anybody restarts for it: a server-side dry run of the pod that the
 * StatefulSet controller would make. It goes through admission, LimitRange, Pod Security, PriorityClass and webhooks, and
 * stores nothing.
 *
 * A refusal holds the template back. An answer that is no answer holds a pod that is ready, for a while; a pod that is
 * not ready has nothing to lose.
 */
import { createHash } from 'node:crypto';
import { shortened } from '../api/bounds.ts';
import type { KubeObject } from '../api/object.ts';
import type { Obstacle } from '../plan/obstacle.ts';
import { blocked, type Plan, wait } from '../plan/plan.ts';
import { outgrowsQuota } from '../plan/quota-growth.ts';
import { setOf, type TemplateUse, templatesUsed } from '../plan/template-use.ts';
import { type Children, type ContainerOf, podIsReady } from '../resources/children.ts';
import type { StatefulSetSpec } from '../resources/plain.ts';
import { podOfSet } from '../resources/statefulset-pod.ts';
import type { Clock } from '../system/clock.ts';
import type { CallOptions, KubeClient } from './client.ts';
import { keyOf } from './store.ts';
import { type Verdict, verdictOn } from './template-verdict.ts';

/** How long an answer counts. No watch tells that a PriorityClass is there by now, or a policy gone. */
const countsMs: Readonly<Record<Verdict['state'], number>> = {
  accepted: 60_000,
  refused: 30_000,
  overQuota: 30_000,
  unknown: 10_000,
  unasked: 60_000,
};
/** A webhook has 10 s by default, and at most 30 s. */
const askingMs = 15_000;
/** So long restarts wait for an answer. Then they go on as if nobody had asked: no fault elsewhere holds them for ever. */
const patienceMs = 300_000;
/** After which an answer that nobody has asked for again is forgotten. */
const keptMs = 600_000;

interface Judged {
  readonly template: string;
  readonly verdict: Verdict;
  readonly at: number;
  /** Since when there has been no answer. */
  readonly unknownSince: number | undefined;
}

export interface TemplateJudge {
  /** What keeps steps of the plan from being done. */
  obstacles(plan: Plan, children: Children, options: CallOptions): Promise<readonly Obstacle[]>;
}

export interface TemplateJudgeOptions {
  readonly client: Pick<KubeClient, 'create'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** A pod restarts though nobody can tell whether the API server takes its successor. */
  readonly onUnjudged?: (set: KubeObject, words: string) => void;
}

export function createTemplateJudge({ client, clock, onUnjudged }: TemplateJudgeOptions): TemplateJudge {
  /** By StatefulSet; what was asked last stands last. */
  const judged = new Map<string, Judged>();

  async function judge(set: KubeObject, options: CallOptions): Promise<Judged> {
    const pod = podOfSet(set, 0);
    const key = keyOf(set.metadata);
    const template = createHash('sha256').update(JSON.stringify(pod)).digest('hex');
    const last = judged.get(key);
    const before = last?.template === template ? last : undefined;
    if (before !== undefined && clock.monotonic() - before.at < countsMs[before.verdict.state]) return before;
    const verdict = await verdictOf(pod, client, options);
    const at = clock.monotonic();
    const unknownSince = verdict.state === 'unknown' ? (before?.unknownSince ?? at) : undefined;
    const answer = { template, verdict, at, unknownSince };
    judged.delete(key);
    judged.set(key, answer);
    return answer;
  }

  function forgetOld(): void {
    for (const [key, { at }] of judged) {
      if (clock.monotonic() - at < keptMs) return;
      judged.delete(key);
    }
  }

  function obstacleTo(
    use: TemplateUse,
    { verdict, at, unknownSince = at }: Judged,
    children: Children,
  ): readonly [TemplateUse, Verdict][] {
    const { set, ends } = use;
    switch (verdict.state) {
      case 'accepted':
        return [];
      case 'refused':
        return [[use, verdict]];
      case 'overQuota':
        return outgrows(use, verdict.words, children) ? [[use, { ...verdict, state: 'refused' }]] : [];
      case 'unknown':
        if (ends === undefined || !podIsReady(ends)) return [];
        if (at - unknownSince < patienceMs) return [[use, verdict]];
        onUnjudged?.(set, verdict.words);
        return [];
      case 'unasked':
        if (ends !== undefined) onUnjudged?.(set, verdict.words);
        return [];
      default:
        return verdict satisfies never;
    }
  }

  return {
    async obstacles(plan, children, options) {
      forgetOld();
      const uses = templatesUsed(plan, children);
      const answers = await Promise.all(uses.map(({ set }) => judge(set, options)));
      const found = uses.flatMap((use, i) => obstacleTo(use, answers[i] as Judged, children));
      const refused = found.filter(([, { state }]) => state === 'refused');
      const unknown = found.filter(([, { state }]) => state === 'unknown');
      return [...refusalOf(refused, uses), ...doubtAbout(unknown)];
    },
  };
}

async function verdictOf(pod: KubeObject, client: Pick<KubeClient, 'create'>, options: CallOptions): Promise<Verdict> {
  try {
    await client.create(pod, { ...options, dryRun: true, timeoutMs: askingMs });
    return { state: 'accepted' };
  } catch (error) {
    options.signal?.throwIfAborted();
    return verdictOn(error);
  }
}

/** Of the pod that ends, or else of one of those that are to. Where there is none, nobody restarts. */
function outgrows({ set, ends }: TemplateUse, words: string, children: Children): boolean {
  const [first] = children.pods.filter(({ metadata }) => setOf(metadata.name) === set.metadata.name);
  const has = (ends ?? first)?.spec?.containers;
  const { template } = set.spec as StatefulSetSpec;
  return has !== undefined && outgrowsQuota(words, (template.spec?.containers ?? []) as readonly ContainerOf[], has);
}

type Found = readonly (readonly [TemplateUse, Verdict])[];

/**
 * One for all of them: the templates of a cluster are refused for the same reason, as a rule. The others wait with them: half
 * of a spec is not what somebody has asked for.
 */
function refusalOf(found: Found, uses: readonly TemplateUse[]): Obstacle[] {
  if (found.length === 0) return [];
  const refused = new Set(found.map(([{ step }]) => step));
  const held = uses.filter(({ step, ends }) => refused.has(step) || ends === undefined || podIsReady(ends));
  const message = shortened(`the API server refuses pods of the new template, so nobody restarts: ${wordsOf(found)}`);
  return [
    {
      steps: held.map(({ step }) => step),
      outcome: blocked('TemplateRefused', message, countsMs.refused),
      condition: { type: 'TemplateRefused', status: 'True', reason: 'Refused', message },
    },
  ];
}

function doubtAbout(found: Found): Obstacle[] {
  if (found.length === 0) return [];
  const message = shortened(
    `the API server cannot say whether it takes pods of the new template, so nobody restarts for up to ${patienceMs / 60_000} minutes: ${wordsOf(found)}`,
  );
  return [{ steps: found.map(([{ step }]) => step), outcome: wait('TemplateNotJudged', message, countsMs.unknown) }];
}

function wordsOf(found: Found): string {
  const [first] = found.flatMap(([, verdict]) => ('words' in verdict ? [verdict.words] : []));
  const sets = [...new Set(found.map(([{ set }]) => set.metadata.name))];
  return sets.length === 1 ? `${first}` : `${first} (StatefulSets ${sets.join(', ')})`;
}
