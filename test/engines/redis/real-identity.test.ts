/**
 * The operator brings the identity to a cluster of real servers that run without one: with its own eyes, plans and
 * actions. Then another cluster with the same password gets an address of it.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import { actRedis } from '../../../src/engines/redis/act/act.ts';
import { hashOf } from '../../../src/engines/redis/client/identity.ts';
import { observeRedis } from '../../../src/engines/redis/observe/observe.ts';
import { answering } from '../../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { follow, info } from '../../faults/redis/conformance/conversation.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import { password, type Stage, watched } from '../../faults/redis/conformance/stage.ts';
import { realContext } from '../../support/real-context.ts';
import { type ServerProgram, serverPrograms } from '../../support/redis-program.ts';
import { nodeAddress, redisWorld, sentinelAddress } from '../../support/redis-situation.ts';

const nodes = ['n1', 'n2', 'n3'];
const sentinels = ['s1', 's2', 's3'];
const own = 'pAsSwOrDoFtHeClUsTeR';

/** Pods at the addresses of the stage, with the templates of a cluster that is older than its identity. */
function worldAt(stage: Stage, { engine, version }: ServerProgram) {
  const places = new Map([
    ...nodes.map((member, i) => [nodeAddress(i), stage.address(member)] as const),
    ...sentinels.map((member, i) => [sentinelAddress(i), stage.address(member)] as const),
  ]);
  const moved = (object: KubeObject): KubeObject => {
    const status = object.status as { podIP?: string } | undefined;
    return status?.podIP === undefined ? object : { ...object, status: { ...status, podIP: places.get(status.podIP) } };
  };
  const spec = { engine, version, replicas: 3 };
  const { cluster, children } = redisWorld({ spec, older: true, children: (objects) => objects.map(moved) });
  return { cluster, children };
}

/** Passes of the operator, until it has nothing more to tell anybody. */
async function operate(stage: Stage, program: ServerProgram, io: EngineContext): Promise<string[]> {
  const { cluster, children } = worldAt(stage, program);
  const told: string[] = [];
  for (let pass = 0; pass < 40; pass++) {
    const observed = await observeRedis(cluster, children, io);
    const all = [...answering(observed.data), ...answering(observed.sentinels)];
    const acts = planRedis(situationOf(cluster, children, observed)).steps.flatMap((step) =>
      step.type === 'act' ? [step] : [],
    );
    for (const { action, summary } of acts) {
      told.push(summary);
      await actRedis(action, cluster, io);
    }
    if (acts.length === 0 && all.length === 6 && all.every((node) => node.lacks === undefined)) return told;
    await delay(200);
  }
  throw new Error(`it never ends: ${told.join('; ')}`);
}

async function runningCluster(stage: Stage): Promise<void> {
  await Promise.all([...nodes, ...sentinels].map((member) => stage.start(member)));
  for (const replica of ['n2', 'n3']) await follow(stage, replica, 'n1');
  for (const sentinel of sentinels) {
    await stage.ask(sentinel, 'SENTINEL', 'MONITOR', watched, stage.address('n1'), '6379', '2');
    await stage.ask(sentinel, 'SENTINEL', 'SET', watched, 'auth-pass', password, 'down-after-milliseconds', '3000');
  }
  await knownToAll(stage);
}

const knownToAll = (stage: Stage): Promise<unknown> =>
  stage.until('every sentinel knows everybody', async () => {
    const rows = await Promise.all(sentinels.map((s) => stage.ask(s, 'SENTINEL', 'MASTER', watched)));
    return rows.every((row) => {
      const text = Array.isArray(row) ? row.join(' ') : '';
      return text.includes('flags master ') && text.includes('num-slaves 2') && text.includes('num-other-sentinels 2');
    });
  });

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])(
  'a cluster of $name that is older than its identity',
  (program) => {
    let stage: Stage | undefined;
    afterEach(async () => stage?.close());

    it('gets it while it runs, refuses strangers from then on, and obeys though its password is another', async () => {
      stage = await realStage(() => program.server);
      const at = stage;
      await runningCluster(at);
      const secrets = { 'db-auth': { password }, 'db-internal': { password: own } };
      await at.ask('n1', 'SET', 'ours', '1');
      const runs = async (): Promise<unknown> =>
        Promise.all(nodes.map(async (member) => (await info(at, member, 'server')).run_id));
      const before = await runs();
      const told = await operate(at, program, realContext(secrets));
      const logins = told.filter((line) => line.includes('cluster'));
      expect(logins.slice(0, 6)).toEqual([
        ...['db-0', 'db-1', 'db-2'].map((pod) => `tell ${pod} who the cluster is`),
        ...['db-0', 'db-1', 'db-2'].map((pod) => `have ${pod} copy as the cluster`),
      ]);
      expect(logins.slice(6, 9).sort()).toEqual([0, 1, 2].map((i) => `have db-sentinel-${i} watch as the cluster`));
      expect(logins.slice(9).sort()).toEqual(
        [0, 1, 2].map((i) => `have db-sentinel-${i} meet the other sentinels as the cluster`),
      );
      await knownToAll(at);
      expect([(await info(at, 'n1')).role, (await info(at, 'n1')).connected_slaves, await runs()]).toEqual([
        'master',
        '2',
        before,
      ]);

      // The Secret of the clients says something else: the operator is let in, and sees who does not know it.
      const edited = { ...secrets, 'db-auth': { password: 'another' } };
      const { cluster, children } = worldAt(at, program);
      const observed = await observeRedis(cluster, children, realContext(edited));
      expect(observed.data.map((node) => 'lacks' in node && node.lacks)).toEqual(Array(3).fill(['password']));
      expect(planRedis(situationOf(cluster, children, observed)).outcome).toMatchObject({
        state: 'wait',
        reason: 'RotatingPassword',
      });

      // Another cluster with the same password is where a replica was.
      await at.kill('n3');
      await at.start('n3', [`user clusterwright/apps/other on #${hashOf('theirs')} ~* &* +@all`]);
      await at.until('it has loaded, and is empty', async () => (await at.ask('n3', 'FLUSHALL')) === 'OK');
      await at.ask('n3', 'SET', 'theirs', '1');
      const since = at.now();
      // The operator's view of the pods may be late: it is at an address that was ours, and takes the password of the clients.
      const stranger = await observeRedis(cluster, children, realContext(secrets));
      expect(stranger.data[2]).toMatchObject({ state: 'silent', why: expect.stringMatching(/another cluster/) });
      const acts = planRedis(situationOf(cluster, children, stranger)).steps.filter((step) => step.type === 'act');
      expect(acts.filter(({ summary }) => summary.includes('db-2'))).toEqual([]);
      // One that was made by hand knows of no cluster, and has no address to announce.
      await at.ask('n3', 'ACL', 'DELUSER', 'clusterwright/apps/other');
      await at.ask('n3', 'CONFIG', 'SET', 'replica-announce-ip', '');
      const byHand = await observeRedis(cluster, children, realContext(secrets));
      expect(byHand.data[2]).toMatchObject({
        state: 'silent',
        why: expect.stringMatching(/no process of this cluster/),
      });
      const actsThen = planRedis(situationOf(cluster, children, byHand)).steps.filter((step) => step.type === 'act');
      expect(actsThen.filter(({ summary }) => summary.includes('db-2'))).toEqual([]);
      // It would have been told to follow after eight seconds.
      await at.until('enough time has passed', async () => at.now() - since > 12_000);
      expect([(await info(at, 'n3')).role, await at.ask('n3', 'MGET', 'ours', 'theirs')]).toEqual([
        'master',
        [null, '1'],
      ]);
      // The failover that the others can still do goes by the identity, too.
      await at.kill('n1');
      await at.until('n2 is primary', async () => (await info(at, 'n2')).role === 'master');
      expect((await info(at, 'n3')).role).toBe('master');
    });
  },
);
