/**
 * Whether what was done is what was shown: for every write and every action of the operator, the plan that
 * `clusterwright plan KIND/NAME` would have printed at the beginning of that pass is made, and has to hold it.
 *
 * The CLI's plan is made from the API server's objects of that moment. Where the operator's view was behind, it is made
 * from that view: nobody can show what follows from what he does not see. What the processes answered is the same.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../src/api/object.ts';
import { previewOf } from '../../../src/cli/plan-live.ts';
import { engines } from '../../../src/engines/index.ts';
import { isOptional, type Plan, settled } from '../../../src/plan/plan.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../../../src/resources/metadata.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { describeStep } from '../../../src/runtime/executor.ts';
import { over } from '../simulated/settling.ts';
import { targetOf } from '../wire/request.ts';
import type { WireEntry } from '../wire/wire.ts';
import { virtualTime } from '../world/time.ts';
import { frozenClient } from './frozen-client.ts';
import { isPlanned } from './planned-request.ts';
import type { Act, ForesightRecorder, Pass } from './recorder.ts';
import { replayed } from './transcript.ts';

const unreachable = (): Promise<never> => Promise.reject(new Error('nobody is asked through the API server'));
/** Virtual milliseconds: each process is given up after one second, or a few. */
const patienceMs = 300_000;

async function previewFrom(pass: Pass, objects: readonly KubeObject[]): Promise<Plan> {
  const time = virtualTime();
  const { name, namespace } = pass.cluster.metadata;
  const engine = engines.find((one) => one.name === pass.engine.name);
  if (engine === undefined) throw new Error(`there is no engine ${pass.engine.name}`);
  const reads = [...pass.secretReads];
  const answered = async (path: string): Promise<void> => {
    const next = reads.findIndex((read) => read.path === path);
    const [read] = next < 0 ? [] : reads.splice(next, 1);
    if (read?.answeredAt !== undefined) await sleep(time, Math.max(0, read.answeredAt - pass.began - time.monotonic()));
  };
  const work = previewOf({ engine, name }, namespace, engines, {
    cluster: 'simulated',
    client: frozenClient(withSecrets(objects, pass), answered),
    way: 'direct',
    forward: unreachable,
    dial: replayed(pass.connections, time, pass.began),
    clock: {
      now: () => pass.now + time.monotonic(),
      monotonic: time.monotonic,
      after: (ms, call) => time.after(ms, call),
    },
  });
  if (!(await time.advanceUntil(over(work), patienceMs))) throw new Error('the plan is never made');
  return (await work).plan;
}

/** With what the operator remembered of Secrets, which may have changed since. */
function withSecrets(objects: readonly KubeObject[], { secrets, cluster }: Pass): readonly KubeObject[] {
  const { namespace } = cluster.metadata;
  const isRead = ({ kind, metadata }: KubeObject): boolean => kind === 'Secret' && secrets.has(metadata.name);
  const read = [...secrets].flatMap(([name, values]): KubeObject[] => {
    if (values === undefined) return [];
    const there = objects.find((object) => object.kind === 'Secret' && object.metadata.name === name);
    const data = Object.entries(values).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    // One that was gone by then was the operator's own: of somebody else's it remembers nothing that it uses.
    const labels = { [managedByLabel]: managedBy };
    const made = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels } };
    return [{ ...(there ?? made), data: Object.fromEntries(data) }];
  });
  return [...objects.filter((object) => !isRead(object)), ...read];
}

const isChild = (pass: Pass, { metadata }: KubeObject): boolean =>
  metadata.labels?.[managedByLabel] === managedBy &&
  metadata.labels[nameLabel] === pass.engine.name &&
  metadata.labels[instanceLabel] === pass.cluster.metadata.name;

const isSame = (some: KubeObject, other: KubeObject): boolean =>
  some.kind === other.kind &&
  some.metadata.name === other.metadata.name &&
  some.metadata.namespace === other.metadata.namespace;

function viewOf({ cluster, children, referred }: Pass): readonly KubeObject[] {
  return [cluster, ...children.objects, ...(referred === undefined ? [] : [referred])];
}

/** Whether the operator's view was not what was in the API server: something newer is there, or something else. */
function wasBehind(pass: Pass): boolean {
  const view = viewOf(pass);
  const isOld = view.some((seen) => {
    const there = pass.objects.find((object) => isSame(object, seen));
    return there?.metadata.resourceVersion !== seen.metadata.resourceVersion;
  });
  return isOld || pass.objects.some((object) => isChild(pass, object) && !view.some((seen) => isSame(object, seen)));
}

function asSeen(pass: Pass): readonly KubeObject[] {
  const view = viewOf(pass);
  const others = pass.objects.filter((object) => !isChild(pass, object) && !view.some((seen) => isSame(object, seen)));
  return [...view, ...others];
}

/** Not of any plan, and the whole list of it: see `docs/faults.md`. */
function isApart({ request }: WireEntry): boolean {
  if (request === undefined || request.method === 'GET') return true;
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
  const previews = new Map<Pass, Map<'there' | 'seen', Promise<Plan>>>();
  const preview = (pass: Pass, from: 'there' | 'seen'): Promise<Plan> => {
    const known = previews.get(pass) ?? new Map<'there' | 'seen', Promise<Plan>>();
    previews.set(pass, known);
    const made = known.get(from) ?? previewFrom(pass, from === 'there' ? pass.objects : asSeen(pass));
    known.set(from, made);
    return made;
  };
  const holds = async (pass: Pass, isIn: (plan: Plan) => boolean): Promise<boolean> => {
    try {
      if (isIn(await preview(pass, 'there'))) return true;
    } catch (error) {
      if (!wasBehind(pass)) throw error;
    }
    return wasBehind(pass) && isIn(await preview(pass, 'seen'));
  };
  const shown = async (pass: Pass | undefined): Promise<string> => {
    if (pass === undefined) return 'there was no pass';
    const { steps, outcome } = await preview(pass, wasBehind(pass) ? 'seen' : 'there');
    const why = outcome.state === 'settled' ? 'settled' : `${outcome.reason}: ${outcome.message}`;
    return `the plan was: ${[...steps.map(describeStep), why].join('; ')}`;
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
    const { steps } = await preview(pass, wasBehind(pass) ? 'seen' : 'there');
    const sent = ofPass(pass, passes, entries).flatMap(({ request }) => request ?? []);
    const done = acts.flatMap((act) => (act.pass === pass ? [act.action] : []));
    for (const step of steps) {
      const isDone =
        step.type === 'act'
          ? done.some((action) => isDeepStrictEqual(action, step.action))
          : sent.some((request) => isPlanned({ steps: [step], outcome: settled }, request));
      if (!isDone && !isOptional(step)) undone.push(`${describeStep(step)} was planned, and was not done`);
    }
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
