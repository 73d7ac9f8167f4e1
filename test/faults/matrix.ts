/**
 * The matrix: every scenario under every class of faults, each cell as many runs as it has plans.
 *
 * The plans of a seed are the same in every process that asks, so that shards need not be told what to run: each takes
 * every n-th.
 */
import { type Cell, type FaultGenerator, spread, type Variant } from './classes/fault-class.ts';
import { faultGenerators } from './classes/index.ts';
import { judge } from './oracles/index.ts';
import type { FaultClass, Plan } from './plan.ts';
import type { RunRecord, Violation } from './record.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { seeded } from './world/random.ts';

/** Runs a plan, and watches the end of it for `restMs` longer than usual. */
export type Run = (plan: Plan, scenario: Scenario, restMs?: number) => Promise<RunRecord>;

export interface Failure {
  readonly plan: Plan;
  readonly violations: readonly Violation[];
}

export interface CellResult {
  readonly scenario: string;
  /** `random`: several faults of any class at once. */
  readonly class: FaultClass | 'none' | 'random';
  readonly runs: number;
  readonly failures: readonly Failure[];
}

export interface MatrixOptions {
  readonly run: Run;
  readonly scenarios: readonly Scenario[];
  readonly classes: readonly FaultClass[];
  readonly seed: number;
  /** At most so many runs of a cell, spread over its plans; undefined: all. */
  readonly perCell?: number;
  /** Runs with two or three faults of any classes, a scenario. */
  readonly combinations: number;
  /** This one of so many that share the work; default the only one. */
  readonly shard?: { readonly index: number; readonly of: number };
  readonly onCell?: (result: CellResult) => void;
  /** Every record, before it is forgotten. */
  readonly onRun?: (record: RunRecord, violations: readonly Violation[]) => void;
  /** Ends as soon as this oracle objects. */
  readonly until?: string;
  /** Virtual milliseconds for which the undisturbed run is watched longer at rest; default none. */
  readonly restMs?: number;
  /** Single runs before all others. Their scenarios are found by `scenarioNamed`. */
  readonly plans?: readonly Plan[];
  readonly scenarioNamed?: (id: string) => Scenario;
}

/** The writes of the undisturbed runs, for the proof that crash points are complete. */
export interface MatrixResult {
  readonly cells: readonly CellResult[];
  readonly writes: Readonly<Record<string, number>>;
}

export async function runMatrix(options: MatrixOptions): Promise<MatrixResult> {
  const { run, scenarios, seed, shard = { index: 0, of: 1 } } = options;
  const cells: CellResult[] = [];
  const writes: Record<string, number> = {};
  let turn = 0;
  let isOver = false;

  async function runCell(
    id: CellResult['class'],
    scenario: Scenario,
    plans: readonly Plan[],
    reference: RunRecord,
    restMs?: number,
  ) {
    const failures: Failure[] = [];
    let runs = 0;
    for (const plan of plans) {
      if (turn++ % shard.of !== shard.index) continue;
      runs++;
      const violations = await verdict(plan, scenario, reference, plan === plans[0] ? restMs : undefined);
      if (violations.length > 0) failures.push({ plan, violations });
      if (violations.some(({ oracle }) => oracle === options.until)) {
        isOver = true;
        break;
      }
    }
    const result: CellResult = { scenario: scenario.id, class: id, runs, failures };
    cells.push(result);
    options.onCell?.(result);
  }

  async function verdict(
    plan: Plan,
    scenario: Scenario,
    reference: RunRecord,
    restMs?: number,
  ): Promise<readonly Violation[]> {
    let record: RunRecord;
    try {
      record = await run(plan, scenario, restMs);
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return [{ oracle: 'harness', message }];
    }
    const violations = judge(record, reference, scenario.mayDiffer);
    options.onRun?.(record, violations);
    return violations;
  }

  for (const plan of options.plans ?? []) {
    const scenario = options.scenarioNamed?.(plan.scenario);
    if (scenario === undefined || isOver) continue;
    await runCell(plan.class ?? 'random', scenario, [plan], await run({ ...plan, faults: [] }, scenario));
  }
  for (const scenario of scenarios) {
    if (isOver) break;
    const undisturbed: Plan = { scenario: scenario.id, seed, faults: [] };
    const reference = await run(undisturbed, scenario);
    writes[scenario.id] = reference.writes;
    const random = seeded(seed);
    const cell: Cell = { scenario, reference, random };
    // Another seed, the same end: or the comparison would mean nothing.
    await runCell('none', scenario, [undisturbed, { ...undisturbed, seed: seed + 1 }], reference, options.restMs);
    const everything: Variant[] = [];
    for (const generator of faultGenerators) {
      const variants = generator.variants(cell);
      everything.push(...variants);
      if (!options.classes.includes(generator.id)) continue;
      const plans = plansOf(generator, cell, variants, seed, options.perCell);
      if (!isOver) await runCell(generator.id, scenario, plans, reference);
    }
    if (options.combinations > 0) {
      const plans = combinations(cell, everything, seed, options.combinations);
      if (!isOver) await runCell('random', scenario, plans, reference);
    }
  }
  return { cells, writes };
}

function plansOf(
  generator: FaultGenerator,
  { scenario }: Cell,
  variants: readonly Variant[],
  seed: number,
  perCell: number | undefined,
): readonly Plan[] {
  const chosen = perCell === undefined ? variants : spread(variants, perCell);
  return chosen.map((variant) => ({ scenario: scenario.id, seed, class: generator.id, ...variant }));
}

/** Two or three faults at once, each of its own choosing. */
function combinations({ scenario, random }: Cell, variants: readonly Variant[], seed: number, count: number): Plan[] {
  const pick = (): Variant | undefined => variants[Math.floor(random() * variants.length)];
  return Array.from({ length: count }, (_, n) => {
    const picked = Array.from({ length: random() < 0.5 ? 2 : 3 }, pick).flatMap((v) => (v === undefined ? [] : [v]));
    const isFlap = ({ faults }: Variant): boolean => faults.some((fault) => fault.do === 'flap');
    // Of two that go there and back, one may go back to where the other went.
    const chosen = picked.filter((variant, at) => !isFlap(variant) || picked.findIndex(isFlap) === at);
    return {
      scenario: scenario.id,
      seed: seed + 100 + n,
      faults: chosen.flatMap(({ faults }) => faults),
      mayDiffer: [
        ...chosen.flatMap(({ mayDiffer = [] }) => mayDiffer),
        { oracle: 'O3', why: 'faults add up' },
        { oracle: 'O9', why: 'faults add up' },
      ],
    };
  });
}

/** Of several shards, as if one had run all. */
export function joined(results: readonly MatrixResult[]): MatrixResult {
  const cells = new Map<string, CellResult>();
  for (const cell of results.flatMap((result) => result.cells)) {
    const key = `${cell.scenario} ${cell.class}`;
    const known = cells.get(key);
    cells.set(
      key,
      known === undefined
        ? cell
        : { ...known, runs: known.runs + cell.runs, failures: [...known.failures, ...cell.failures] },
    );
  }
  return { cells: [...cells.values()], writes: results[0]?.writes ?? {} };
}
