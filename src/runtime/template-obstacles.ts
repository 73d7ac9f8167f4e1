/** What the API server's answers about pod templates keep from being done, and what is said of it. Pure. */
import { shortened } from '../api/bounds.ts';
import type { KubeObject } from '../api/object.ts';
import type { Obstacle } from '../plan/obstacle.ts';
import { blocked, wait } from '../plan/plan.ts';
import { outgrowsQuota } from '../plan/quota-growth.ts';
import { isArchive, setOf, type TemplateUse } from '../plan/template-use.ts';
import { type Children, lastingContainers, type PodContainers, podIsReady } from '../resources/children.ts';
import { countsMs, type Verdict } from './template-verdict.ts';

/** So long restarts wait for an answer. Then they go on as if nobody had asked: no fault elsewhere holds them for ever. */
const patienceMs = 300_000;

export interface Answer {
  readonly verdict: Verdict;
  /** Milliseconds of a clock that only goes on. */
  readonly at: number;
  /** Since when there has been no answer. */
  readonly unknownSince: number | undefined;
}

export interface JudgedUse extends Answer {
  readonly use: TemplateUse;
}

/** A clear answer has been waited for long enough. */
export function isGivenUp({ at, unknownSince = at }: Omit<Answer, 'verdict'>): boolean {
  return at - unknownSince >= patienceMs;
}

/**
 * A refusal holds all of them; where there is none, a doubt holds those that it is about. The pod that archives the log waits for no member, and no
 * member for it.
 */
export function obstaclesTo(judged: readonly JudgedUse[], children: Children): readonly Obstacle[] {
  const refused = judged.filter((one) => isRefused(one, children));
  const isHeld = ({ use }: JudgedUse): boolean => refused.some((one) => isArchive(one.use.set) === isArchive(use.set));
  const held = judged.filter(isHeld);
  return [...refusalOf(refused, held), ...doubtAbout(judged.filter((one) => !held.includes(one)))];
}

function isRefused({ use, verdict }: JudgedUse, children: Children): boolean {
  switch (verdict.state) {
    case 'refused':
      return true;
    case 'overQuota':
      return outgrows(use, verdict.words, children);
    case 'unknown':
      return verdict.quota !== undefined && outgrows(use, verdict.quota, children);
    case 'accepted':
    case 'unasked':
      return false;
    default:
      return verdict satisfies never;
  }
}

/** What was said last of those that are refused. */
function refusalIn(verdict: Verdict): Verdict {
  if (verdict.state !== 'unknown' || verdict.quota === undefined) return verdict;
  return { state: 'overQuota', words: verdict.quota };
}

/** Of the pod that ends, or else of one of those that are to. Where there is none, nobody restarts. */
function outgrows({ set, ends }: TemplateUse, words: string, children: Children): boolean {
  const [first] = children.pods.filter(({ metadata }) => setOf(metadata.name) === set.metadata.name);
  const has = (ends ?? first)?.spec;
  const { template } = set.spec as { readonly template: { readonly spec?: PodContainers } };
  if (has?.containers === undefined) return false;
  return outgrowsQuota(words, lastingContainers(template.spec ?? {}), lastingContainers(has));
}

/**
 * One for all of them: the templates of a cluster are refused for the same reason, as a rule. The others wait with them: half
 * of a spec is not what somebody has asked for.
 */
function refusalOf(found: readonly JudgedUse[], all: readonly JudgedUse[]): Obstacle[] {
  if (found.length === 0) return [];
  const held = all.filter((one) => found.includes(one) || one.use.ends === undefined || podIsReady(one.use.ends));
  const said = found.map(({ verdict, ...one }) => ({ ...one, verdict: refusalIn(verdict) }));
  const who = found.every(({ use }) => isArchive(use.set))
    ? 'the archive of the log does not restart'
    : 'nobody restarts';
  const message = shortened(`the API server refuses pods of the new template, so ${who}: ${wordsOf(said)}`);
  return [{ steps: held.map(({ use }) => use.step), ...refusedWith(message) }];
}

/** Pods are missing since none can be made. A quota counts here: nobody is about to give a share back. */
export function absenceOf(
  missed: readonly { readonly set: KubeObject; readonly verdict: Verdict }[],
): readonly Obstacle[] {
  const [first, ...others] = missed.flatMap(({ set, verdict }) =>
    verdict.state === 'refused' || verdict.state === 'overQuota'
      ? [{ name: set.metadata.name, words: verdict.words }]
      : [],
  );
  if (first === undefined) return [];
  const sets = [first, ...others].map(({ name }) => name).join(', ');
  const message = shortened(`pods of StatefulSet ${sets} are missing, and the API server refuses them: ${first.words}`);
  return [{ steps: [], ...refusedWith(message) }];
}

function refusedWith(message: string): Omit<Obstacle, 'steps'> {
  return {
    outcome: blocked('TemplateRefused', message, countsMs.refused),
    condition: { type: 'TemplateRefused', status: 'True', reason: 'Refused', message },
  };
}

/** Who is not ready has nothing to lose. Who ends after a template has been written starts by that one. */
function doubtAbout(judged: readonly JudgedUse[]): Obstacle[] {
  const unclear = judged.filter(({ verdict, ...answer }) => verdict.state === 'unknown' && !isGivenUp(answer));
  const isAbout = ({ use }: JudgedUse, { ends, set }: TemplateUse): boolean =>
    use.ends === undefined ? use.set.metadata.name === set.metadata.name : use.ends === ends;
  const found = judged.flatMap(({ use }) => {
    const about = unclear.filter((one) => isAbout(one, use));
    return use.ends === undefined || !podIsReady(use.ends) || about.length === 0 ? [] : [{ step: use.step, about }];
  });
  if (found.length === 0) return [];
  const message = shortened(
    `the API server cannot say whether it takes pods of the new template, so nobody restarts for up to ${patienceMs / 60_000} minutes: ${wordsOf(found.flatMap(({ about }) => about))}`,
  );
  return [{ steps: found.map(({ step }) => step), outcome: wait('TemplateNotJudged', message, countsMs.unknown) }];
}

function wordsOf(found: readonly JudgedUse[]): string {
  const [first] = found.flatMap(({ verdict }) => ('words' in verdict ? [verdict.words] : []));
  const sets = [...new Set(found.map(({ use }) => use.set.metadata.name))];
  return sets.length === 1 ? `${first}` : `${first} (StatefulSets ${sets.join(', ')})`;
}
