/**
 * The real layer of the fault harness: the shipped bundle, real sockets, the sandbox's API server and real pods.
 *
 * First every scenario runs twice without faults; what both runs agree upon is the reference. Then rounds of the matrix
 * run, several at a time, each in namespaces of its own.
 */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FaultClass, Plan } from '../plan.ts';
import type { Violation } from '../record.ts';
import { agreed } from './end-state.ts';
import type { Evidence, Reference } from './evidence.ts';
import { plansOf, type Round, roundsOf, undisturbed } from './matrix.ts';
import { changes, countsOf, judge, wordsOf } from './oracles.ts';
import { openPlace, type Place } from './place.ts';
import { run, scenarioOf } from './run.ts';
import { realScenarios } from './scenarios.ts';

export interface RealLayerOptions {
  /** Of the sandbox's administrator. */
  readonly kubeconfig: string;
  /** The controller in one file. */
  readonly bundle: string;
  /** Narrows the matrix: scenarios and classes to run. Default all. */
  readonly only?: { readonly scenarios?: readonly string[]; readonly classes?: readonly FaultClass[] };
  /** Runs these plans instead of the matrix. */
  readonly plans?: readonly Plan[];
  /** Rounds at the same time; default 4: most of a run is waiting. */
  readonly lanes?: number;
  /** Where failing plans are kept; default `build/faults`. */
  readonly keep?: string;
  readonly log: (line: string) => void;
}

export interface RealResult {
  readonly scenario: string;
  /** Undefined on an undisturbed run. */
  readonly class: FaultClass | undefined;
  readonly title: string;
  readonly plan: Plan;
  readonly violations: readonly Violation[];
  /** Faults that never happened. */
  readonly unhappened: readonly string[];
  readonly durationMs: number;
}

/** A sequence of runs that may follow each other in one place. */
interface Sequence {
  readonly title: string;
  readonly plans: readonly Plan[];
}

export async function runRealLayer(options: RealLayerOptions): Promise<readonly RealResult[]> {
  const { only = {}, lanes = 4, log } = options;
  const keep = options.keep ?? join(process.cwd(), 'build/faults');
  await mkdir(keep, { recursive: true });
  // Whoever builds meanwhile changes nothing here.
  const bundle = join(keep, 'controller.mjs');
  await copyFile(options.bundle, bundle);
  const hash = createHash('sha256')
    .update(await readFile(bundle))
    .digest('hex');
  log(`the bundle under test: sha256 ${hash}`);
  const scenarios = realScenarios
    .map(({ id }) => id)
    .filter((id) =>
      options.plans === undefined
        ? (only.scenarios?.includes(id) ?? true)
        : options.plans.some((plan) => plan.scenario === id),
    );
  const results: RealResult[] = [];
  const references = new Map<string, Reference>();
  let places = 0;

  async function openNext(): Promise<Place> {
    places += 1;
    return openPlace(options.kubeconfig, `faults-${places}`);
  }

  async function carryOut({ title, plans }: Sequence, judged: boolean): Promise<readonly Evidence[]> {
    const found: Evidence[] = [];
    let place: Place | undefined;
    const closing: Promise<void>[] = [];
    try {
      for (const plan of plans) {
        if (place !== undefined && !isReady(place, plan)) {
          closing.push(place.close());
          place = undefined;
        }
        place ??= await openNext();
        try {
          const evidence = await run(bundle, place, plan);
          found.push(evidence);
          if (judged || evidence.complaints.length > 0) await report(title, evidence);
        } catch (error) {
          place.spec = 'spoilt';
          await note(title, plan, [{ oracle: 'harness', message: String((error as Error).stack) }], [], 0);
        }
      }
    } finally {
      await place?.close();
      await Promise.all(closing);
    }
    return found;
  }

  async function report(title: string, evidence: Evidence): Promise<void> {
    const { plan, unhappened, durationMs } = evidence;
    const violations = judge(evidence, references.get(plan.scenario));
    await note(title, plan, violations, unhappened, durationMs);
    if (violations.length > 0) await keepEvidence(evidence);
  }

  async function note(
    title: string,
    plan: Plan,
    violations: readonly Violation[],
    unhappened: readonly string[],
    durationMs: number,
  ): Promise<void> {
    const { scenario } = plan;
    results.push({ scenario, class: plan.class, title, plan, violations, unhappened, durationMs });
    const verdict = violations.length === 0 ? 'ok' : [...new Set(violations.map(({ oracle }) => oracle))].join(' ');
    log(`${scenario.padEnd(11)} ${title.padEnd(60)} ${(durationMs / 1000).toFixed(1).padStart(6)} s  ${verdict}`);
    for (const { oracle, message } of violations.slice(0, 6)) log(`       ${oracle}: ${message}`);
    for (const fault of unhappened) log(`       did not happen: ${fault}`);
    if (violations.length > 0) await writeFile(`${fileOf(plan)}.json`, `${JSON.stringify(plan, null, 2)}\n`);
  }

  function fileOf(plan: Plan): string {
    const known = results.filter((result) => result.scenario === plan.scenario && result.class === plan.class).length;
    return join(keep, `real-${plan.scenario.replaceAll(' ', '-')}-${plan.class ?? 'F0'}-${known}`);
  }

  async function keepEvidence(evidence: Evidence): Promise<void> {
    const { texts, happenings, writes, cluster, lives } = evidence;
    const told = happenings.map(({ at, type, resource, object }) => {
      const { metadata, status } = object;
      return `${Math.round(at)} ${type} ${resource}/${metadata.name} ${JSON.stringify({ labels: metadata.labels, status })}`;
    });
    const written = writes.map((write) => `${Math.round(write.at)} life ${write.life} ${wordsOf(write)} ${write.body}`);
    const parts = [JSON.stringify({ lives, cluster }, null, 2), ...written, ...told, texts['the log'] ?? ''];
    await writeFile(`${fileOf(evidence.plan)}.txt`, parts.join('\n'));
  }

  const undisturbedRuns = { title: 'undisturbed', plans: scenarios.map(undisturbed) };
  const [one = [], other = []] = await Promise.all([
    carryOut(undisturbedRuns, false),
    carryOut(undisturbedRuns, false),
  ]);
  for (const id of scenarios) {
    const pair = [one, other].map((runs) => runs.find(({ plan }) => plan.scenario === id));
    const [first, second] = pair;
    if (first === undefined || second === undefined) throw new Error(`${id} did not run without faults`);
    references.set(id, referenceOf(first, second));
    for (const evidence of [first, second]) await report('undisturbed', evidence);
  }
  log(maskedLines(references));

  const pending: Sequence[] =
    options.plans === undefined
      ? roundsOf(only.classes).map((round) => sequenceOf(round))
      : options.plans.map((plan) => ({ title: `replay ${plan.class ?? ''}`, plans: [plan] }));

  function sequenceOf(round: Round): Sequence {
    const plans = plansOf(round, references).filter(({ scenario }) => scenarios.includes(scenario));
    return { title: `${round.class} ${round.title}`, plans };
  }

  async function lane(): Promise<void> {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) await carryOut(next, true);
  }
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

/** Whether the plan's scenario may begin where the last one in this place ended. */
function isReady(place: Place, plan: Plan): boolean {
  return JSON.stringify(place.spec) === JSON.stringify(scenarioOf(plan).before);
}

function referenceOf(one: Evidence, other: Evidence): Reference {
  const writes = [one, other].map((evidence) => changes(evidence.writes).length);
  const { state, masked } = agreed(one.state, other.state);
  const [counts, otherCounts] = [countsOf(one), countsOf(other)];
  const keys = [...new Set([...Object.keys(counts), ...Object.keys(otherCounts)])];
  return {
    writes: Math.max(...writes),
    fewestWrites: Math.min(...writes),
    state,
    masked,
    counts,
    uncounted: keys.filter((key) => counts[key] !== otherCounts[key]),
  };
}

function maskedLines(references: ReadonlyMap<string, Reference>): string {
  return [...references]
    .map(([id, { writes, fewestWrites, masked, uncounted }]) => {
      const differing = [...masked, ...uncounted];
      return `${id}: ${fewestWrites}-${writes} writes; undisturbed runs differ in ${differing.slice(0, 8).join(', ') || 'nothing'}`;
    })
    .join('\n');
}
