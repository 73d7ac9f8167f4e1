/**
 * Whether what was done is what was shown: for every write and every action of the operator, the plan that
 * `clusterwright plan KIND/NAME` would have printed at the beginning of that pass is made, and has to hold it.
 *
 * The CLI's plan is made from the API server's objects of that moment. Where the operator's view was behind, it is made
 * from that view: nobody can show what follows from what he does not see. What the processes answered is the same.
 */
import { isDeepStrictEqual } from 'node:util';
import { isOptional, type Plan, type Step } from '../../../src/plan/plan.ts';
import { describeStep } from '../../../src/runtime/executor.ts';
import type { TransportRequest } from '../../../src/runtime/transport.ts';
import { isRead, targetOf } from '../wire/request.ts';
import type { WireEntry } from '../wire/wire.ts';
import { asSeen, plansFrom, planWords, wasBehind } from './made-again.ts';
import { isPlanned, isShownBy } from './planned-request.ts';
import type { Act, ForesightRecorder, Pass } from './recorder.ts';
import { rememberedMs, waitingSteps } from './waiting-steps.ts';

interface Requested extends Pick<TransportRequest, 'path' | 'query'> {
  readonly method: string;
}

/** Not of any plan, and the whole list of it: see `docs/faults.md`. */
export function isApart({ request }: { readonly request?: Requested }): boolean {
  if (request === undefined || isRead(request)) return true;
  const { group, resource, subresource } = targetOf(request.path);
  return ['leases', 'events'].includes(resource) || (group === 'clusterwright.dev' && subresource === 'status');
}

/**
 * A line for each write and each action that was not in the plan; and, where `isWhole`, for each step of a plan that was
 * begun and not done. Where faults are about, a pass may end anywhere.
 */
export async function unforeseen(
  { passes, acts }: Pick<ForesightRecorder, 'passes' | 'acts'>,
  entries: readonly WireEntry[],
  isWhole: boolean,
): Promise<readonly string[]> {
  const previews = new Map<Pass, Map<'there' | 'seen', Promise<readonly Plan[]>>>();
  const preview = (pass: Pass, from: 'there' | 'seen'): Promise<readonly Plan[]> => {
    const known = previews.get(pass) ?? new Map<'there' | 'seen', Promise<readonly Plan[]>>();
    previews.set(pass, known);
    const made = known.get(from) ?? plansFrom(pass, from === 'there' ? pass.objects : asSeen(pass));
    known.set(from, made);
    return made;
  };
  const holds = async (pass: Pass, isIn: (plan: Plan) => boolean): Promise<boolean> => {
    try {
      if ((await preview(pass, 'there')).some(isIn)) return true;
    } catch (error) {
      if (!wasBehind(pass)) throw error;
    }
    return wasBehind(pass) && (await preview(pass, 'seen')).some(isIn);
  };
  const shown = async (pass: Pass | undefined): Promise<string> => {
    if (pass === undefined) return 'there was no pass';
    return (await preview(pass, wasBehind(pass) ? 'seen' : 'there')).map(planWords).join('; without its turn, ');
  };

  const found: string[] = [];
  for (const entry of entries.filter((one) => !isApart(one))) {
    const { request } = entry;
    if (request === undefined) continue;
    const current = currentPasses(passes, entry);
    let isShown = false;
    for (const pass of current) isShown ||= await holds(pass, (plan) => isPlanned(plan, request));
    if (!isShown) found.push(`${entry.verb} ${entry.what} was in no plan; ${await shown(current.at(-1))}`);
  }
  for (const act of acts) {
    const isShown = await holds(act.pass, ({ steps }) =>
      steps.some((step) => step.type === 'act' && isDeepStrictEqual(step.action, act.action)),
    );
    if (!isShown) found.push(`${act.action.type} was in no plan; ${await shown(act.pass)}`);
  }
  const undone: string[] = [];
  for (const pass of isWhole ? begunPasses(passes, entries, acts) : []) {
    const plans = await preview(pass, wasBehind(pass) ? 'seen' : 'there');
    const own = ofPass(pass, passes, entries);
    const sent = own.flatMap(({ request }) => request ?? []);
    const since = (own[0]?.at ?? 0) - rememberedMs;
    const earlier = entries.filter(
      ({ life, at, order }) => life === pass.life && order < pass.sentBefore && at >= since,
    );
    const done = acts.flatMap((act) => (act.pass === pass ? [act.action] : []));
    const isDone = (step: Step): boolean =>
      step.type === 'act'
        ? done.some((action) => isDeepStrictEqual(action, step.action))
        : sent.some((request) => isShownBy(step, request));
    const left = plans.map(({ steps }) => {
      const waiting = waitingSteps(steps, (step) =>
        earlier.some(({ request }) => request !== undefined && isShownBy(step, request)),
      );
      return steps.filter((step) => !isDone(step) && !isOptional(step) && !waiting.has(step));
    });
    if (left.some((steps) => steps.length === 0)) continue;
    for (const step of left[0] ?? []) undone.push(`${describeStep(step)} was planned, and was not done`);
  }
  return [...found, ...undone, ...commandsApart(entries, acts)];
}

/** What a process sent for the resource of a pass, or for another one meanwhile, until the next pass over it. */
function ofPass(pass: Pass, passes: readonly Pass[], entries: readonly WireEntry[]): readonly WireEntry[] {
  const isSameResource = (other: Pass): boolean =>
    other.life === pass.life && other.cluster.metadata.uid === pass.cluster.metadata.uid;
  const next = passes.find((other, n) => n > passes.indexOf(pass) && isSameResource(other));
  return entries.filter(
    ({ life, order }) =>
      life === pass.life && order >= pass.sentBefore && order < (next?.sentBefore ?? Number.POSITIVE_INFINITY),
  );
}

/** Those that did the first of their steps, and met no refusal. */
function begunPasses(passes: readonly Pass[], entries: readonly WireEntry[], acts: readonly Act[]): readonly Pass[] {
  return passes.filter((pass) => {
    const own = ofPass(pass, passes, entries).filter((entry) => !isApart(entry));
    const isRefused = own.some(({ status = 0 }) => status >= 400);
    const hasActed = acts.some((act) => act.pass === pass);
    const hasFailed = acts.some((act) => act.pass === pass && act.failure !== undefined);
    return !isRefused && !hasFailed && (own.some(({ request }) => request !== undefined) || hasActed);
  });
}

/** Of each resource the last pass of that process that had begun by then. */
function currentPasses(passes: readonly Pass[], { life, order }: WireEntry): readonly Pass[] {
  const last = new Map<string, Pass>();
  for (const pass of passes) {
    if (pass.life === life && pass.sentBefore <= order)
      last.set(`${pass.cluster.kind} ${pass.cluster.metadata.name}`, pass);
  }
  return [...last.values()];
}

/** What changes a process is sent by an action, and by nothing else. */
function commandsApart(entries: readonly WireEntry[], acts: readonly Act[]): string[] {
  return entries.flatMap(({ life, at, verb, what }) => {
    if (verb !== 'command') return [];
    const isOfAction = acts.some(
      ({ pass, from, to = Number.POSITIVE_INFINITY }) => pass.life === life && from <= at && at <= to,
    );
    return isOfAction ? [] : [`${what} was sent while no action was at work`];
  });
}
