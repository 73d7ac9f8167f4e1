/**
 * Which faults happen in which scenarios on real pods, as data.
 *
 * A fault begins at a share of the writes that the undisturbed scenario needs. All crash points, and all classes, are
 * enumerated in the simulation; here a few of them meet real sockets, real processes and real pods.
 */
import type { Fault, FaultClass, Plan } from '../plan.ts';
import type { Reference } from './evidence.ts';
import { type RealScenario, realScenarios } from './scenarios.ts';

/** One round: the same fault in each of its scenarios, one after the other on one cluster. */
export interface Round {
  readonly class: FaultClass;
  readonly title: string;
  readonly seed: number;
  /** Default all. */
  readonly scenarios?: readonly string[];
  /** Runs only where its class is asked for by name: the rest has to end within a quarter of an hour. */
  readonly onDemand?: true;
  /** `at`: the write that comes after a share of all. `turn`: 0, 1, 2 ... from scenario to scenario, for variants. */
  faults(at: (share: number) => number, turn: number): readonly Fault[];
  readonly mayDiffer?: Plan['mayDiffer'];
}

/** Scenarios in which a cluster lives all the time. */
const living = ['S2', 'S3', 'S9 primary', 'S10 primary', 'S4'] as const;
const restarts = 'a process that was killed or frozen may be restarted, and roles move once more';

const crash = (write: number): Fault => ({ do: 'crash', write, when: 'after' });

export const rounds: readonly Round[] = [
  {
    class: 'F1',
    title: 'killed again and again',
    seed: 0,
    faults: (at) => [0, 0.25, 0.5, 0.75, 1].map((share) => crash(at(share))),
  },
  {
    class: 'F1',
    title: 'killed once, and waited for until its lease has run out',
    seed: 1,
    faults: (at, turn) => [crash(at([0.15, 0.35, 0.6, 0.9][turn % 4] ?? 0))],
  },
  {
    class: 'F8',
    title: 'the operator restarts onto an older view',
    seed: 0,
    faults: (at) => [
      { do: 'freezeView', at: { write: at(0.5) }, resources: 'all', forMs: 8_000, hard: true, restart: true },
    ],
  },
  {
    class: 'F14',
    title: 'the lease is lost',
    seed: 0,
    faults: (at, turn) => {
      const how = (['stolen', 'paused', 'unrenewed'] as const)[turn % 3] ?? 'stolen';
      return [{ do: 'loseLease', at: { write: at(0.3) }, how }];
    },
  },
  {
    class: 'F16',
    title: 'the primary is killed, frozen or cut off from all others',
    seed: 0,
    faults: (at, turn) => {
      const how = (['isolate', 'freeze', 'kill'] as const)[turn % 3] ?? 'kill';
      return [{ do: how, at: { write: at(0.4) }, member: 'primary', ...(how === 'kill' ? {} : { forMs: 10_000 }) }];
    },
    scenarios: [...living, 'S12'],
    mayDiffer: [{ oracle: 'O3', why: restarts }],
  },
  {
    class: 'F12',
    title: 'watches end',
    seed: 0,
    faults: (at) => [
      { do: 'endWatch', at: { write: at(0.2) }, resources: 'all', how: 'close' },
      { do: 'endWatch', at: { write: at(0.5) }, resources: 'all', how: 'reset' },
      { do: 'endWatch', at: { write: at(0.8) }, resources: ['pods', 'statefulsets'], how: 'reset' },
    ],
  },
  {
    class: 'F8',
    title: 'the view stands still',
    seed: 0,
    onDemand: true,
    faults: (at) => [
      { do: 'freezeView', at: { write: at(0.3) }, resources: 'all', forMs: 8_000, hard: false, restart: false },
    ],
  },
  {
    class: 'F3',
    title: 'the answers to two writes are lost',
    seed: 0,
    faults: (at) => [
      { do: 'loseAnswer', write: at(0.2), how: 'reset' },
      { do: 'loseAnswer', write: at(0.7), how: 'reset' },
    ],
  },
  {
    class: 'F16',
    title: 'the primary is killed, frozen or cut off from all others, in another turn',
    seed: 0,
    onDemand: true,
    faults: (at, turn) => {
      const how = (['isolate', 'freeze', 'kill'] as const)[(turn + 1) % 3] ?? 'kill';
      return [{ do: how, at: { write: at(0.6) }, member: 'primary', ...(how === 'kill' ? {} : { forMs: 10_000 }) }];
    },
    scenarios: living,
    mayDiffer: [{ oracle: 'O3', why: restarts }],
  },
  {
    class: 'F2',
    title: 'killed before a write',
    seed: 0,
    onDemand: true,
    faults: (at) => [{ do: 'crash', write: at(0.5), when: 'before' }],
  },
  {
    class: 'F4',
    title: 'somebody else writes the same object',
    seed: 0,
    onDemand: true,
    faults: (at) => [
      { do: 'touchBefore', write: at(0.3) },
      { do: 'refuse', write: at(0.6), status: 409, times: 3 },
    ],
  },
  {
    class: 'F6',
    title: 'the server fails for a while',
    seed: 0,
    onDemand: true,
    faults: (at) => [{ do: 'errors', at: { write: at(0.4) }, resource: 'all', status: 503, forMs: 3_000 }],
  },
  {
    class: 'F7',
    title: 'the API server is down',
    seed: 0,
    onDemand: true,
    faults: (at) => [{ do: 'apiDown', at: { write: at(0.4) }, forMs: 6_000 }],
  },
  {
    class: 'F13',
    title: 'the history is forgotten',
    seed: 0,
    onDemand: true,
    faults: (at) => [
      { do: 'expire', at: { write: at(0.3) }, resources: 'all', how: 'status' },
      { do: 'expire', at: { write: at(0.7) }, resources: 'all', how: 'event' },
    ],
  },
  {
    class: 'F15',
    title: 'somebody deletes and edits children',
    seed: 0,
    onDemand: true,
    scenarios: living,
    faults: (at) => [
      { do: 'drift', at: { ms: 200 }, how: 'delete', resource: 'services', name: 'r-replicas' },
      { do: 'drift', at: { write: at(0.3) }, how: 'edit', resource: 'configmaps', name: 'r-config' },
      { do: 'drift', at: { write: at(0.6) }, how: 'disown', resource: 'statefulsets', name: 'r' },
    ],
    mayDiffer: [{ oracle: 'O3', why: 'what somebody deletes is made again' }],
  },
];

/** Those of the classes that were asked for; otherwise those that run by default. */
export function roundsOf(classes: readonly FaultClass[] | undefined): readonly Round[] {
  return rounds.filter((round) => classes?.includes(round.class) ?? round.onDemand !== true);
}

/** The plans of one round, in the order in which they follow each other. */
export function plansOf(round: Round, references: ReadonlyMap<string, Reference>): readonly Plan[] {
  return realScenarios
    .filter((scenario) => isIn(round, scenario))
    .map((scenario, turn) => planOf(round, scenario, turn, references))
    .filter(({ faults }) => faults.length > 0);
}

function isIn(round: Round, { id }: RealScenario): boolean {
  return round.scenarios?.includes(id) ?? true;
}

/** A scenario in which the operator writes nothing has no fault that begins at a write; those that can begin at a moment do. */
function momentary(faults: readonly Fault[]): readonly Fault[] {
  return faults.flatMap((fault) => ('at' in fault ? [{ ...fault, at: { ms: 500 } }] : []));
}

function planOf(round: Round, { id }: RealScenario, turn: number, references: ReadonlyMap<string, Reference>): Plan {
  const writes = references.get(id)?.fewestWrites ?? 1;
  const at = (share: number): number => Math.max(1, Math.min(writes, Math.round(1 + share * (writes - 1))));
  return {
    scenario: id,
    seed: round.seed,
    class: round.class,
    faults: distinct(writes === 0 ? momentary(round.faults(at, turn)) : round.faults(at, turn)),
    ...(round.mayDiffer === undefined ? {} : { mayDiffer: round.mayDiffer }),
  };
}

/** In a scenario of few writes two shares may be one write: the same fault happens once there. */
function distinct(faults: readonly Fault[]): readonly Fault[] {
  return [...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values()];
}

export const undisturbed = (scenario: string): Plan => ({ scenario, seed: 0, faults: [] });
