/** F8 to F13: what the operator sees is old, incomplete, out of order, repeated, cut off, or gone. */
import { type Cell, clustersOf, type FaultGenerator, moments, type Variant } from './fault-class.ts';

/** The resources by which it knows the world: all of them, each part of them. */
const views = (cell: Cell): readonly ('all' | readonly string[])[] => [
  'all',
  ['pods'],
  ['statefulsets'],
  ['persistentvolumeclaims'],
  [clustersOf(cell)],
  ['pods', 'statefulsets'],
  ...(cell.scenario.resources ?? []).map((resource) => [resource]),
];

/** A view that lags makes it look again and try again. */
const busier = [{ oracle: 'O9', why: 'acting on an old view costs requests that are refused' }] as const;

/** A member that no part of the view shows is removed before it has started, and another one takes its place. */
const replaced = [
  ...busier,
  { oracle: 'O2', about: 'PersistentVolumeClaim/data-', why: 'a member that an impossibly old view hides is replaced' },
] as const;

export const staleView: FaultGenerator = {
  id: 'F8',
  title: 'stale view',
  exhaustive: false,
  variants: (cell) =>
    views(cell).flatMap((resources) =>
      moments(cell, 3).flatMap((at) => [
        ...[false, true].map(
          (restart): Variant => ({
            faults: [{ do: 'freezeView', at, resources, forMs: 25_000, hard: false, restart }],
            mayDiffer: busier,
          }),
        ),
        {
          faults: [{ do: 'freezeView', at, resources, forMs: 25_000, hard: true, restart: true }],
          mayDiffer: replaced,
        } satisfies Variant,
      ]),
    ),
};

export const skippedVersions: FaultGenerator = {
  id: 'F9',
  title: 'versions never seen',
  exhaustive: false,
  variants: (cell) =>
    views(cell).flatMap((resources) =>
      moments(cell, 3).map(
        (at): Variant => ({
          faults: [{ do: 'skipVersions', at, resources, forMs: 15_000 }],
          mayDiffer: busier,
        }),
      ),
    ),
};

export const delayedWatch: FaultGenerator = {
  id: 'F10',
  title: 'one watch lags behind',
  exhaustive: false,
  variants: (cell) =>
    [
      ...['pods', 'statefulsets', 'persistentvolumeclaims', clustersOf(cell), 'services', 'configmaps'],
      ...(cell.scenario.resources ?? []),
    ].flatMap((resource) =>
      [300, 2_000, 9_000].map((ms): Variant => ({ faults: [{ do: 'delayWatch', resource, ms }], mayDiffer: busier })),
    ),
};

export const repeatedEvents: FaultGenerator = {
  id: 'F11',
  title: 'events repeated',
  exhaustive: false,
  variants: (cell) =>
    views(cell).flatMap((resources) =>
      moments(cell, 4).map(
        (at): Variant => ({ faults: [{ do: 'replayEvents', at, resources, count: 20 }], mayDiffer: busier }),
      ),
    ),
};

const every = (cell: Cell, count: number, variant: (at: { readonly write: number }) => readonly Variant[]) =>
  moments(cell, count).flatMap(variant);

export const endedWatch: FaultGenerator = {
  id: 'F12',
  title: 'watch ends',
  exhaustive: false,
  variants: (cell) =>
    every(cell, 4, (at) =>
      (['close', 'reset', 'hang'] as const).flatMap((how) =>
        (['all', ['pods']] as const).map(
          (resources): Variant => ({ faults: [{ do: 'endWatch', at, resources, how }] }),
        ),
      ),
    ),
};

export const expired: FaultGenerator = {
  id: 'F13',
  title: 'version expired or unknown',
  exhaustive: false,
  variants: (cell) =>
    every(cell, 4, (at) =>
      (['status', 'event', 'tooLarge'] as const).flatMap((how) =>
        (['all', ['pods']] as const).map((resources): Variant => ({ faults: [{ do: 'expire', at, resources, how }] })),
      ),
    ),
};
