/** The targets, each held against a run: pure, so that a figure can be judged again from `build/bench.json`. */
import { besidesWatchesAndLease, type RequestCounts, sum } from './audit-log.ts';
import type { Counted, Results } from './results.ts';

export interface Judged {
  readonly target: string;
  readonly figure: string;
  readonly met: boolean;
}

const round = (value: number, digits = 1): string => value.toFixed(digits);
const ms = (seconds: number): string => `${round(seconds * 1000, seconds < 0.01 ? 1 : 0)} ms`;

function requestsToConverge({ counted, childrenEach }: Results): Judged[] {
  const run = counted.find(({ live }) => !live);
  if (run === undefined || childrenEach === undefined) return [];
  const requests = besidesWatchesAndLease(run.converge);
  const each = sum(requests) / run.n;
  const gets = sum(requests, /^get /);
  return [
    {
      target: `requests to converge at most children + 2 = ${childrenEach + 2} a cluster, no GET`,
      figure: `${round(each, 2)}, ${gets} GET of ${run.n} clusters`,
      met: each <= childrenEach + 2 && gets === 0,
    },
  ];
}

const kindOfRun = ({ live }: Counted): string => (live ? 'with live members (stand-in)' : 'without pods');
const listed = (requests: RequestCounts): string =>
  Object.entries(requests)
    .map(([request, count]) => `${count} ${request}`)
    .join(', ') || 'none';

function rest({ counted }: Results): Judged[] {
  return counted.map((run) => {
    const requests = besidesWatchesAndLease(run.rest.requests);
    return {
      target: `at rest nothing but watches and the lease, ${kindOfRun(run)}`,
      figure: `${listed(requests)} in ${run.rest.seconds} s, ${run.n} clusters`,
      met: sum(requests) === 0,
    };
  });
}

function restart({ counted, restarts }: Results): Judged[] {
  const requests = counted.flatMap((run): Judged[] => {
    if (run.restart === undefined) return [];
    const others = Object.entries(besidesWatchesAndLease(run.restart)).filter(([name]) => !name.startsWith('list '));
    return [
      {
        target: `restart: lists and watches only, ${kindOfRun(run)}`,
        figure: `others: ${listed(Object.fromEntries(others))}`,
        met: others.length === 0,
      },
    ];
  });
  const all = [
    ...restarts.filter(({ n }) => n === 1000).map((run) => ({ run, of: 'without pods' })),
    ...counted.flatMap(({ restarted, live }) =>
      restarted?.n === 1000 && live ? [{ run: restarted, of: 'with live members (stand-in)' }] : [],
    ),
  ];
  const times = all.map(({ run, of }) => ({
    target: `restart: 1000 clusters seen in under 5 s, ${of}`,
    figure: `${round(run.seconds, 2)} s (lists complete after ${round(run.listedAfterSeconds, 2)} s)`,
    met: run.seconds < 5,
  }));
  return [...requests, ...times];
}

function cpu({ converged }: Results): Judged[] {
  return converged.flatMap(({ n, operatorCpuMs }) =>
    operatorCpuMs === undefined || n < 100
      ? []
      : [
          {
            target: `CPU of the operator at most 10 ms a cluster, n = ${n}`,
            figure: `${round(operatorCpuMs)} ms`,
            met: operatorCpuMs <= 10,
          },
        ],
  );
}

function speed({ converged, floors }: Results): Judged[] {
  const at = (n: number) => converged.find((run) => run.n === n);
  const [thousand, most] = [at(1000), converged.at(-1)];
  const ratios = [...converged].flatMap(({ n, seconds }): Judged[] => {
    const floor = floors.find((each) => each.n === n);
    if (floor === undefined || n < 1000) return [];
    const ratio = seconds / floor.seconds;
    return [
      {
        target: `time to the last child at most 1.25 of the floor, n = ${n}`,
        figure: `${round(ratio, 2)} (${round(seconds)} s, floor ${round(floor.seconds)} s)`,
        met: ratio <= 1.25,
      },
    ];
  });
  if (thousand === undefined || most === undefined || most === thousand) return ratios;
  const growth = most.seconds / most.n / (thousand.seconds / thousand.n);
  const [few, many] = [thousand, most].map(({ n }) => floors.find((each) => each.n === n));
  const floorGrowth =
    few === undefined || many === undefined ? undefined : many.seconds / many.n / (few.seconds / few.n);
  return [
    ...ratios,
    {
      target: `linear from 1000 to ${most.n}: time a cluster grows by at most a tenth, or as the floor's does`,
      figure: `factor ${round(growth, 2)}${floorGrowth === undefined ? '' : `, of the floor ${round(floorGrowth, 2)}`}`,
      met: growth <= 1.1 * Math.max(1, floorGrowth ?? 1),
    },
  ];
}

function memory({ converged }: Results): Judged[] {
  const hundred = converged.find(({ n }) => n === 100);
  return converged.flatMap(({ n, rssBytes }): Judged[] => {
    if (hundred?.rssBytes === undefined || rssBytes === undefined || n <= 100) return [];
    const each = (rssBytes - hundred.rssBytes) / (n - 100) / 1000;
    return [
      {
        target: `RSS at most 15 kB a cluster beyond the first hundred, n = ${n}`,
        figure: `${round(each)} kB (${round(rssBytes / 1e6)} MB, with 100: ${round(hundred.rssBytes / 1e6)} MB)`,
        met: each <= 15,
      },
    ];
  });
}

function delay({ churned, converged }: Results): Judged[] {
  const fastest = churned.find(({ ratePerSecond }) => ratePerSecond === 100);
  const queue =
    fastest?.queueP99 === undefined
      ? []
      : [
          {
            target: `p99 queue time at most 1 s at 100 changes a second over ${fastest.clusters} clusters`,
            figure: `${ms(fastest.queueP99)} at ${round(fastest.changesPerSecond)} changes a second`,
            met: fastest.queueP99 <= 1 && fastest.changesPerSecond >= 95,
          },
        ];
  const loops = [
    ...converged.filter(({ n }) => n >= 100).map((run) => ({ run, when: `while ${run.n} clusters are created` })),
    ...churned.map((run) => ({ run, when: `at ${run.ratePerSecond} changes a second` })),
  ];
  return [
    ...queue,
    ...loops.flatMap(({ run: { eventLoopP99 }, when }) =>
      eventLoopP99 === undefined
        ? []
        : [{ target: `event-loop delay p99 under 50 ms ${when}`, figure: ms(eventLoopP99), met: eventLoopP99 < 0.05 }],
    ),
  ];
}

export function judge(results: Results): Judged[] {
  return [requestsToConverge, rest, restart, cpu, speed, memory, delay].flatMap((targets) => targets(results));
}
