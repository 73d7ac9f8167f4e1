/** A run as text: what was measured, and which targets it meets. */
import { tableText } from '../../src/cli/table.ts';
import type { Results } from './results.ts';
import { judge } from './targets.ts';

const number = (value: number | undefined, digits = 1): string => (value === undefined ? '-' : value.toFixed(digits));
const milliseconds = (seconds: number | undefined): string =>
  seconds === undefined ? '-' : number(seconds * 1000, seconds < 0.01 ? 1 : 0);
const megabytes = (bytes: number | undefined): string => (bytes === undefined ? '-' : number(bytes / 1e6));

/** Objects a second that the server takes at most. */
export function highestCeiling({ ceilings }: Results): number | undefined {
  return ceilings.length === 0 ? undefined : Math.max(...ceilings.map((each) => each.createsPerSecond));
}

function section(title: string, headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : `\n${title}\n${tableText(headings, rows, '  ')}`;
}

function speed(results: Results): string {
  const ceiling = highestCeiling(results);
  const share = (rate: number): string => (ceiling === undefined ? '-' : `${number((rate / ceiling) * 100, 0)} %`);
  return section(
    'Created at full speed: time to the last child',
    ['n', 'seconds', 'floor', 'ratio', 'objects/s', 'of the ceiling', 'operator ms', 'server ms', 'RSS MB', 'heap MB'],
    results.converged.map((run) => {
      const floor = results.floors.find(({ n }) => n === run.n);
      return [
        String(run.n),
        number(run.seconds, 2),
        number(floor?.seconds, 2),
        floor === undefined ? '-' : number(run.seconds / floor.seconds, 2),
        number(run.objectsPerSecond, 0),
        share(run.objectsPerSecond),
        number(run.operatorCpuMs),
        number(run.serverCpuMs),
        megabytes(run.rssBytes),
        megabytes(run.heapBytes),
      ];
    }),
  );
}

function ceilings({ ceilings: found }: Results): string {
  return section(
    'The raw ceiling, objects a second',
    ['in flight', 'creates', 'applies'],
    found.map((each) => [String(each.inFlight), number(each.createsPerSecond, 0), number(each.appliesPerSecond, 0)]),
  );
}

function requests({ counted }: Results): string {
  const rows = counted.flatMap((run) => {
    const phases: (readonly [string, Readonly<Record<string, number>>, number])[] = [
      [run.live ? 'pods join' : 'converge', run.converge, run.n],
      [`rest, ${run.rest.seconds} s`, run.rest.requests, 1],
      ...(run.restart === undefined ? [] : [['restart', run.restart, 1] as const]),
    ];
    return phases.flatMap(([phase, counts, per]) =>
      Object.entries(counts)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([request, count]) => [
          run.live ? `${run.n} live` : String(run.n),
          phase,
          request,
          String(count),
          per === 1 ? '' : number(count / per, 2),
        ]),
    );
  });
  return section('Requests, by the audit log', ['clusters', 'phase', 'request', 'count', 'a cluster'], rows);
}

function churn({ churned }: Results): string {
  return section(
    'Specs change',
    [
      'asked/s',
      'sent/s',
      'clusters',
      'queue p50 ms',
      'p99',
      'observed p50 ms',
      'p99',
      'unobserved',
      'loop p99 ms',
      'CPU ms',
    ],
    churned.map((run) => [
      String(run.ratePerSecond),
      number(run.changesPerSecond),
      String(run.clusters),
      milliseconds(run.queueP50),
      milliseconds(run.queueP99),
      milliseconds(run.observedP50),
      milliseconds(run.observedP99),
      String(run.unobserved),
      milliseconds(run.eventLoopP99),
      number(run.operatorCpuMsPerChange),
    ]),
  );
}

function restarts({ restarts: found, counted }: Results): string {
  const live = counted.flatMap((run) => (run.restarted === undefined ? [] : [{ ...run.restarted, live: run.live }]));
  return section(
    'Restart: until all is listed, each looked at, and the queue empty',
    ['n', 'listed s', 'seen s', 'CPU ms a cluster', 'RSS MB'],
    [...found.map((run) => ({ ...run, live: false })), ...live].map((run) => [
      run.live ? `${run.n} live` : String(run.n),
      number(run.listedAfterSeconds, 2),
      number(run.seconds, 2),
      number(run.cpuMs),
      megabytes(run.rssBytes),
    ]),
  );
}

function synth({ synthesized }: Results): string {
  return section(
    'Synth',
    ['clusters', 'seconds', 'kB'],
    synthesized.map(({ n, seconds, bytes }) => [String(n), number(seconds, 3), number(bytes / 1000)]),
  );
}

function schedules({ scheduled }: Results): string {
  return section(
    'Clusters with a schedule each',
    ['clusters', 'complete view, CPU s', 'one more, CPU ms'],
    scheduled.map(({ n, listCpuSeconds, addedCpuMs }) => [String(n), number(listCpuSeconds, 2), number(addedCpuMs, 2)]),
  );
}

function rechecks({ rechecked }: Results): string {
  return section(
    'Failovers while clusters with a dead node are looked at every second, on virtual time',
    ['clusters', 'failover waits, median ms', 'longest', 'recheck waits at most, s'],
    rechecked.map(({ n, failoverMs, recheckMs }) => [
      String(n),
      number(failoverMs.median),
      number(failoverMs.longest),
      number(recheckMs / 1000, 1),
    ]),
  );
}

function answers({ answered }: Results): string {
  return section(
    'Clusters that answer with as much as is read',
    ['clusters', 'of them hostile', 'RSS before, MB', 'largest RSS, MB', 'lived for s'],
    answered.map(({ n, hostile, quietRssBytes, largestRssBytes, seconds }) => [
      String(n),
      String(hostile),
      number(quietRssBytes / 1e6),
      number(largestRssBytes / 1e6),
      number(seconds),
    ]),
  );
}

/** One line for each target; empty where nothing was measured that a target is about. */
export function verdict(results: Results): string {
  return section(
    'Targets',
    ['target', 'figure', ''],
    judge(results).map(({ target, figure, met }) => [target, figure, met ? 'met' : 'MISSED']),
  );
}

export function report(results: Results): string {
  const { machine, subject, at, seconds } = results;
  const head =
    `${subject}, ${at}, ${number(seconds / 60)} min\n` +
    `${machine.cores} cores (${machine.processor}), ${machine.memoryGB} GB, Linux ${machine.kernel}, ` +
    `Node ${machine.node}, load ${number(machine.loadBefore, 2)} before\n`;
  const parts = [ceilings, speed, restarts, churn, requests, synth, schedules, rechecks, answers, verdict];
  return head + parts.map((part) => part(results)).join('');
}
