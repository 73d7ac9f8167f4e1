/** What happens to members of an etcd happens under writers: no acknowledged write is lost, and the status is true. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { etcdVersions } from '../../src/engines/etcd/images.ts';
import type { EtcdSpecInput } from '../../src/engines/etcd/kind/schema.ts';
import type { Pod } from '../../src/resources/children.ts';
import { killProcess } from '../../src/sandbox/faults/process.ts';
import { askEtcd } from '../support/etcd-client.ts';
import { keepEtcdEvidence } from '../support/etcd-evidence.ts';
import { underEtcdWriters } from '../support/etcd-scenario.ts';
import type { EtcdTestCluster } from '../support/etcd-test-cluster.ts';
import { removeByName } from '../support/kubernetes.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { replacedPods } from '../support/replaced-pods.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const before = etcdVersions.before.slice(1);
const after = etcdVersions.current.slice(1);

let stage: Stage;
let operator: OperatorProcess;
let cluster: EtcdTestCluster;

beforeAll(async () => {
  stage = await openStage('etcd-failure');
  operator = await stage.startOperator();
  cluster = await stage.createEtcd('e', { version: before });
  await cluster.whole(3, { withinMs: 120_000 });
});
afterEach((context) => keepEtcdEvidence(context, stage, cluster));
afterAll(() => stage.close());

const readyOf = async (): Promise<string> => {
  const { conditions = [] } = await cluster.status();
  const ready = conditions.find(({ type }) => type === 'Ready');
  return `${ready?.status} ${ready?.reason}`;
};

function restartsOf({ status }: Pod): number {
  return status?.containerStatuses?.[0]?.restartCount ?? 0;
}

describe('no acknowledged write is lost when', () => {
  test('E6: it goes from 3.5 to 3.6, one member at a time, the leader last, with no place for a backup', async () => {
    const leader = (await cluster.leader()).metadata.name;
    const { gapMs } = await underEtcdWriters('3.5 to 3.6', cluster, async () => {
      const order = await replacedPods(cluster.pods, async () => {
        await cluster.change({ version: after });
        await cluster.whole(3, { withinMs: 180_000 });
      });
      expect([order.length, order.at(-1)]).toEqual([3, leader]);
    });
    const { members = [] } = await cluster.status();
    expect(members.map(({ version }) => version)).toEqual([after, after, after]);
    expect(gapMs).toBeLessThan(5_000);
  });

  test('the process of the leader is killed', async () => {
    const leader = await cluster.leader();
    const { gapMs } = await underEtcdWriters('leader process killed', cluster, async () => {
      await killProcess({ namespace: stage.namespace, name: leader.metadata.name });
      await until('its process runs again', async () => {
        expect(restartsOf(await cluster.pod(leader.metadata.name))).toBe(restartsOf(leader) + 1);
      });
      await cluster.whole(3, { withinMs: 120_000 });
    });
    expect(gapMs).toBeLessThan(8_000);
  });

  test('the pod of the leader is deleted while the operator is away', async () => {
    const leader = await cluster.leader();
    await underEtcdWriters('leader pod deleted without an operator', cluster, async () => {
      await operator.stop();
      await removeByName(stage.client, leader);
      await until('its pod is back', async () => {
        const back = (await cluster.pods()).find(({ metadata }) => metadata.name === leader.metadata.name);
        expect(back?.metadata.uid).not.toBe(leader.metadata.uid);
        await askEtcd(back?.status?.podIP ?? '', 'kv/range', { key: 'AA==' });
      });
      operator = await stage.startOperator();
      await cluster.whole(3, { withinMs: 120_000 });
    });
  });

  test('E1: a member loses its volume: it is removed, and a new one takes its place', async () => {
    const leader = await cluster.leader();
    const victim = (await cluster.pods()).find(({ metadata }) => metadata.name !== leader.metadata.name);
    if (victim === undefined) throw new Error('there is nobody but the leader');
    await underEtcdWriters('member volume lost', cluster, async () => {
      const claim = (await cluster.claims()).find(({ metadata }) => metadata.name === `data-${victim.metadata.name}`);
      if (claim === undefined) throw new Error('it has no claim');
      await removeByName(stage.client, claim);
      await removeByName(stage.client, victim, { gracePeriodSeconds: 0 });
      await until('the status says so', async () => expect(await readyOf()).toMatch(/^False/), { everyMs: 20 });
      await until('it has been replaced', async () => {
        const names = (await cluster.pods()).map(({ metadata }) => metadata.name);
        expect(names).not.toContain(victim.metadata.name);
        expect(names.length).toBe(3);
      });
      await cluster.whole(3, { withinMs: 120_000 });
    });
  });

  test('an image that nobody has is asked for: one member waits for it, and comes back when that is corrected', async () => {
    const before = (await cluster.pods()).map(({ metadata }) => metadata.uid);
    await underEtcdWriters('image that does not exist, then corrected', cluster, async () => {
      await cluster.change({ image: 'localhost/nobody-has-this:1' });
      const waiting = async (): Promise<number> => {
        const pods = await cluster.pods();
        return pods.filter((pod) => pod.status?.containerStatuses?.[0]?.state?.waiting !== undefined).length;
      };
      await until('one member waits for it', async () => {
        expect([await waiting(), await cluster.ready()]).toEqual([1, expect.stringMatching(/^False/)]);
      });
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      expect(await waiting()).toBe(1);
      await cluster.change({ image: null } as unknown as EtcdSpecInput);
      await cluster.whole(3, { withinMs: 120_000 });
    });
    const kept = (await cluster.pods()).filter(({ metadata }) => before.includes(metadata.uid));
    expect(kept.length).toBe(2);
  });
});
