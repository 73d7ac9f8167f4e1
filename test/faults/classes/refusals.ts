/** F4 to F6 and F17: the server says no, to one write or to many, for once or for a while. */
import { targetOf } from '../wire/request.ts';
import { type Cell, clustersOf, type FaultGenerator, moments, spread, type Variant, writesOf } from './fault-class.ts';

const requests = (cell: Cell): readonly number[] =>
  writesOf(cell).flatMap(({ write = 0, verb }) => (verb === 'command' ? [] : [write]));

export const conflict: FaultGenerator = {
  id: 'F4',
  title: 'conflict at write k',
  exhaustive: true,
  variants: (cell) =>
    requests(cell).flatMap((write): Variant[] => [
      { faults: [{ do: 'refuse', write, status: 409, times: 1 }] },
      { faults: [{ do: 'refuse', write, status: 409, times: 5 }] },
      {
        faults: [{ do: 'touchBefore', write }],
        mayDiffer: [{ oracle: 'O3', why: 'a relabelled object is made again where its label selects it' }],
      },
    ]),
};

export const throttled: FaultGenerator = {
  id: 'F5',
  title: 'too many requests',
  exhaustive: true,
  variants: (cell) =>
    requests(cell).map(
      (write): Variant => ({ faults: [{ do: 'refuse', write, status: 429, times: 3, retryAfterS: 2 }] }),
    ),
};

const resources = (cell: Cell): readonly string[] => [
  ...['all', 'statefulsets', 'pods', 'services', 'configmaps', clustersOf(cell), 'secrets'],
  ...(cell.scenario.resources ?? []),
];

export const serverErrors: FaultGenerator = {
  id: 'F6',
  title: 'server errors for a while',
  exhaustive: false,
  variants: (cell) =>
    resources(cell).flatMap((resource) =>
      moments(cell, 2).flatMap((at) =>
        ([500, 503, 504] as const).map(
          (status): Variant => ({ faults: [{ do: 'errors', at, resource, status, forMs: 20_000 }] }),
        ),
      ),
    ),
};

export const denied: FaultGenerator = {
  id: 'F17',
  title: 'admission denies',
  exhaustive: false,
  variants(cell) {
    const written = [
      ...new Set(
        writesOf(cell).flatMap(({ request }) => (request === undefined ? [] : [targetOf(request.path).resource])),
      ),
    ];
    return written.flatMap((resource) =>
      ([403, 422] as const).flatMap((status) =>
        spread(moments(cell, 3), 2).map(
          (at): Variant => ({ faults: [{ do: 'deny', at, resource, status, forMs: 45_000 }] }),
        ),
      ),
    );
  },
};
