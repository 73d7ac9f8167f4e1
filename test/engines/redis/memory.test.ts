import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { maxmemoryWithin } from '../../../src/engines/redis/plan/memory.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../../src/engines/redis/status.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';

const limit = (memory: string, config: RedisSpecInput['config'] = {}): RedisSpecInput => ({
  resources: { limits: { memory } },
  config,
});
interface Container {
  readonly name: string;
  readonly resources?: { readonly limits: { readonly memory: string } };
}

function withContainers(
  pod: KubeObject,
  change: (containers: readonly Container[]) => readonly Container[],
): KubeObject {
  const spec = pod.spec as { readonly containers: readonly Container[] };
  return { ...pod, spec: { ...spec, containers: change(spec.containers) } };
}

const mebibytes = (amount: number): number => amount * 1024 ** 2;

/** What the servers are told, without the file and the template. */
function told(story: Story): readonly string[] {
  return planned(story).filter((line) => !line.startsWith('apply'));
}
const everybody = (words: string): string[] => [0, 1, 2].map((i) => `configure db-${i} ${words}`);

const halved =
  'maxmemory=322122547 maxmemory-clients=67108864 repl-backlog-size=16777216 client-output-buffer-limit=replica 67108864 33554432 60';

describe('a larger memory limit', () => {
  const raised: Story = { before: limit('512Mi'), spec: limit('1Gi') };

  it.each<PlanRow>([
    ['R10: is told to no server before its pod has it', raised, ['settled']],
    [
      'R10: nor while one pod has the smaller one: it would have to copy what the others hold',
      { ...raised, memory: { 'db-1': '1Gi', 'db-2': '1Gi' } },
      ['settled'],
    ],
    [
      'R10: and then to all of them',
      { before: limit('512Mi'), spec: limit('1Gi'), memory: { 'db-0': '1Gi', 'db-1': '1Gi', 'db-2': '1Gi' } },
      [
        ...everybody(
          'maxmemory=644245094 maxmemory-clients=134217728 repl-backlog-size=33554432 client-output-buffer-limit=replica 134217728 67108864 60',
        ),
        'settled',
      ],
    ],
    [
      'a pod that came with it is told what the others have',
      {
        ...raised,
        memory: { 'db-2': '1Gi' },
        nodes: {
          2: {
            settings: {
              maxmemory: '644245094',
              'client-output-buffer-limit': 'normal 0 0 0 slave 1 1 60 pubsub 1 1 60',
            },
          },
        },
      },
      ['configure db-2 maxmemory=322122547 client-output-buffer-limit=replica 67108864 33554432 60', 'settled'],
    ],
    [
      'R10: what the spec says itself waits, too, where a running pod has no room for it',
      { before: limit('512Mi', { maxmemory: '400mb' }), spec: limit('2Gi', { maxmemory: '1gb' }) },
      ['settled'],
    ],
    [
      'R10: a server that was told too much gets the share',
      {
        before: limit('512Mi', { maxmemory: '400mb' }),
        spec: limit('2Gi', { maxmemory: '1gb' }),
        nodes: { 0: { settings: { maxmemory: '1073741824' } } },
      },
      ['configure db-0 maxmemory=322122547', 'settled'],
    ],
    [
      'what every pod has room for is told at once',
      { before: limit('512Mi', { maxmemory: '300mb' }), spec: limit('512Mi', { maxmemory: '400mb' }) },
      [...everybody('maxmemory=419430400'), 'settled'],
    ],
  ])('%s', (_, story, plan) => expect(told(story)).toEqual(plan));
});

describe('whom a limit is taken from', () => {
  const grown: Story = {
    before: limit('512Mi'),
    spec: limit('1Gi'),
    memory: { 'db-0': '1Gi', 'db-1': '1Gi', 'db-2': '1Gi' },
  };
  const inEach = (change: (containers: readonly Container[]) => readonly Container[]): Story => ({
    ...grown,
    children: (all) => all.map((object) => (object.kind === 'Pod' ? withContainers(object, change) : object)),
  });
  const raised = planned(grown);

  it.each<readonly [string, Story]>([
    [
      'not a container that somebody has put beside the server',
      inEach((own) => [{ name: 'beside', resources: { limits: { memory: '64Mi' } } }, ...own]),
    ],
    ['not a server that has none', inEach((own) => own.map(({ name }) => ({ name })))],
  ])('%s', (_, story) => expect(planned(story)).toEqual(raised));
});

describe('R10: what a server is told of maxmemory, in bytes', () => {
  it.each<readonly [story: string, limit: number, wanted: string, actual: string | undefined, told: string]>([
    ['what the spec says, where there is room', 1000, '999', '500', '999'],
    ['a share where the spec says all of the limit', 1000, '1000', undefined, '600'],
    ['what it has, where there is no room yet', 1000, '2000', '999', '999'],
    ['a share where it has all of the limit', 1000, '2000', '1000', '600'],
    ['a share where it has no bound', 1000, '2000', '0', '600'],
  ])('%s', (_, limit, wanted, actual, told) => expect(maxmemoryWithin(limit, wanted, actual)).toBe(told));
});

describe('a smaller memory limit', () => {
  const lowered: Story = { before: limit('1Gi'), spec: limit('512Mi') };
  const holding = (amount: number): Story => ({ ...lowered, nodes: { 1: { usedMemory: mebibytes(amount) } } });

  it('R10: that the data fits into is told to the servers before any pod restarts with it', () => {
    expect(told(holding(307))).toEqual([...everybody(halved), 'settled']);
    expect(planned(holding(307))[1]).toMatch(/^apply StatefulSet db: .*limits\.memory 1Gi > 512Mi/);
    expect(told({ ...holding(307), pods: { 'db-2': 'outdated' } })).toEqual([
      ...everybody(halved),
      'delete Pod db-2',
      'wait Restarting',
    ]);
  });

  it.each<PlanRow>([
    ['R10: that it does not fit into changes nothing at all', holding(308), ['blocked MemoryLimitTooLow']],
    [
      'R10: the requests of the pods stay as well',
      {
        ...holding(308),
        before: { resources: { requests: { memory: '256Mi' }, limits: { memory: '1Gi' } } },
        spec: { resources: { requests: { memory: '128Mi' }, limits: { memory: '512Mi' } } },
      },
      ['blocked MemoryLimitTooLow'],
    ],
    [
      'R10: also where they are the limit',
      {
        ...holding(308),
        before: { resources: { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } } },
        spec: { resources: { requests: { memory: '512Mi' }, limits: { memory: '512Mi' } } },
      },
      ['blocked MemoryLimitTooLow'],
    ],
    [
      'and holds up nothing else',
      { ...holding(308), pods: { 'db-2': 'outdated' } },
      ['delete Pod db-2', 'wait Restarting'],
    ],
    [
      'nobody says yet what they hold: no pod is made with it meanwhile',
      { ...lowered, nodes: { all: 'silent' } },
      ['wait MembersStarting'],
    ],
    [
      'but where none of them runs: the larger one may be why',
      {
        ...lowered,
        nodes: { all: 'silent' },
        pods: { 'db-0': 'unschedulable', 'db-1': 'unschedulable', 'db-2': 'unschedulable' },
      },
      [
        expect.stringMatching(/^apply ConfigMap db-config/),
        expect.stringMatching(/^apply StatefulSet db/),
        'wait MembersStarting',
      ],
    ],
    [
      'the same one is no smaller one, however full the nodes are',
      { before: limit('512Mi'), spec: limit('0.5Gi'), nodes: { 0: { usedMemory: mebibytes(500) } } },
      ['settled'],
    ],
    [
      'a larger one is taken however full the nodes are',
      { before: limit('512Mi'), spec: limit('600Mi'), nodes: { 0: { usedMemory: mebibytes(500) } } },
      [expect.stringMatching(/^apply ConfigMap db-config/), expect.stringMatching(/^apply StatefulSet db/), 'settled'],
    ],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it('R10: fits where the data fills the whole share of it', () => {
    const full: Story = { ...lowered, spec: limit('500Mi'), nodes: { 1: { usedMemory: mebibytes(300) } } };
    expect(planned(full)).toContain('settled');
    expect(planned({ ...full, nodes: { 1: { usedMemory: mebibytes(300) + 1 } } })).toEqual([
      'blocked MemoryLimitTooLow',
    ]);
  });

  it('is refused in words, and the database is not called degraded for it', () => {
    const { cluster, children, observed } = redisWorld({
      ...holding(400),
      status: { phase: 'Ready', observedGeneration: 1, initialized: true },
    });
    const plan = planRedis(situationOf(cluster, children, observed));
    const { phase, conditions } = redisStatus(situationOf(cluster, children, observed), plan);
    const message =
      'resources.limits.memory 512Mi leaves too little for the data: db-1 uses 400Mi, which needs a limit of 667Mi; the pods keep 1Gi';
    expect([phase, plan.outcome]).toEqual([
      'Blocked',
      { state: 'blocked', reason: 'MemoryLimitTooLow', message, recheckMs: 30_000 },
    ]);
    expect(conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Ready=False',
      'Progressing=False',
      'Degraded=False',
      'Stalled=True',
    ]);
  });
});
