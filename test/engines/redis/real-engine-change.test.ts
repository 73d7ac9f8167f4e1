/**
 * From Redis 7.0 to Valkey 8.1 to 9.1 while somebody writes, in the operator's order and with its own switchover: sentinels one
 * by one, then the replicas, then the primary after it has handed over. Beside it, sentinels of one engine fail over to nodes
 * of the other.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { actRedis } from '../../../src/engines/redis/act/act.ts';
import { info, inSync, pairsOf } from '../../faults/redis/conformance/conversation.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import { password, type Stage, watched } from '../../faults/redis/conformance/stage.ts';
import { handedOver } from '../../support/handed-over.ts';
import { realContext } from '../../support/real-context.ts';
import { serverProgram } from '../../support/redis-program.ts';
import { redisCluster } from '../../support/redis-situation.ts';

const nodes = ['n1', 'n2', 'n3'];
const sentinels = ['s1', 's2', 's3'];
const io = realContext({ 'db-auth': { password } });
const cluster = redisCluster({ replicas: 3 });
/** An election that nobody has won is repeated after twice the second time; unless it is set, that is six minutes. */
const patience = ['down-after-milliseconds', '3000', 'failover-timeout', '10000'];

const [before, between, after] = ['Redis 7.0', 'Valkey 8.1', 'Valkey 9.1'].map(serverProgram);

async function primaryOf(stage: Stage): Promise<string> {
  for (const node of nodes) {
    const role = await stage.ask(node, 'ROLE').catch(() => []);
    if (Array.isArray(role) && role[0] === 'master') return node;
  }
  throw new Error('nobody is primary');
}

async function watching(stage: Stage, primary: string): Promise<void> {
  await stage.until(`all sentinels know all, and watch ${primary}`, async () => {
    const rows = await Promise.all(sentinels.map((each) => stage.ask(each, 'SENTINEL', 'MASTER', watched)));
    return rows
      .map(pairsOf)
      .every(
        (row) =>
          row.ip === primary &&
          row.flags === 'master' &&
          row['num-slaves'] === '2' &&
          row['num-other-sentinels'] === '2',
      );
  });
}

async function form(stage: Stage): Promise<void> {
  await Promise.all([...nodes, ...sentinels].map((member) => stage.start(member)));
  for (const node of ['n2', 'n3']) await stage.ask(node, 'REPLICAOF', stage.address('n1'), '6379');
  for (const node of ['n2', 'n3']) await inSync(stage, node, 'n1');
  for (const each of sentinels) {
    await stage.ask(each, 'SENTINEL', 'MONITOR', watched, stage.address('n1'), '6379', '2');
    await stage.ask(each, 'SENTINEL', 'SET', watched, 'auth-pass', password, ...patience);
    await stage.ask(each, 'SENTINEL', 'DEBUG', 'INFO-PERIOD', '500');
  }
  await watching(stage, 'n1');
}

/** Writes until it is told to stop; what a replica has acknowledged counts. */
function writer(stage: Stage) {
  const acknowledged: string[] = [];
  let isDone = false;
  const ended = (async () => {
    for (let i = 0; !isDone; i++) {
      try {
        const talk = await stage.open(await primaryOf(stage));
        for (; !isDone; i++) {
          const set = await talk.say('SET', `key${i}`, String(i));
          if (set !== 'OK') break;
          if (Number(await talk.say('WAIT', '1', '1000')) >= 1) acknowledged.push(`key${i}`);
        }
        talk.close();
      } catch {
        // Nobody is primary just now.
      }
    }
  })();
  return {
    acknowledged,
    async stop(): Promise<void> {
      isDone = true;
      await ended;
    },
  };
}

describe.skipIf(before === undefined || between === undefined || after === undefined)('a cluster of Redis 7.0', () => {
  let stage: Stage | undefined;
  afterEach(async () => stage?.close());

  it('becomes one of Valkey 8.1, and then of 9.1, and loses no acknowledged write', async () => {
    const programs = new Map([...nodes, ...sentinels].map((member) => [member, before]));
    const at = await realStage((member) => programs.get(member)?.server ?? ['redis-server']);
    stage = at;
    await form(at);
    const writes = writer(at);

    for (const program of [between, after]) {
      const again = async (member: string, conf: readonly string[] = []): Promise<void> => {
        await at.terminate(member);
        programs.set(member, program);
        await at.start(member, conf);
      };
      const primary = await primaryOf(at);
      const others = nodes.filter((node) => node !== primary);
      for (const each of sentinels) {
        await again(each);
        await at.ask(each, 'SENTINEL', 'DEBUG', 'INFO-PERIOD', '500');
        await watching(at, primary);
      }
      const replicaOf = (node: string): string[] => [`replicaof ${at.address(node)} 6379`];
      for (const node of others) {
        await again(node, replicaOf(primary));
        await at.until('it has its link', async () => (await info(at, node)).master_link_status === 'up');
        await watching(at, primary);
      }
      const member = (name: string) => ({ pod: name, address: at.address(name) });
      const [sentinel = ''] = sentinels;
      const handOver = {
        type: 'redis.handOver',
        primary: member(primary),
        replicas: others.map(member),
        sentinel: member(sentinel),
      } as const;
      await handedOver(() => actRedis(handOver, cluster, io));
      const next = await primaryOf(at);
      expect(next).not.toBe(primary);
      await again(primary, replicaOf(next));
      await watching(at, next);
      const told = await info(at, next, 'server');
      expect(told.valkey_version).toMatch(new RegExp(`^${program?.version}\\.`));
    }

    await writes.stop();
    const { acknowledged } = writes;
    expect(acknowledged.length).toBeGreaterThan(100);
    const last = await primaryOf(at);
    // Some at a time: the arguments of one call have to fit on the stack.
    const lost: string[] = [];
    for (let from = 0; from < acknowledged.length; from += 1000) {
      const some = acknowledged.slice(from, from + 1000);
      const values = (await at.ask(last, 'MGET', ...some)) as readonly (string | null)[];
      lost.push(...some.filter((_, i) => values[i] === null));
    }
    expect(lost).toEqual([]);
    for (const node of nodes.filter((each) => each !== last)) await inSync(at, node, last);
  });

  it('fails over to a node of Valkey, with sentinels of both engines', async () => {
    const valkey = new Set(['n2', 's2', 's3']);
    const at = await realStage((member) => (valkey.has(member) ? between : before)?.server ?? ['redis-server']);
    stage = at;
    await form(at);
    await at.ask('n3', 'CONFIG', 'SET', 'replica-priority', '0');
    await at.until('the sentinels know', async () => {
      const rows = await Promise.all(sentinels.map((each) => at.ask(each, 'SENTINEL', 'REPLICAS', watched)));
      return rows.every(
        (each) => Array.isArray(each) && each.map(pairsOf).some((row) => row['slave-priority'] === '0'),
      );
    });
    await at.ask('n1', 'SET', 'a', '1');
    await at.ask('n1', 'WAIT', '2', '1000');
    await at.kill('n1');
    await at.until('n2 is primary', async () => (await info(at, 'n2')).role === 'master');
    expect(await at.ask('n2', 'GET', 'a')).toBe('1');
    // It goes on from where it was, though it could not read a copy.
    await inSync(at, 'n3', 'n2');
    await at.ask('n2', 'SET', 'b', '2');
    expect(await at.ask('n2', 'WAIT', '1', '1000')).toBe(1);
    expect(await at.ask('n3', 'GET', 'b')).toBe('2');
  });
});
