import { describe, expect, it } from 'vitest';
import { switchover } from '../../../src/engines/redis/act/switchover.ts';
import { RedisError } from '../../../src/engines/redis/client/resp.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { switchoverStep } from '../../../src/engines/redis/plan/switchover-step.ts';
import { actionWords, type PlanRow, planned } from '../../support/plan-words.ts';
import { nodeAddress, redisCluster, redisWorld, type Story } from '../../support/redis-situation.ts';
import {
  type Answer,
  flat,
  hang,
  hangUp,
  info,
  type Process,
  scriptedNetwork,
  settle,
  slowly,
} from '../../support/scripted-redis.ts';

const due = { pods: { 'db-0': 'outdated' } } as const;

describe('a planned hand-over', () => {
  it.each<PlanRow>([
    [
      'waits for every replica in sync: any of them may be elected',
      due,
      ['hand over db-0 -> db-1|db-2 by db-sentinel-0', 'wait HandingOver'],
    ],
    [
      'asks a sentinel that watches the primary',
      { ...due, spec: { replicas: 2 } },
      ['hand over db-0 -> db-1 by db-sentinel-0', 'wait HandingOver'],
    ],
    ['R7: is not begun while a replica lags', { ...due, nodes: { 1: { linkUp: false } } }, ['wait MembersNotReady']],
    [
      'R7: nor while the primary does not count it',
      { ...due, nodes: { 0: { replicas: [nodeAddress(2)] } } },
      ['wait MembersNotReady'],
    ],
    ['is not begun while a sentinel is away', { ...due, sentinels: { 1: 'silent' } }, ['wait MembersNotReady']],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
});

/** The step by itself, whatever else the plan looks at. */
function step(story: Story): string | undefined {
  const { cluster, children, observed } = redisWorld(story);
  const situation = situationOf(cluster, children, observed);
  const { primary } = situation.topology;
  if (primary === undefined) throw new Error('the story has no primary');
  const found = switchoverStep(situation, primary, 'why');
  return found === undefined ? undefined : actionWords(found.action);
}

describe('R7: a hand-over is asked for', () => {
  it.each<readonly [story: string, situation: Story, step: string | undefined]>([
    [
      'of the replicas in sync',
      { nodes: { 0: { replicas: [nodeAddress(2)] } } },
      'hand over db-0 -> db-2 by db-sentinel-0',
    ],
    [
      'by a sentinel that watches this primary',
      { sentinels: { 0: { primary: nodeAddress(1), epoch: 0 } } },
      'hand over db-0 -> db-1|db-2 by db-sentinel-1',
    ],
    ['not where no replica is in sync', { nodes: { 0: { replicas: [] } } }, undefined],
    ['not where no sentinel watches the primary', { sentinels: { all: 'forgot' } }, undefined],
  ])('%s', (_, story, expected) => expect(step(story)).toBe(expected));
});

interface Script {
  /** Offsets that the two replicas report, one look after the other; the last one stays. */
  readonly offsets?: readonly (readonly [number, number])[];
  readonly failover?: Answer;
  /** Milliseconds since the replicas told the sentinel anything, one look after the other; the last one stays. */
  readonly refresh?: readonly number[];
  readonly isTilted?: boolean;
  /** Whom the sentinel names when the hand-over begins. Default `p`. */
  readonly view?: string;
  /** What the sentinel says of the primary afterwards. */
  readonly sentinel?: Readonly<Record<string, string>>;
  /** Looks at the roles before db-2 says that it is primary. */
  readonly promotedAfter?: number;
  readonly replicaRole?: Answer;
  /** Questions for the role that end with the connection, as while a node is promoted. */
  readonly dropsBefore?: number;
  /** Time that a replica takes for each answer. */
  readonly latencyMs?: number;
  readonly downAfter?: string;
}

/** Runs a hand-over from `p` (offset 100) to `r1`, `r2`. */
async function run(script: Script = {}) {
  const { offsets = [[100, 100]], failover = 'OK', promotedAfter = 0, replicaRole, latencyMs = 0 } = script;
  let drops = script.dropsBefore ?? 0;
  const looks = { offsets: [0, 0] as [number, number], roles: 0, refresh: 0 };
  const { refresh = [-1], view = 'p' } = script;
  const sentinel: Process = (command) => {
    if (command.startsWith('INFO')) return info({ sentinel_tilt: script.isTilted === true ? 1 : 0 });
    if (command.startsWith('SENTINEL DEBUG')) return 'OK';
    if (command.startsWith('SENTINEL MASTER')) return flat(script.sentinel ?? {});
    if (command.startsWith('SENTINEL GET-MASTER')) return [view, '6379'];
    if (!command.startsWith('SENTINEL REPLICAS')) return failover;
    const agoMs = refresh[Math.min(looks.refresh++, refresh.length - 1)];
    return [
      flat({ name: 'r1', flags: 'slave', 'info-refresh': String(agoMs) }),
      flat({ name: 'r3', flags: 's_down,slave', 'info-refresh': '9999' }),
    ];
  };
  const replica =
    (index: 0 | 1): Process =>
    (command) => {
      if (command === 'ROLE') {
        if (replicaRole !== undefined) return replicaRole;
        if (drops-- > 0) return hangUp;
        return [index === 1 && looks.roles++ >= promotedAfter ? 'master' : 'slave'];
      }
      const look = offsets[Math.min(looks.offsets[index]++, offsets.length - 1)];
      return slowly(latencyMs, info({ slave_repl_offset: look?.[index] ?? 0 }));
    };
  const network = scriptedNetwork({
    processes: {
      'p:6379': (command) => (command === 'INFO replication' ? info({ master_repl_offset: 100 }) : 'OK'),
      'r1:6379': replica(0),
      'r2:6379': replica(1),
      's:26379': sentinel,
    },
  });
  const action = {
    type: 'redis.handOver',
    primary: { pod: 'db-0', address: 'p' },
    replicas: [
      { pod: 'db-1', address: 'r1' },
      { pod: 'db-2', address: 'r2' },
    ],
    sentinel: { pod: 'db-sentinel-0', address: 's' },
  } as const;
  const { downAfter = '3s' } = script;
  const cluster = redisCluster({ sentinel: { downAfter } });
  const result = await settle(network.clock, switchover(action, cluster, { password: 'pw' }, network.io));
  const outcome = result.status === 'fulfilled' ? 'done' : (result.reason as Error).message;
  /** What changes anything. */
  const told = network.asked.filter((line) => !/INFO|ROLE|SENTINEL (MASTER|GET-MASTER|REPLICAS)/.test(line));
  return { outcome, told, ms: network.clock.monotonic(), open: network.open(), waits: network.clock.pending };
}

const firstPause = 'p:6379 CLIENT PAUSE 4000 WRITE';
const pause = 'p:6379 CLIENT PAUSE 20000 WRITE';
const ask = 's:26379 SENTINEL FAILOVER db';
const resume = 'p:6379 CLIENT UNPAUSE';

describe('a hand-over', () => {
  it('R7: pauses writes, asks Sentinel, follows whom it promoted, and ends the pause', async () => {
    expect(await run()).toMatchObject({
      outcome: 'done',
      told: [firstPause, pause, ask, 'p:6379 REPLICAOF r2 6379', resume],
      open: 0,
      waits: [],
    });
  });

  it('R7: has Sentinel ask the replicas first: it elects by what it heard last', async () => {
    expect(await run({ refresh: [1500, 1500, 10] })).toMatchObject({ outcome: 'done', ms: 50 });
    expect(await run({ refresh: [9999] })).toMatchObject({
      outcome: 'Sentinel did not hear from every replica within 1000 ms; the primary stays',
      told: [firstPause, pause, resume],
    });
  });

  it('R7: asks no sentinel that acts on nothing, and pauses nothing for it', async () => {
    expect(await run({ isTilted: true })).toMatchObject({
      outcome: 'db-sentinel-0 is in TILT mode and acts on nothing; the primary stays',
      told: [],
    });
  });

  it('R7: asks no sentinel that watches another since: writes there are not paused', async () => {
    expect(await run({ view: 'r1' })).toMatchObject({
      outcome: 'db-sentinel-0 names r1, not db-0',
      told: [],
    });
  });

  it('R7: asks nobody before every replica has what the primary had at the pause', async () => {
    const late = await run({
      offsets: [
        [100, 10],
        [100, 99],
        [100, 100],
      ],
    });
    expect(late).toMatchObject({ outcome: 'done', ms: 50 });
  });

  it('gives up when a replica does not catch up within two seconds, and the primary stays', async () => {
    expect(await run({ offsets: [[100, 99]] })).toMatchObject({
      outcome: 'the replicas did not catch up within 2000 ms; the primary stays',
      told: [firstPause, resume],
      open: 0,
    });
  });

  it('R7: asks nobody when other sentinels may take the paused primary for down by now: two failovers would meet', async () => {
    const late = { refresh: [...Array(30).fill(9999), 10], downAfter: '1s' };
    expect(await run(late)).toMatchObject({
      outcome:
        'writes have been paused for more than 500 ms, and other sentinels may take the primary for down; it stays',
      told: [firstPause, pause, resume],
    });
    expect(await run({ ...late, downAfter: '3s' })).toMatchObject({ outcome: 'done' });
  });

  it('goes on with a failover that somebody else has asked for', async () => {
    const answer = new RedisError('INPROG Failover already in progress');
    expect(await run({ failover: answer, promotedAfter: 3 })).toMatchObject({ outcome: 'done' });
  });

  it('ends the pause when the sentinel refuses: then nothing happens', async () => {
    const failover = new RedisError('NOGOODSLAVE No suitable replica to promote');
    expect(await run({ failover })).toMatchObject({
      outcome: expect.stringMatching(/^NOGOODSLAVE/),
      told: [firstPause, pause, ask, resume],
    });
  });

  it.each<readonly [story: string, answer: Answer]>([
    ['is silent', hang],
    ['hangs up', hangUp],
  ])('R7: does not end the pause when the sentinel %s: it may have begun', async (_, failover) => {
    expect(await run({ failover })).toMatchObject({
      outcome: 'Sentinel did not say whether it fails over',
      told: [firstPause, pause, ask],
      open: 0,
    });
  });

  it('R7: does not end the pause when no promoted node shows: it may yet', async () => {
    expect(await run({ replicaRole: ['slave'] })).toMatchObject({
      outcome: 'Sentinel promoted nobody within 8000 ms; it will end the failover by itself',
      told: [firstPause, pause, ask],
      open: 0,
    });
  });

  it('ends the pause where Sentinel has given up: nobody will be promoted', async () => {
    expect(await run({ replicaRole: ['slave'], sentinel: { ip: 'p', flags: 'master' } })).toMatchObject({
      outcome: expect.stringMatching(/promoted nobody/),
      told: [firstPause, pause, ask, resume],
    });
  });

  it.each([
    ['is at it', { ip: 'p', flags: 'master,failover_in_progress' }],
    ['has been asked by force', { ip: 'p', flags: 'master,force_failover' }],
    ['names another', { ip: 'r1', flags: 'master' }],
  ])('R7: does not end the pause where Sentinel %s', async (_, sentinel) => {
    expect((await run({ replicaRole: ['slave'], sentinel })).told).toEqual([firstPause, pause, ask]);
  });

  it('R7: looks again under the long pause: the short one may have ended before it began', async () => {
    const { outcome, told } = await run({
      offsets: [
        [100, 100],
        [100, 99],
      ],
    });
    expect([outcome, told]).toEqual([expect.stringMatching(/did not catch up/), [firstPause, pause, resume]]);
  });

  it('R7: finds the promoted node although Sentinel closes all connections to it', async () => {
    expect(await run({ dropsBefore: 3 })).toMatchObject({
      outcome: 'done',
      told: [firstPause, pause, ask, 'p:6379 REPLICAOF r2 6379', resume],
    });
  });

  it('R7: asks nobody once the pause may be over, however slowly the replicas answer', async () => {
    const slow = await run({
      latencyMs: 900,
      offsets: [...Array.from({ length: 12 }, () => [1, 1] as const), [100, 100]],
    });
    expect(slow).toMatchObject({ outcome: expect.stringMatching(/did not catch up/), told: [firstPause, resume] });
    expect(slow.ms).toBeLessThan(4000);
  });

  it('never outlasts its pause', async () => {
    const slowest = await run({ latencyMs: 400, replicaRole: slowly(900, ['slave']) });
    expect(slowest.outcome).toMatch(/promoted nobody/);
    expect(slowest.ms).toBeLessThan(20_000);
  });
});
