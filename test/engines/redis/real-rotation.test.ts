/**
 * Another password on real servers that run, by the operator's own eyes, plans and actions, while clients log in with both all the time. The
 * cluster is older than its identity: its sentinels meet each other with the password of the clients until they are told otherwise.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import { mergeConditions } from '../../../src/api/condition.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import { actRedis } from '../../../src/engines/redis/act/act.ts';
import type { RedisSpec } from '../../../src/engines/redis/kind/schema.ts';
import { observeRedis } from '../../../src/engines/redis/observe/observe.ts';
import { answering } from '../../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../../src/engines/redis/status.ts';
import { follow } from '../../faults/redis/conformance/conversation.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import { ended, password as old, type Stage, watched } from '../../faults/redis/conformance/stage.ts';
import { realContext } from '../../support/real-context.ts';
import { type ServerProgram, serverPrograms } from '../../support/redis-program.ts';
import { nodeAddress, redisWorld, sentinelAddress } from '../../support/redis-situation.ts';

const nodes = ['n1', 'n2', 'n3'];
const sentinels = ['s1', 's2', 's3'];
const all = [...nodes, ...sentinels];
const next = 'n"ext \\one';
const own = 'pAsSwOrDoFtHeClUsTeR';
const overlapMs = 120_000;

/** The operator, pass by pass, with a Secret and a clock that the test sets. */
class Operator {
  secret: Readonly<Record<string, string>> = { password: old };
  now = Date.parse('2030-01-01T00:00:00Z');
  readonly told: string[] = [];
  readonly #stage: Stage;
  readonly #server: Pick<ServerProgram, 'engine' | 'version'>;
  #status: Cluster<RedisSpec>['status'];

  constructor(stage: Stage, { engine, version }: ServerProgram) {
    this.#stage = stage;
    this.#server = { engine, version };
  }

  get overlap(): string | undefined {
    return this.#status?.conditions?.find(({ type }) => type === 'PasswordOverlap')?.reason;
  }

  get #io(): EngineContext {
    const secret: EngineContext['secret'] = async (name) => (name === 'db-auth' ? this.secret : { password: own });
    return { ...realContext({}), now: () => this.now, secret, secretNow: secret };
  }

  /** Pods at the addresses of the stage; labels are nobody's concern here. */
  #world(): ReturnType<typeof redisWorld> {
    const places = new Map([
      ...nodes.map((member, i) => [nodeAddress(i), this.#stage.address(member)] as const),
      ...sentinels.map((member, i) => [sentinelAddress(i), this.#stage.address(member)] as const),
    ]);
    const moved = (object: KubeObject): KubeObject => {
      const { podIP, ...status } = (object.status ?? {}) as { podIP?: string };
      return podIP === undefined ? object : { ...object, status: { ...status, podIP: places.get(podIP) } };
    };
    const spec = { ...this.#server, replicas: 3, auth: { overlap: '2m' } } as const;
    const status = this.#status === undefined ? {} : { status: this.#status };
    return redisWorld({ spec, older: true, children: (objects) => objects.map(moved), ...status });
  }

  /** How many actions it took. */
  async pass(): Promise<number> {
    const { cluster, children } = this.#world();
    const situation = situationOf(cluster, children, await observeRedis(cluster, children, this.#io));
    const plan = planRedis(situation);
    const { conditions } = redisStatus(situation, plan);
    const acts = plan.steps.flatMap((step) => (step.type === 'act' ? [step] : []));
    for (const { action, summary } of acts) {
      this.told.push(summary);
      await actRedis(action, cluster, this.#io);
    }
    const before = this.#status?.conditions ?? [];
    const at = new Date(this.now).toISOString();
    this.#status = { initialized: true, conditions: mergeConditions(before, conditions, 1, at) } as never;
    const { observed } = situation;
    const whole = [...answering(observed.data), ...answering(observed.sentinels)];
    return whole.length < all.length || whole.some(({ lacks }) => lacks !== undefined) ? acts.length + 1 : acts.length;
  }

  async untilIdle(): Promise<void> {
    for (let pass = 0; pass < 60; pass++) {
      if ((await this.pass()) === 0 && (await this.pass()) === 0) return;
      await delay(200);
    }
    throw new Error(`it never ends: ${this.told.join('; ')}`);
  }
}

/** Logs in to every process again and again, as clients do that connect anew. */
class Clients {
  readonly refusals: string[] = [];
  logins = 0;
  readonly #stage: Stage;
  readonly #rounds: Promise<void>[] = [];
  #hasEnded = false;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** `isDue`: whether a refusal counts now. */
  begin(name: string, password: string, isDue: () => boolean): void {
    for (const member of all) this.#rounds.push(this.#round(`${name} at ${member}`, member, password, isDue));
  }

  async #round(name: string, member: string, password: string, isDue: () => boolean): Promise<void> {
    while (!this.#hasEnded) {
      const wasDue = isDue();
      try {
        const talk = await this.#stage.open(member, false);
        const [login, answer] = [await talk.say('AUTH', password), await talk.say('PING')];
        talk.close();
        this.logins++;
        // This test ends connections, too, and that may be between any two words.
        const isRefused = (login !== 'OK' && login !== ended) || (answer !== 'PONG' && answer !== ended);
        if (wasDue && isDue() && isRefused) this.refusals.push(`${name}: ${login}, ${answer}`);
      } catch {
        // Its process is away.
      }
      await delay(20);
    }
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    await Promise.all(this.#rounds);
  }
}

const runIds = (stage: Stage, login: string): Promise<unknown[]> =>
  Promise.all(
    nodes.map(async (member) => {
      const talk = await stage.open(member, false);
      await talk.say('AUTH', login);
      const text = String(await talk.say('INFO', 'server'));
      talk.close();
      return /run_id:(\w+)/.exec(text)?.[1];
    }),
  );

const answers = (stage: Stage, password: string): Promise<unknown[]> =>
  Promise.all(
    all.map(async (member) => {
      const talk = await stage.open(member, false);
      const answer = String(await talk.say('AUTH', password)).slice(0, 10);
      talk.close();
      return answer;
    }),
  );

async function asOwn(stage: Stage, member: string, ...args: readonly string[]): Promise<string> {
  const talk = await stage.open(member, false);
  await talk.say('AUTH', 'clusterwright/apps/db', own);
  const reply = await talk.say(...args);
  talk.close();
  return JSON.stringify(reply);
}

async function runningCluster(stage: Stage): Promise<void> {
  await Promise.all(all.map((member) => stage.start(member)));
  for (const replica of ['n2', 'n3']) await follow(stage, replica, 'n1');
  for (const sentinel of sentinels) {
    await stage.ask(sentinel, 'SENTINEL', 'MONITOR', watched, stage.address('n1'), '6379', '2');
    await stage.ask(sentinel, 'SENTINEL', 'SET', watched, 'auth-pass', old, 'down-after-milliseconds', '3000');
  }
}

const knownToAll = (stage: Stage, primary: string): Promise<unknown> =>
  stage.until('every sentinel knows everybody', async () => {
    const rows = await Promise.all(sentinels.map((s) => asOwn(stage, s, 'SENTINEL', 'MASTER', watched)));
    const wanted = [`"ip","${primary}"`, '"flags","master"', '"num-slaves","2"', '"num-other-sentinels","2"'];
    return rows.every((row) => wanted.every((part) => row.includes(part)));
  });

describe.skipIf(serverPrograms.length === 0)('the password of a cluster of real servers', () => {
  let stage: Stage | undefined;
  afterEach(async () => stage?.close());

  it.each([...serverPrograms])(
    '$name: it changes while they run, and no login with either is refused meanwhile',
    async (program) => {
      stage = await realStage(() => program.server);
      const at = stage;
      await runningCluster(at);
      const operator = new Operator(at, program);
      const clients = new Clients(at);
      await operator.untilIdle();
      await knownToAll(at, 'n1');
      expect(operator.told.filter((line) => line.includes('meet'))).toHaveLength(3);
      const before = await runIds(at, old);

      let mayOldBeRefused = false;
      clients.begin('old', old, () => !mayOldBeRefused);
      clients.begin('next', next, () => operator.overlap !== undefined);
      operator.told.length = 0;
      operator.secret = { password: next };
      await operator.untilIdle();
      expect([operator.overlap, operator.told.length]).toEqual(['FormerPasswordAccepted', all.length]);
      // Everybody who is connected is sent away, and comes back.
      for (const member of all) await asOwn(at, member, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      for (const member of nodes) await asOwn(at, member, 'CLIENT', 'KILL', 'TYPE', 'replica');
      await delay(3_000);
      operator.now += overlapMs - 1000;
      await operator.untilIdle();
      await knownToAll(at, 'n1');
      expect(clients.refusals).toEqual([]);
      expect(await answers(at, old)).toEqual(Array(6).fill('OK'));

      mayOldBeRefused = true;
      operator.told.length = 0;
      operator.now += 1000;
      await operator.untilIdle();
      expect([operator.overlap, operator.told.length]).toEqual([undefined, all.length]);
      expect(await answers(at, old)).toEqual(Array(6).fill('-WRONGPASS'));
      expect(await answers(at, next)).toEqual(Array(6).fill('OK'));
      expect(await runIds(at, next)).toEqual(before);

      // Nobody needs the old one any more: not a sentinel that starts again, nor one that fails over.
      await at.kill('s2');
      await at.start('s2');
      for (const member of nodes) await asOwn(at, member, 'CLIENT', 'KILL', 'TYPE', 'replica');
      await knownToAll(at, 'n1');
      await at.kill('n1');
      await at.until('another is primary', async () => {
        const roles = await Promise.all(['n2', 'n3'].map((member) => asOwn(at, member, 'ROLE')));
        return roles.some((role) => role.startsWith('["master"'));
      });
      await clients.end();
      expect(clients.refusals).toEqual([]);
      // Some hundred a second; on a busy machine they get in less often.
      expect(clients.logins).toBeGreaterThan(200);
    },
  );
});
