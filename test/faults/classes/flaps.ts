/** F18: the spec goes there and back while the operator is at work. */
import type { Fault } from '../plan.ts';
import type { EngineName } from '../scenarios/scenario.ts';
import { type Cell, type FaultGenerator, moments, type Variant } from './fault-class.ts';

const more = [
  {
    oracle: 'O2',
    about: 'PersistentVolumeClaim/data-',
    why: 'volumes of members that were there for a while are kept',
  },
  { oracle: 'O3', why: 'what was asked for in between is made and taken away again' },
  { oracle: 'O9', why: 'there was more to do' },
] as const;

/** A backup that is asked for meanwhile. */
const task = {
  oracle: 'O2',
  about: '-task',
  why: 'it names the members that there were when it was asked for',
} as const;

const specs: Readonly<Record<EngineName, readonly Readonly<Record<string, unknown>>[]>> = {
  redis: [
    { replicas: 5 },
    { replicas: 1 },
    { sentinel: { replicas: 5, quorum: 3 } },
    { config: { 'io-threads': 4 } },
    { paused: true },
  ],
  postgres: [
    { instances: 5 },
    { instances: 1 },
    { instances: 0 },
    { parameters: { max_connections: '130' } },
    { parameters: { work_mem: '8MB' } },
    { paused: true },
  ],
  etcd: [{ replicas: 5 }, { replicas: 1 }, { replicas: 0 }, { config: { snapshotCount: 20_000 } }, { paused: true }],
};

export const flapping: FaultGenerator = {
  id: 'F18',
  title: 'spec there and back',
  exhaustive: false,
  variants(cell) {
    const { before, end, engine, id } = cell.scenario;
    if (before === undefined || end !== 'whole') return [];
    // Of two members that are left, one that loses its volume leaves a question that only a person can answer.
    const mayShrink = engine !== 'etcd' || !/S10|S15/.test(id);
    const mayDiffer = cell.scenario.resources?.includes('backups') === true ? [...more, task] : more;
    const { topologySpread } =
      (before as { readonly scheduling?: { readonly topologySpread?: string } }).scheduling ?? {};
    const isSpread = topologySpread === 'Required';
    const isAlone = (before as { readonly mode?: string }).mode === 'Standalone';
    return (
      specs[engine]
        .filter(({ replicas }) => mayShrink || replicas !== 1)
        // Each on a machine of its own: another would take that of a pod that restarts, and whose volume stays there.
        .filter(({ replicas }) => !isSpread || replicas !== 5)
        // Of a single node the API takes neither.
        .filter(({ replicas = 1, sentinel }) => !isAlone || (replicas === 1 && sentinel === undefined))
        .flatMap((spec) =>
          [300, 4_000, 25_000].flatMap((forMs) =>
            flapsAt(cell, spec).map(
              (at): Variant => ({ faults: [{ do: 'flap', at, spec, forMs } satisfies Fault], mayDiffer }),
            ),
          ),
        )
    );
  },
};

/** What the scenario itself changes can only go back and forth once it has changed it. */
function flapsAt(cell: Cell, spec: object): readonly { readonly write: number }[] {
  const isTouched = Object.keys(spec).some((field) => cell.scenario.touches?.includes(field));
  return moments(cell, 3).filter(({ write }) => write > 0 || !isTouched);
}
