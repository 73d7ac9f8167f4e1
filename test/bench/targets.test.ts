import { describe, expect, it } from 'vitest';
import { report, verdict } from './report.ts';
import type { Counted, Results } from './results.ts';
import { judge } from './targets.ts';

const nothing: Results = {
  at: '2030-01-01T00:00:00Z',
  subject: 'clusterwright',
  machine: { cores: 2, processor: 'any', memoryGB: 8, kernel: '6', node: 'v20', loadBefore: 0 },
  childrenEach: 10,
  ceilings: [],
  floors: [],
  converged: [],
  restarts: [],
  churned: [],
  counted: [],
  synthesized: [],
  scheduled: [],
  rechecked: [],
  answered: [],
  seconds: 60,
};

const counted = (more: Partial<Counted>): Counted => ({
  n: 100,
  live: false,
  converge: { 'create services': 1000, 'update leases': 9, 'watch pods': 1 },
  rest: { seconds: 30, requests: { 'update leases': 15 } },
  ...more,
});

const run = (n: number, seconds: number, more: object = {}) => ({
  n,
  children: n * 10,
  seconds,
  objectsPerSecond: (n * 11) / seconds,
  ...more,
});

describe('a target', () => {
  it.each<readonly [story: string, found: Partial<Results>, target: RegExp, met: boolean]>([
    ['requests are few enough', { counted: [counted({})] }, /^requests to converge/, true],
    ['one too many', { counted: [counted({ converge: { 'create services': 1201 } })] }, /^requests to conv/, false],
    ['a single GET', { counted: [counted({ converge: { 'get secrets': 1 } })] }, /^requests to converge/, false],
    ['silence at rest', { counted: [counted({})] }, /^at rest/, true],
    [
      'a write at rest',
      { counted: [counted({ rest: { seconds: 30, requests: { 'patch pods': 1 } } })] },
      /^at rest/,
      false,
    ],
    [
      'lists on a restart',
      { counted: [counted({ restart: { 'list pods': 2, 'watch pods': 1 } })] },
      /^restart: li/,
      true,
    ],
    ['a GET on a restart', { counted: [counted({ restart: { 'get secrets': 1 } })] }, /^restart: lists/, false],
    ['slow to see all', { restarts: [{ n: 1000, seconds: 5.2, listedAfterSeconds: 1 }] }, /^restart: 1000/, false],
    ['CPU', { converged: [run(1000, 20, { operatorCpuMs: 10.2 })] }, /^CPU/, false],
    [
      'a quarter above the floor',
      {
        converged: [run(1000, 25)],
        floors: [{ n: 1000, children: 10_000, seconds: 20, objectsPerSecond: 550 }],
      },
      /^time to the last child/,
      true,
    ],
    ['slower and slower', { converged: [run(1000, 20), run(5000, 120)] }, /^linear/, false],
    ['as fast with many', { converged: [run(1000, 20), run(5000, 105)] }, /^linear/, true],
    [
      'memory beyond the first hundred',
      { converged: [run(100, 2, { rssBytes: 80e6 }), run(1100, 20, { rssBytes: 94e6 })] },
      /^RSS/,
      true,
    ],
    [
      'a queue that is waited in',
      { churned: [{ ratePerSecond: 100, changesPerSecond: 100, clusters: 2500, unobserved: 0, queueP99: 1.1 }] },
      /^p99 queue/,
      false,
    ],
    [
      'a rate that was not reached',
      { churned: [{ ratePerSecond: 100, changesPerSecond: 80, clusters: 2500, unobserved: 0, queueP99: 0.1 }] },
      /^p99 queue/,
      false,
    ],
    [
      'a loop that was blocked',
      {
        churned: [{ ratePerSecond: 50, changesPerSecond: 50, clusters: 2500, unobserved: 0, eventLoopP99: 0.06 }],
      },
      /^event-loop/,
      false,
    ],
  ])('is judged: %s', (_, found, target, met) => {
    const judged = judge({ ...nothing, ...found }).filter((each) => target.test(each.target));
    expect(judged.map((each) => each.met)).toEqual([met]);
  });

  it('of which nothing was measured is not claimed', () => {
    expect(judge(nothing)).toEqual([]);
    expect(verdict(nothing)).toBe('');
  });
});

it('the report names every phase and says what stands in for databases', () => {
  const text = report({
    ...nothing,
    ceilings: [{ inFlight: 8, createsPerSecond: 700, appliesPerSecond: 500 }],
    converged: [run(1000, 20)],
    floors: [{ n: 1000, children: 10_000, seconds: 20, objectsPerSecond: 550 }],
    counted: [counted({ live: true, restart: { 'get secrets': 100 } })],
    synthesized: [{ n: 1, seconds: 0.01, bytes: 120 }],
  });
  expect(text).toMatch(/1000 +20\.00 +20\.00 +1\.00 +550 +79 %/);
  expect(text).toMatch(/100 live +restart +get secrets +100/);
  expect(text).toMatch(/with live members \(stand-in\) .* MISSED/);
});
