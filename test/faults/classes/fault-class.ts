/** A class of faults: which plans of it there are for a scenario, all of them where they are finite. */
import type { Random } from '../../../src/system/clock.ts';
import type { Fault, FaultClass, Plan } from '../plan.ts';
import type { RunRecord } from '../record.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import type { WireEntry } from '../wire/wire.ts';

export interface Cell {
  readonly scenario: Scenario;
  /** The undisturbed run of the scenario. */
  readonly reference: RunRecord;
  readonly random: Random;
}

export interface Variant {
  readonly faults: readonly Fault[];
  readonly mayDiffer?: NonNullable<Plan['mayDiffer']>;
}

export interface FaultGenerator {
  readonly id: FaultClass;
  readonly title: string;
  /** Whether these are all that there can be. */
  readonly exhaustive: boolean;
  variants(cell: Cell): readonly Variant[];
}

/** Plural name of the custom resource. */
export function clustersOf({ scenario }: Cell): string {
  return `${scenario.engine}clusters`;
}

/** The writes of the undisturbed run, by number. */
export function writesOf({ reference }: Cell): readonly WireEntry[] {
  return reference.entries.filter(({ write }) => write !== undefined);
}

/** 1 to the number of writes. */
export function writeNumbers(cell: Cell): readonly number[] {
  return Array.from({ length: cell.reference.writes }, (_, n) => n + 1);
}

/** A few of them, spread evenly, the first and the last included; of one alone the middle. */
export function spread<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items;
  if (count === 1) return items.slice(items.length >> 1, (items.length >> 1) + 1);
  return Array.from({ length: count }, (_, n) => items[Math.round((n * (items.length - 1)) / (count - 1))]).flatMap(
    (item) => (item === undefined ? [] : [item]),
  );
}

/** Moments at which things happen that are tied to no write: soon, while the scenario is under way, and late. */
export function moments(cell: Cell, count: number): readonly { readonly write: number }[] {
  return spread([0, ...writeNumbers(cell)], count).map((write) => ({ write }));
}
